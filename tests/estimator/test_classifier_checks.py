"""scikit-learn's own checks, all of them, with no expected failure."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from hipad import HIPADClassifier
from hipad.estimator import settings

ESTIMATORS = [
    HIPADClassifier(),
    HIPADClassifier(lambda1=0.05, method="exact", rule_settings={"scope": "typical"}),
]
EVERY = [
    HIPADClassifier(lambda1=0.05, standardize=False, solver={"phase2_solver": "osqp"}),
    *(
        HIPADClassifier(
            selection={"calibrate": calibrate}, class_weight=weights, method=method, lambda1=lambda1
        )
        for calibrate, weights, method, lambda1 in product(
            (True, False), ("balanced", None), ("hipad", "exact"), ("auto", 0.05)
        )
    ),
]
METHODS = ("hipad", "admm", "exact")
SETTINGS = list(product((True, False), ("balanced", None), METHODS, ("auto", 0.05, 0)))


@pytest.fixture(autouse=True)
def short_path(monkeypatch):
    """Automatic choices try three values on two folds: the same code in a tenth of the time."""
    short = replace(settings.SELECTION, n_lambda1=3, n_folds=2)
    monkeypatch.setattr(settings, "SELECTION", short)


@pytest.mark.parametrize(
    ("calibrate", "class_weight", "method", "lambda1"),
    [
        pytest.param(*one, marks=[] if n % 4 == 0 else pytest.mark.long)
        for n, one in enumerate(SETTINGS)
    ],
)
@pytest.mark.parametrize(
    "check",
    [check_sample_weight_equivalence_on_dense_data, check_sample_weight_equivalence_on_sparse_data],
)
def test_a_weight_of_two_is_two_rows(check, calibrate, class_weight, method, lambda1):
    clf = HIPADClassifier(
        selection={"calibrate": calibrate},
        class_weight=class_weight,
        method=method,
        lambda1=lambda1,
    )
    check("HIPADClassifier", clf)


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(EVERY)
def test_scikit_learn_with_every_setting(estimator, check):
    check(estimator)
