"""Problems side by side against the solver that certifies them one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.designs import make_design
from hipad.solvers import Problem, RuleBlock, lambda1_max
from hipad.solvers.batched import BatchedInteriorPoint
from hipad.solvers.exact import WorkingSet
from hipad.solvers.interior_point import InteriorPoint
from tests.solvers.problems import prices_of, random_prices


def problem(seed, n, m, rules=(), sparse=False):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, m)) + np.outer(y, rng.standard_normal(m) * (np.arange(m) < 3))
    if sparse:
        X = sp.csc_array(X * (rng.random((n, m)) < 0.1))
    return Problem(make_design(X), y, np.full(n, 1 / n), 0.0, 1.0, rules)


def rule(m, sigma=0.3, centered=True):
    B = sp.csr_array(([-1.0, -0.5], ([0, 0], [0, 1])), shape=(1, m))
    return RuleBlock(B, np.array([-1.0]), 1.0, sigma, 1.0, centered)


def objective(whole, lambda1, lambda2, w, b, u):
    at = whole.with_parameters(lambda1=lambda1, lambda2=lambda2)
    kept = np.flatnonzero(w)
    return at.objective(kept, w[kept], whole.design.dot(w), b, np.maximum(u, 0.0))


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("with_rule", [False, True])
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(10, 40),
    m=st.sampled_from([3, 20, 150]),
    share=st.floats(0.02, 0.7),
    lambda2=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_the_optimum_is_that_of_the_working_sets(with_rule, known, seed, n, m, share, lambda2):
    whole = problem(seed, n, m, (rule(m),) if with_rule else ())
    if known:
        whole = whole.with_parameters(penalty_factors=random_prices(seed, m))
    lambda1 = share * lambda1_max(whole)
    batch = BatchedInteriorPoint(whole, np.tile(whole.p[:, None], 2), np.array([lambda2, 3.0]))
    w = batch.solve(batch.restrict(np.arange(m), lambda1), 1e-6)
    exact = WorkingSet(whole.with_parameters(lambda1=lambda1, lambda2=lambda2))
    for _ in exact.steps():
        pass
    least = np.zeros(m)
    least[exact.features] = exact.weights
    best = objective(whole, lambda1, lambda2, least, exact.b, exact.u)
    here = objective(whole, lambda1, lambda2, w[:, 0], batch.b[0], batch.u[:, 0])
    assert here <= best + 1e-3 * max(best, 0.1)


def test_rows_that_a_problem_may_not_see_do_not_matter():
    whole, rows = problem(0, 30, 10), np.arange(20)
    prices = np.where(np.arange(30) < 20, 1 / 20, 0.0)[:, None]
    batch = BatchedInteriorPoint(whole, prices, np.ones(1))
    w = batch.solve(batch.restrict(np.arange(10), 0.05), 1e-8)
    part = Problem(whole.design.rows(rows), whole.y[rows], np.full(20, 1 / 20), 0.05, 1.0)
    exact = WorkingSet(part)
    for _ in exact.steps():
        pass
    least = np.zeros(10)
    least[exact.features] = exact.weights
    np.testing.assert_allclose(w[:, 0], least, atol=1e-3)


@pytest.mark.parametrize("sparse", [False, True])
def test_fixed_features_give_the_svm_of_phase_2(sparse):
    whole = problem(1, 40, 200, sparse=sparse)
    kept = np.r_[0:30]
    batch = BatchedInteriorPoint(whole, whole.p[:, None], np.ones(1))
    restricted = batch.restrict(np.arange(200), 0.1)
    fixed = np.isin(restricted.names, kept)[:, None]
    smooth = replace(restricted, limits=batch.limits(restricted.names, 0.0), fixed=fixed)
    w = batch.solve(smooth, 1e-8)
    point = InteriorPoint(whole, kept).run()
    np.testing.assert_allclose(w[kept, 0], point.w, atol=1e-3)
    assert not w[30:].any()


def test_known_signs_hold_in_phase_2_too():
    whole = problem(1, 40, 6)
    free = InteriorPoint(whole, np.arange(6)).run().w
    kinds = {int(j): "raised" if free[j] < 0 else "lowered" for j in (0, 1)}
    whole = whole.with_parameters(penalty_factors=prices_of(kinds))
    batch = BatchedInteriorPoint(whole, whole.p[:, None], np.ones(1))
    restricted = replace(batch.restrict(np.arange(6), 0.0), fixed=np.ones((6, 1), dtype=bool))
    w = batch.solve(restricted, 1e-8)[:, 0]
    assert not w[:2].any()
    np.testing.assert_allclose(w, InteriorPoint(whole, np.arange(6)).run().w, atol=1e-3)


def test_a_pull_on_all_features_counts_data_and_rules():
    whole = problem(2, 20, 6, (rule(6),))
    batch = BatchedInteriorPoint(whole, whole.p[:, None], np.ones(1))
    batch.solve(batch.restrict(np.arange(6), 0.1), 1e-6)
    stack = whole.stack
    expected = whole.design.correlate(whole.y * batch.alpha[:20, 0])
    expected[stack.features] -= stack.coupling.T @ batch.u[:, 0]
    np.testing.assert_allclose(batch.gradient_on_all()[:, 0], expected)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-4])
@pytest.mark.parametrize("with_rule", [False, True])
def test_a_row_that_counts_twice_goes_the_way_of_two_equal_rows(with_rule, tolerance):
    whole = problem(3, 24, 60, (rule(60),) if with_rule else ())
    twice = np.r_[np.arange(24), 5, 5, 8]
    counts = np.bincount(twice)
    as_weights = replace(whole, p=counts / counts.sum())
    as_rows = replace(
        whole, design=whole.design.rows(twice), y=whole.y[twice], p=np.full(27, 1 / 27)
    )
    found = []
    for one in (as_weights, as_rows):
        batch = BatchedInteriorPoint(one, one.p[:, None], np.ones(1))
        found.append(batch.solve(batch.restrict(np.arange(60), 0.1), tolerance))
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def test_a_problem_without_a_tolerance_stays_where_it_is():
    whole = problem(4, 30, 20)
    batch = BatchedInteriorPoint(whole, np.tile(whole.p[:, None], 2), np.ones(2))
    before = batch.solve(batch.restrict(np.arange(20), 0.2), 1e-8)
    after = batch.solve(batch.restrict(np.arange(20), 0.1), np.array([np.inf, 1e-8]))
    alpha = batch.alpha[:30, 0]
    gradient = whole.design.correlate(whole.y * alpha)
    np.testing.assert_allclose(
        np.sign(before[:, 0]), np.where(abs(gradient) > 0.2, np.sign(gradient), 0)
    )
    assert not np.allclose(after[:, 1], before[:, 1])


@pytest.mark.parametrize("with_rule", [False, True])
def test_problems_that_are_left_do_not_matter_to_the_others(with_rule):
    whole = problem(4, 30, 20, (rule(20),) if with_rule else ())
    part = np.where(np.arange(30) < 20, 1 / 20, 0.0)
    prices = np.column_stack([whole.p, part, whole.p])
    batch = BatchedInteriorPoint(
        whole, prices, np.array([1.0, 1.0, 10.0]), np.tile([1.0, 2.0, 1.0], (20, 1))
    )
    batch.solve(batch.restrict(np.arange(20), 0.2), 1e-8)
    batch.only(np.array([1, 2]))
    both = batch.solve(batch.restrict(np.arange(20), 0.1), 1e-10)
    for k, (lambda2, unit) in enumerate([(1.0, 2.0), (10.0, 1.0)], start=1):
        alone = BatchedInteriorPoint(
            whole, prices[:, [k]], np.array([lambda2]), np.full((20, 1), unit)
        )
        w = alone.solve(alone.restrict(np.arange(20), 0.1), 1e-10)[:, 0]
        np.testing.assert_allclose(both[:, k - 1], w, atol=1e-6)


def test_going_on_with_fewer_features_ends_at_the_same_optimum():
    whole = problem(5, 40, 200)
    lambda1 = 0.3 * lambda1_max(whole)
    ways = []
    for rough in (False, True):
        batch = BatchedInteriorPoint(whole, whole.p[:, None], np.ones(1))
        names = np.arange(200)
        if rough:
            batch.solve(batch.restrict(names, lambda1), 0.03)
            names = np.flatnonzero(np.abs(batch.gradient_on_all()[:, 0]) > 0.8 * lambda1)
        w = np.zeros(200)
        w[names] = batch.solve(batch.restrict(names, lambda1), 1e-9, going_on=rough)[:, 0]
        ways.append(w)
    np.testing.assert_allclose(ways[0], ways[1], atol=1e-6)
