"""Rules and data in different units: a scaler before the classifier is noticed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from hipad import HIPADClassifier

RULE = "x0 >= 126 => positive"


def glucose(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.c_[100 + 30 * y + 10 * rng.standard_normal(n), rng.standard_normal((n, 4))], y


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
def test_a_scaler_before_the_rules_is_told(scaler):
    clf = make_pipeline(scaler, HIPADClassifier(RULE, lambda1=0.05))
    with pytest.warns(UserWarning, match=f"a {type(scaler).__name__} came before the classifier"):
        clf.fit(*glucose())


def test_data_in_the_units_of_the_rules_are_not_questioned():
    X, y = glucose()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HIPADClassifier(RULE, lambda1=0.05).fit(X, y)
        HIPADClassifier(RULE, lambda1=0.05).fit(sp.csr_array(X), y)
        HIPADClassifier("x0 >= 500 => positive", lambda1=0.05).fit(X, y)


def test_rules_that_fit_scaled_data_are_not_questioned():
    X, y = glucose()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = StandardScaler().fit_transform(X)
        HIPADClassifier("x0 >= 1 => positive", lambda1=0.05).fit(scaled, y)
