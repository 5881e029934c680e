"""Problems side by side against the solver that certifies them one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.designs import make_design
from hipad.solver import Problem, RuleBlock, lambda1_max
from hipad.solver.exact import WorkingSet
from hipad.solver.interior.ipm import InteriorPoint
from hipad.solver.lockstep.lockstep import Lockstep


def problem(seed, n, m, rules=(), sparse=False):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, m)) + np.outer(y, rng.standard_normal(m) * (np.arange(m) < 3))
    if sparse:
        X = sp.csc_array(X * (rng.random((n, m)) < 0.1))
    return Problem(make_design(X), y, np.full(n, 1 / n), 0.0, 1.0, rules)


def rule(m, sigma=0.3, anchored=True):
    B = sp.csr_array(([-1.0, -0.5], ([0, 0], [0, 1])), shape=(1, m))
    return RuleBlock(B, np.array([-1.0]), 1.0, sigma, 1.0, anchored)


def objective(whole, lambda1, lambda2, w, b, u):
    at = whole.with_parameters(lambda1=lambda1, lambda2=lambda2)
    kept = np.flatnonzero(w)
    return at.objective(kept, w[kept], whole.design.dot(w), b, np.maximum(u, 0.0))


@pytest.mark.parametrize("with_rule", [False, True])
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(10, 40),
    m=st.sampled_from([3, 20, 150]),
    share=st.floats(0.02, 0.7),
    lambda2=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_the_optimum_is_that_of_the_working_sets(with_rule, seed, n, m, share, lambda2):
    whole = problem(seed, n, m, (rule(m),) if with_rule else ())
    lambda1 = share * lambda1_max(whole)
    fleet = Lockstep(whole, np.tile(whole.p[:, None], 2), np.array([lambda2, 3.0]))
    w = fleet.solve(fleet.stage(np.arange(m), lambda1), 1e-6)
    exact = WorkingSet(whole.with_parameters(lambda1=lambda1, lambda2=lambda2))
    for _ in exact.steps():
        pass
    least = np.zeros(m)
    least[exact.features] = exact.weights
    best = objective(whole, lambda1, lambda2, least, exact.b, exact.u)
    here = objective(whole, lambda1, lambda2, w[:, 0], fleet.b[0], fleet.u[:, 0])
    assert here <= best + 1e-3 * max(best, 0.1)


def test_rows_that_a_problem_may_not_see_do_not_matter():
    whole, rows = problem(0, 30, 10), np.arange(20)
    prices = np.where(np.arange(30) < 20, 1 / 20, 0.0)[:, None]
    fleet = Lockstep(whole, prices, np.ones(1))
    w = fleet.solve(fleet.stage(np.arange(10), 0.05), 1e-8)
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
    fleet = Lockstep(whole, whole.p[:, None], np.ones(1))
    stage = fleet.stage(np.arange(200), 0.1)
    fixed = np.isin(stage.names, kept)[:, None]
    w = fleet.solve(replace(stage, fixed=fixed), 1e-8)
    point = InteriorPoint(whole, kept).run()
    np.testing.assert_allclose(w[kept, 0], point.w, atol=1e-3)
    assert not w[30:].any()


def test_a_pull_on_all_features_counts_data_and_rules():
    whole = problem(2, 20, 6, (rule(6),))
    fleet = Lockstep(whole, whole.p[:, None], np.ones(1))
    fleet.solve(fleet.stage(np.arange(6), 0.1), 1e-6)
    stack = whole.stack
    expected = whole.design.correlate(whole.y * fleet.alpha[:20, 0])
    expected[stack.features] -= stack.coupling.T @ fleet.u[:, 0]
    np.testing.assert_allclose(fleet.pull_on_all()[:, 0], expected)
