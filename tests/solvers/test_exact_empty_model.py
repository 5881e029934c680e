"""The model without features against Clarabel on either side of the smallest lambda1."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hipad.solvers.exact import empty_optimum, lambda1_max
from tests.oracles import clarabel_enk, objective, random_problem
from tests.solvers.problems import (
    KNOWN,
    full_prices,
    prices_of,
    to_problem,
    trusted_optimum,
    unit_rows,
)


def drawn(seed):
    """Weighted and unbalanced problems, with and without rules."""
    raw = random_problem(
        seed, n=13 + seed, conditions=[(), (1,), (1, 2)][seed % 3], weighted=seed % 2 == 0,
        centered=seed % 4 == 1,
    )  # fmt: skip
    if seed % 5 == 0:
        raw = raw._replace(y=np.where(np.arange(13 + seed) < 4, 1.0, -1.0))
    return unit_rows(raw)


def value_of_nothing(raw, b, u):
    cuts = np.cumsum([len(r.d) for r in raw.rules])[:-1]
    us = np.split(u, cuts) if raw.rules else []
    return objective(*raw, np.zeros(raw.X.shape[1]), b, us)


@pytest.mark.parametrize("seed", range(12))
def test_below_it_a_feature_comes_in_and_above_it_none(seed):
    raw = drawn(seed)
    most = lambda1_max(to_problem(raw))
    above = clarabel_enk(*raw._replace(lambda1=1.001 * most))
    below = clarabel_enk(*raw._replace(lambda1=0.98 * most))
    assert np.max(np.abs(above.w)) < 1e-6
    assert np.max(np.abs(below.w)) > 1e-5


@settings(max_examples=15)
@given(
    st.integers(0, 10_000), st.sampled_from([(1,), (1, 1), (2, 1)]), st.booleans(), st.booleans()
)
@example(269, (1,), False, False)  # the intercept alone meets the rule: its price and u are zero
@example(3, (1,), False, False)
def test_with_weighted_rows_and_rules_it_is_the_edge(seed, conditions, centered, unbalanced):
    raw = random_problem(seed, n=15, m=9, conditions=conditions, weighted=True, centered=centered)
    if unbalanced:
        raw = raw._replace(y=np.where(np.arange(15) < 4, 1.0, -1.0))
    most = lambda1_max(to_problem(raw))
    above = trusted_optimum(raw._replace(lambda1=1.001 * most))
    below = trusted_optimum(raw._replace(lambda1=0.98 * most))
    assert np.max(np.abs(above.w)) < 1e-6
    assert np.max(np.abs(below.w)) > 1e-5


@pytest.mark.parametrize("seed", range(12))
def test_intercept_and_multipliers_are_the_best_without_features(seed):
    raw = drawn(seed)
    found = empty_optimum(to_problem(raw))
    best = clarabel_enk(*raw._replace(lambda1=1e3))
    assert np.max(np.abs(best.w)) < 1e-6
    assert value_of_nothing(raw, found.b, found.u) == pytest.approx(
        value_of_nothing(raw, best.b, np.concatenate([*best.us, []])), rel=1e-8
    )
    labels = np.r_[raw.y, [r.of_b for r in raw.rules]]
    assert labels @ found.alpha == pytest.approx(0, abs=1e-9)


def test_with_equal_classes_it_is_the_largest_correlation_with_the_label():
    raw = random_problem(7, conditions=())
    assert lambda1_max(to_problem(raw)) == pytest.approx(np.max(np.abs(raw.X.T @ (raw.y * raw.p))))


def test_data_that_tell_nothing_need_no_lambda1():
    raw = random_problem(8, conditions=())
    assert lambda1_max(to_problem(raw._replace(X=np.zeros_like(raw.X)))) == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_above_the_largest_lambda1_only_features_without_a_price_are_left(seed):
    raw = random_problem(seed, n=16, m=20, weighted=True, conditions=[(), (1,)][seed % 2])
    kinds = dict(enumerate(KNOWN)) if seed % 3 else {0: "raised", 1: "ignored", 2: "lowered"}
    prices = prices_of(kinds)
    largest = lambda1_max(to_problem(raw, prices=prices))
    paying = ~np.isin(np.arange(20), prices.costless)
    full = full_prices(prices, 20)
    above = clarabel_enk(*raw._replace(lambda1=1.001 * largest), prices=full)
    below = clarabel_enk(*raw._replace(lambda1=0.95 * largest), prices=full)
    assert np.max(np.abs(above.w[paying])) < 1e-6
    assert np.max(np.abs(below.w[paying])) > 1e-5
