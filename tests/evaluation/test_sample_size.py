"""Sample sizes are those of published examples, and of a simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from hipad.evaluation.sample_size import (
    largest_r_squared,
    r_squared_of_auc,
    required_sample_size,
)
from hipad.exceptions import DataError


def test_required_sample_size_of_the_published_example():
    # Riley et al., Statistics in Medicine 2019: 24 parameters, R2 0.288, prevalence 17.4 %
    found = required_sample_size(24, 0.174, r_squared=0.288)
    assert (found.shrinkage, found.optimism, found.overall_risk) == (623, 662, 221)
    assert (found.n, found.events) == (662, 116)
    assert found.events_per_parameter == pytest.approx(4.8, abs=0.01)


@pytest.mark.parametrize(
    ("parameters", "prevalence", "r_squared", "criteria", "per_parameter"),
    [  # the examples by which pmsampsize for R is tested: each criterion and the events of the last
        (24, 0.174, 0.288, (623, 662, 221), 4.80),
        (24, 0.174, 0.550, (255, 532, 221), 3.86),
        (36, 0.174, 0.288, (934, 992, 221), 4.79),
        (24, 0.250, 0.288, (623, 590, 289), 6.49),
    ],
)
def test_required_sample_size_of_the_examples_of_pmsampsize(
    parameters, prevalence, r_squared, criteria, per_parameter
):
    found = required_sample_size(parameters, prevalence, r_squared=r_squared)
    assert (found.shrinkage, found.optimism, found.overall_risk) == criteria
    assert found.n == max(criteria)
    assert round(found.events_per_parameter, 2) == per_parameter


def test_required_sample_size_of_a_published_c_statistic():
    # the manual of pmsampsize: C 0.89 in place of the R2 of 0.288, which it stands for
    assert r_squared_of_auc(0.89, 0.174) == pytest.approx(0.288, abs=0.01)


def test_required_sample_size_of_the_bmj_example():
    # BMJ 2020;368:m441: pre-eclampsia, 30 parameters, 5 % events, R2 15 % of its maximum
    r_squared = 0.15 * largest_r_squared(0.05)
    assert r_squared == pytest.approx(0.0495, abs=5e-4)
    found = required_sample_size(30, 0.05, r_squared=0.051)
    assert found.n == 5143
    assert found.events_per_parameter == pytest.approx(8.57, abs=0.01)


@pytest.mark.parametrize(("auc", "prevalence"), [(0.7, 0.1), (0.8, 0.5), (0.89, 0.174)])
def test_r_squared_of_auc_is_that_of_a_simulation(auc, prevalence):
    rng = np.random.default_rng(0)
    from scipy.stats import norm

    y = rng.random(400_000) < prevalence
    x = rng.normal(size=y.size) + np.sqrt(2) * norm.ppf(auc) * y
    model = LogisticRegression(C=1e6).fit(x[:, None], y)
    null = log_loss(y, np.full(y.size, y.mean()))
    gain = 2 * (null - log_loss(y, model.predict_proba(x[:, None])))
    assert r_squared_of_auc(auc, prevalence) == pytest.approx(1 - np.exp(-gain), rel=0.02)
    assert expit(model.intercept_[0]) < 1


@given(
    parameters=st.integers(1, 200), prevalence=st.floats(0.02, 0.98), auc=st.floats(0.55, 0.95)
)  # fmt: skip
def test_more_parameters_and_a_weaker_model_need_more_samples(parameters, prevalence, auc):
    found = required_sample_size(parameters, prevalence, auc=auc)
    more = required_sample_size(parameters + 1, prevalence, auc=auc)
    weaker = required_sample_size(parameters, prevalence, auc=auc - 0.04)
    assert more.n >= found.n
    assert weaker.shrinkage >= found.shrinkage
    assert found.r_squared < largest_r_squared(prevalence)


@pytest.mark.parametrize(
    "wrong",
    [
        {"parameters": 0, "prevalence": 0.2, "auc": 0.8},
        {"parameters": 3, "prevalence": 1.0, "auc": 0.8},
        {"parameters": 3, "prevalence": 0.2},
        {"parameters": 3, "prevalence": 0.2, "auc": 0.8, "r_squared": 0.1},
        {"parameters": 3, "prevalence": 0.2, "auc": 0.5},
        {"parameters": 3, "prevalence": 0.02, "r_squared": 0.9},
        {"parameters": 3, "prevalence": 0.2, "auc": 0.8, "shrinkage": 1.0},
    ],
)
def test_impossible_numbers_are_refused(wrong):
    with pytest.raises(DataError, match="expected"):
        required_sample_size(**wrong)
