from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from hipad.evaluation.comparison import compare_rows
from hipad.evaluation.metrics import ScoredRows, by_patient, by_subgroup, cut_column
from hipad.exceptions import DataError

RNG = np.random.default_rng(0)
TRUTH = np.arange(100) % 2 == 0
FIRST = ScoredRows(TRUTH, RNG.normal(size=100) + 0.3 * np.where(TRUTH, 1, -1))
SECOND = ScoredRows(TRUTH, RNG.normal(size=100) + 1.5 * np.where(TRUTH, 1, -1))


def test_difference_has_the_exact_test_of_mcnemar_and_its_interval():
    accuracy, area = compare_rows(FIRST, SECOND, ["accuracy", "roc_auc"], draws=300)
    right = FIRST.predicted == TRUTH, SECOND.predicted == TRUTH
    better, worse = np.sum(~right[0] & right[1]), np.sum(right[0] & ~right[1])
    assert accuracy.p_value == pytest.approx(binomtest(better, better + worse).pvalue)
    assert accuracy.difference.value == pytest.approx((better - worse) / 100)
    assert 0 < area.difference.low < area.difference.value < area.difference.high
    assert area.p_value is None


def test_a_model_does_not_differ_from_itself():
    for found in compare_rows(FIRST, FIRST, draws=50):
        assert (found.difference.low, found.difference.high) == (0.0, 0.0)


def test_rows_of_one_patient_are_drawn_together():
    rows, groups = np.repeat(np.arange(100), 5), np.repeat(np.arange(100), 5)
    many = [ScoredRows(one.positive[rows], one.scores[rows]) for one in (FIRST, SECOND)]
    tied = [ScoredRows(o.positive[rows], o.scores[rows], groups=groups) for o in (FIRST, SECOND)]
    (alone,), (together,) = (compare_rows(*pair, ["accuracy"], draws=300) for pair in (many, tied))
    (one,) = compare_rows(FIRST, SECOND, ["accuracy"], draws=300)
    width = [each.difference.high - each.difference.low for each in (alone, together, one)]
    assert width[0] < 0.6 * width[1]
    assert width[1] == pytest.approx(width[2], rel=0.25)
    assert together.p_value == one.p_value


def test_models_of_other_rows_are_refused():
    with pytest.raises(DataError, match="same rows"):
        compare_rows(FIRST, ScoredRows(~TRUTH, FIRST.scores))


def test_subgroups_are_parts_of_the_rows():
    labels = np.where(np.arange(100) < 30, "young", "old")
    old, young = by_subgroup(SECOND, labels, ["accuracy", "brier"])
    assert (old.label, old.n, young.n) == ("old", 70, 30)
    mean = (70 * old.figures["accuracy"].value + 30 * young.figures["accuracy"].value) / 100
    assert mean == pytest.approx(SECOND.measure("accuracy").value)
    assert "brier" not in old.figures


def test_patients_have_figures_of_their_own():
    rows = ScoredRows(TRUTH, SECOND.scores, groups=np.repeat(np.arange(25), 4))
    found = by_patient(rows)
    assert len(found) == 25
    assert {one.n for one in found} == {4}
    with pytest.raises(DataError, match="rows with groups"):
        by_patient(SECOND)


def test_a_column_of_numbers_is_cut_in_even_parts():
    parts = cut_column(RNG.normal(size=300), 3)
    counts = np.unique(parts, return_counts=True)[1]
    assert len(counts) == 3
    assert counts.min() >= 99
    assert set(cut_column(["m", "f"])) == {"m", "f"}
