from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.metrics import METRICS, ScoredRows
from ui.results.curves import Curves
from ui.results.cutoff_control import words_of
from ui.results.verdict import difference_sentence, sentence
from ui.state import AppState


def assessment(n=80, without=True):
    rng = np.random.default_rng(0)
    positive = np.arange(n) % 2 == 0
    good = rng.normal(size=n) + 1.5 * np.where(positive, 1, -1)
    poor = rng.normal(size=n) + 0.1 * np.where(positive, 1, -1)
    rows = [ScoredRows(positive, s, 1 / (1 + np.exp(-s))) for s in (good, poor)]
    return Assessment("test", rows[0], rows[1] if without else None, np.arange(n))


@pytest.mark.parametrize("cutoff", [None, 0.2, 0.7])
def test_figures_at_a_cutoff_are_those_of_the_library(cutoff):
    found = assessment()
    told = Curves(found).figures_at(cutoff)
    for title, rows in (("with rules", found.rows), ("without rules", found.without)):
        measured = rows.at(cutoff).measure_all()
        assert {name: repr(one) for name, one in told[title].items()} == {
            name: repr(measured[name]) for name in METRICS
        }


def test_the_area_that_the_roc_chart_names_is_scikit_learns():
    found = assessment()
    _, text = Curves(found).roc_chart(0.4)
    area = roc_auc_score(found.rows.positive, found.rows.scores)
    assert f"{100 * area:.1f} % of pairs" in text


def test_the_mark_of_the_cutoff_stands_where_its_figures_are():
    found = assessment()
    chart, _ = Curves(found).roc_chart(0.3)
    mark = next(trace for trace in chart.data if trace.name == "this cut-off")
    said = found.rows.risks >= 0.3
    positive = found.rows.positive
    assert mark.y[0] == pytest.approx(said[positive].mean())
    assert mark.x[0] == pytest.approx(said[~positive].mean())


def test_no_legend_names_the_band_and_one_model_is_not_compared():
    curves = Curves(assessment(without=False))
    for chart, _ in (
        curves.roc_chart(None),
        curves.calibration_chart(),
        curves.decision_chart(0.2),
    ):
        names = [trace.name for trace in chart.data if trace.showlegend is not False]
        assert "95 % band" not in names
        assert "with rules" not in names
        assert len(names) <= 4, "more would need a second line, over the title"


def test_rules_that_help_gain_points():
    found = assessment()
    told = difference_sentence(AppState(), found, ("well", "ill"))
    by = (
        found.rows.measure("balanced_accuracy").value
        - found.without.measure("balanced_accuracy").value
    )
    assert by > 0
    assert f"The rules gain **{100 * by:.1f} points" in told
    swapped = Assessment("test", found.without, found.rows, found.names)
    assert "The rules cost" in difference_sentence(AppState(), swapped, ("well", "ill"))


def test_the_sentence_counts_the_rows_by_their_noun():
    found = assessment()
    right = int((found.rows.said == found.rows.positive).sum())
    assert f"**{right} in the right class" in sentence(found, found.rows.measure("accuracy"))
    assert "80 patients" in sentence(found, found.rows.measure("accuracy"))
    assert words_of("sensitivity", "patient") == "share of positive patients that are found"
