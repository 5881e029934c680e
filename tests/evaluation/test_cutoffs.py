from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.evaluation.curves import (
    cutoff_by_cost,
    cutoff_by_net_benefit,
    cutoff_by_sensitivity,
    decision_curve,
    risk_answers,
    training_rows,
)
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError

RNG = np.random.default_rng(5)
POSITIVE = RNG.random(150) < 0.4
RISKS = np.round(np.clip(RNG.normal(0.35 + 0.25 * POSITIVE, 0.2), 0.01, 0.99), 2)
ROWS = ScoredRows(POSITIVE, RISKS - 0.5, RISKS)
CUTS = np.r_[np.unique(RISKS), 0.999]


@pytest.mark.parametrize("least", [0.5, 0.9, 1.0])
def test_cutoff_by_sensitivity_is_the_largest_that_finds_enough(least):
    found = cutoff_by_sensitivity(ROWS, least)
    enough = [cut for cut in CUTS if np.mean(RISKS[POSITIVE] >= cut) >= least]
    assert found.sensitivity.value >= least
    assert np.array_equal(risk_answers(RISKS, found.threshold), max(enough) <= RISKS)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 5.0])
def test_cutoff_by_cost_has_the_least_cost_of_all(ratio):
    def cost(cut):
        said = cut <= RISKS
        return ratio * np.sum(POSITIVE & ~said) + np.sum(~POSITIVE & said)

    found = cutoff_by_cost(ROWS, ratio)
    assert cost(found.threshold) == min(cost(cut) for cut in np.r_[0.0, CUTS])


def test_cutoff_by_net_benefit_has_the_largest_net_benefit():
    found = cutoff_by_net_benefit(ROWS, 0.3)
    moved = ScoredRows(POSITIVE, RISKS, np.where(found.threshold <= RISKS, 0.9, 0.1))
    every = [np.where(cut <= RISKS, 0.9, 0.1) for cut in np.r_[0.0, CUTS]]
    best = max(decision_curve(ScoredRows(POSITIVE, RISKS, r), [0.3]).model[0] for r in every)
    assert decision_curve(moved, [0.3]).model[0] == pytest.approx(best)


def test_training_rows_are_out_of_fold_and_seen_from_either_class():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 40)) + 0.8 * y[:, None] * (np.arange(40) < 2)
    clf = HIPADClassifier().fit(X, y)
    rows = training_rows(clf)
    seen = ScoredRows(y == 1, clf.decision_function(X), clf.predict_proba(X)[:, 1])
    assert rows.measure("accuracy").value < seen.measure("accuracy").value
    other = training_rows(clf, sign=-1.0)
    assert np.array_equal(other.positive, ~rows.positive)
    assert other.risks == pytest.approx(1 - rows.risks)
    assert other.measure("roc_auc").value == pytest.approx(rows.measure("roc_auc").value)


def test_bad_wishes_are_named():
    with pytest.raises(DataError, match="expected a sensitivity"):
        cutoff_by_sensitivity(ROWS, 1.2)
    with pytest.raises(DataError, match="expected a cost ratio"):
        cutoff_by_cost(ROWS, 0)
    with pytest.raises(DataError, match="training rows"):
        training_rows(HIPADClassifier())
