"""Small data and fits that the tests of the classifier share."""

from __future__ import annotations

import numpy as np

from hipad import HIPADClassifier

METHODS = ["hipad", "exact", "admm"]
RULE = "x0 >= 2 => positive"


def data(n=30, m=6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, m)) + np.outer(2 * y - 1, np.r_[1.0, np.full(m - 1, 0.3)]), y


def fit(*given, rules=RULE, **parameters):
    X, y = given or data()
    return HIPADClassifier(rules, **{"lambda1": 0.05, **parameters}).fit(X, y)


def same_model(one, other, **close):
    np.testing.assert_allclose(one.coef_, other.coef_, **{"rtol": 1e-6, "atol": 1e-8, **close})
    np.testing.assert_allclose(
        one.intercept_, other.intercept_, **{"rtol": 1e-6, "atol": 1e-8, **close}
    )
