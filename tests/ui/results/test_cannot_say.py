from __future__ import annotations

import numpy as np
import pytest

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.metrics import ScoredRows
from hipad.evaluation.new_rows import cross_conformal, sets_of
from ui.results.cannot_say import answers_chart, sentence


def assessment(n=60, shift=1.5, groups=None):
    rng = np.random.default_rng(0)
    positive = np.arange(n) % 3 == 0
    scores = rng.normal(size=n) + shift * np.where(positive, 1, -1)
    worse = rng.normal(size=n) + 0.3 * np.where(positive, 1, -1)
    risks = np.full(n, 0.5)
    own = [ScoredRows(positive, one, risks, groups) for one in (scores, worse)]
    p = [cross_conformal(one.scores, positive, groups) for one in own]
    return Assessment("cross-validated", *own, np.arange(n), "patient", *p, 19 / 20)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_the_sentence_counts_rows_whose_set_has_not_one_class(coverage):
    found = assessment()
    told = sentence(found, coverage)
    for p in (found.p_values, found.p_values_without):
        unsure = np.mean(sets_of(p, coverage).sum(axis=1) != 1)
        assert f"{100 * unsure:.1f} %" in told


def test_a_model_that_tells_less_cannot_say_more_often():
    found = assessment()
    shares = [(sets_of(p, 0.9).sum(axis=1) != 1).mean()
              for p in (found.p_values, found.p_values_without)]  # fmt: skip
    assert shares[0] < shares[1]


def test_a_coverage_beyond_what_the_rows_allow_is_named():
    found = assessment()
    assert "too few labelled patients" in sentence(found, 0.97)
    assert "too few" not in sentence(found, 0.9)


def test_bars_add_up_to_all_rows():
    chart, text = answers_chart(assessment(), 0.8, ("well", "<b>ill</b>"))
    assert np.allclose(sum(np.asarray(bar.x) for bar in chart.data), 1.0)
    assert all("<b>" not in bar.name for bar in chart.data)
    assert "got no wrong answer" in text
