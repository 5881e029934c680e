from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression

from hipad.evaluation.metrics import METRICS, ScoredRows
from hipad.exceptions import DataError

RNG = np.random.default_rng(3)
POSITIVE = RNG.random(120) < 0.4
SCORES = np.round(RNG.normal(size=120) + POSITIVE, 1)  # with ties
RISKS = 1 / (1 + np.exp(-1.3 * SCORES - 0.2))
ROWS = ScoredRows(POSITIVE, SCORES, RISKS)
SAID = SCORES > 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("accuracy", sk.accuracy_score(POSITIVE, SAID)),
        ("balanced_accuracy", sk.balanced_accuracy_score(POSITIVE, SAID)),
        ("roc_auc", sk.roc_auc_score(POSITIVE, SCORES)),
        ("average_precision", sk.average_precision_score(POSITIVE, SCORES)),
        ("sensitivity", sk.recall_score(POSITIVE, SAID)),
        ("specificity", sk.recall_score(~POSITIVE, ~SAID)),
        ("ppv", sk.precision_score(POSITIVE, SAID)),
        ("npv", sk.precision_score(~POSITIVE, ~SAID)),
        ("positive_likelihood_ratio", sk.class_likelihood_ratios(POSITIVE, SAID)[0]),
        ("negative_likelihood_ratio", sk.class_likelihood_ratios(POSITIVE, SAID)[1]),
        ("brier", sk.brier_score_loss(POSITIVE, RISKS)),
        ("log_loss", sk.log_loss(POSITIVE, RISKS)),
    ],
)
def test_measure_equals_scikit_learn(name, expected):
    found = ROWS.measure(name)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.low <= found.value <= found.high


def test_calibration_slope_is_that_of_a_logistic_regression():
    odds = np.log(RISKS / (1 - RISKS))
    fit = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(odds[:, None], POSITIVE)
    found = ROWS.measure("calibration_slope")
    assert found.value == pytest.approx(fit.coef_[0, 0], abs=1e-5)
    assert found.low < found.value < found.high


def test_calibration_intercept_makes_the_mean_risk_the_share_of_positives():
    by = ROWS.measure("calibration_intercept").value
    odds = np.log(RISKS / (1 - RISKS)) + by
    assert np.mean(1 / (1 + np.exp(-odds))) == pytest.approx(POSITIVE.mean(), abs=1e-9)
    ratio = ROWS.measure("observed_expected").value
    assert ratio == pytest.approx(POSITIVE.sum() / RISKS.sum())


def test_predictive_values_at_a_prevalence_follow_from_bayes():
    told = {name: ROWS.measure(name).value for name in ("sensitivity", "specificity")}
    share = 0.1 * told["sensitivity"]
    expected = share / (share + 0.9 * (1 - told["specificity"]))
    found = ROWS.measure("ppv", prevalence=0.1)
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    own = ROWS.measure("npv", prevalence=float(POSITIVE.mean()))
    assert own.value == pytest.approx(ROWS.measure("npv").value)


def test_a_score_of_zero_is_a_negative_answer_everywhere():
    rows = ScoredRows([True, False, False, True], [0.0, 0.0, -1.0, 1.0])
    assert rows.predicted.tolist() == [False, False, False, True]
    assert rows.measure("accuracy").value == 0.75


def test_answers_from_a_risk_on():
    rows = ROWS.at(0.34)
    assert np.array_equal(rows.predicted, RISKS >= 0.34)
    expected = sk.recall_score(POSITIVE, RISKS >= 0.34)
    assert rows.measure("sensitivity").value == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
def test_rows_of_one_patient_widen_every_interval(name):
    many = ROWS.take(np.repeat(np.arange(120), 4))
    groups = np.repeat(np.arange(120), 4)
    apart = ScoredRows(many.positive, many.scores, many.risks)
    together = ScoredRows(many.positive, many.scores, many.risks, groups)
    one, four, grouped = (rows.measure(name) for rows in (ROWS, apart, together))
    width = {k: r.high - r.low for k, r in (("one", one), ("four", four), ("grouped", grouped))}
    assert grouped.value == pytest.approx(one.value)
    assert width["four"] < 0.7 * width["one"] < width["grouped"] < 1.3 * width["one"]


@pytest.mark.parametrize("name", METRICS)
def test_scores_of_folds_have_wider_intervals(name):
    folds = ScoredRows(POSITIVE, SCORES, RISKS, folds=5)
    found, alone = folds.measure(name), ROWS.measure(name)
    assert found.high - found.low > alone.high - alone.low


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=12))
def test_every_metric_is_told_of_any_rows(cells):
    positive, risks = np.array([a for a, _ in cells]), np.array([b for _, b in cells])
    for found in ScoredRows(positive, risks - 0.5, risks).measure_all(prevalence=0.2).values():
        assert np.isnan(found.value) or found.low <= found.value + 1e-9
        assert np.isnan(found.value) or found.value <= found.high + 1e-9


def test_bad_rows_are_named():
    with pytest.raises(DataError, match="expected finite scores"):
        ScoredRows([True], [np.nan])
    with pytest.raises(DataError, match="one value a row in risks"):
        ScoredRows([True], [1.0], [0.1, 0.2])
    with pytest.raises(DataError, match="expected risks from 0 to 1"):
        ScoredRows([True], [1.0], [1.2])
    with pytest.raises(DataError, match="got 'f1'"):
        ROWS.measure("f1")
    with pytest.raises(DataError, match="expected risks for the metric 'brier'"):
        ScoredRows(POSITIVE, SCORES).measure("brier")
