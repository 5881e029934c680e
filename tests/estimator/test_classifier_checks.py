"""scikit-learn's own checks, all of them, with no expected failure."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hipad import HIPADClassifier
from hipad.estimator import path

ESTIMATORS = [
    HIPADClassifier(),
    HIPADClassifier(lambda1=0.05),
    HIPADClassifier(lambda1=0.05, standardize=False, engine="osqp"),
    HIPADClassifier(lambda1=0.05, method="exact", scope="typical"),
]


@pytest.fixture(autouse=True)
def short_path(monkeypatch):
    """lambda1="auto" tries three values on two folds: the same code in a tenth of the time."""
    monkeypatch.setattr(path, "N_STEPS", 3)
    monkeypatch.setattr(path, "N_FOLDS", 2)


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
