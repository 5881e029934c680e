"""Models, records of steps, and certificates: bounds that hold at any point whatever."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from hipad.solvers.certificate import Status
from hipad.solvers.exact import Optimum
from hipad.solvers.hipad import ExactPhase
from hipad.solvers.solution import (
    ALL_FEATURES,
    Iterate,
    certify,
    complementarity,
    iteration_info,
    objective_of,
)
from tests.oracles import clarabel_enk, objective, random_problem
from tests.solvers.problems import to_problem, trusted_optimum, unit_rows


def random_point(problem, seed):
    """Any model: features in order, u not below zero, prices that may even be negative."""
    rng = np.random.default_rng(seed)
    features = np.flatnonzero(rng.random(problem.n_features) < 0.5)
    rows = problem.n_samples + problem.stack.n_rules
    return Iterate(
        features=features,
        w=rng.standard_normal(features.size),
        b=float(rng.standard_normal()),
        u=rng.random(problem.stack.n_rows),
        alpha=rng.standard_normal(rows) / rows,
    )


def optimal_point(raw):
    phase = ExactPhase(to_problem(raw), max_iterations=60)
    assert list(phase.steps())
    return phase.point()


def test_the_objective_is_the_oracles():
    raw = unit_rows(random_problem(1, conditions=(1, 2), scope="typical", centered=True))
    problem = to_problem(raw)
    at = random_point(problem, 2)
    w = np.zeros(problem.n_features)
    w[at.features] = at.w
    wanted = objective(*raw, w, at.b, (at.u[:1], at.u[1:]))
    assert objective_of(problem, at) == pytest.approx(wanted, rel=1e-12)
    given_columns = objective_of(problem, at, raw.X[:, at.features])
    assert given_columns == pytest.approx(wanted, rel=1e-12)


def test_a_tick_tells_the_objective_with_and_without_the_l1_term():
    problem = to_problem(random_problem(1))
    at = random_point(problem, 3)
    info = iteration_info(problem, at, 5.0, 0.1, 0.2)
    assert info.objective - info.shared == pytest.approx(problem.lambda1 * np.abs(at.w).sum())
    assert (info.primal_residual, info.dual_residual) == (0.1, 0.2)
    assert info.signs.tolist() == np.sign(at.w).tolist()
    assert info.rule_slacks.size == 2


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31), scope=st.sampled_from(["population", "typical"]), free=st.booleans()
)
def test_the_optimum_lies_between_the_bounds_at_any_point(seed, scope, free):
    raw = random_problem(seed, scope=scope, centered=not free, weighted=True)
    best, problem = trusted_optimum(raw), to_problem(raw)
    at = random_point(problem, seed)
    bounds = certify(problem, at, raw.lambda1, Status.SOLVED, covers=ALL_FEATURES, eps=1e-6)
    assert bounds.primal_objective >= best.objective - 1e-8
    assert bounds.dual_objective <= best.objective + 1e-8
    assert bounds.status is Status.INACCURATE


@pytest.mark.parametrize("seed", range(4))
def test_what_counts_as_certain_is_in_the_optimum(seed):
    raw = random_problem(seed, m=30)
    best, problem = clarabel_enk(*raw), to_problem(raw)
    in_optimum = int((np.abs(best.w) > 1e-6).sum())
    point = optimal_point(raw)
    at = certify(problem, point, raw.lambda1, Status.SOLVED, covers=ALL_FEATURES, eps=1e-7)
    assert (at.certain, at.undecided, at.status) == (in_optimum, 0, Status.SOLVED)
    far = random_point(problem, seed)
    assert certify(
        problem, far, raw.lambda1, Status.SOLVED, covers=ALL_FEATURES, eps=1e-7
    ).certain <= in_optimum  # fmt: skip


def test_a_run_that_was_stopped_stays_so():
    problem = to_problem(random_problem(2))
    at = random_point(problem, 2)
    found = certify(problem, at, 0.05, Status.STOPPED, covers=ALL_FEATURES, eps=1e9)
    assert found.status is Status.STOPPED


def test_complementarity_sees_prices_and_margins_that_do_not_fit():
    problem = to_problem(random_problem(0, n=4, conditions=()))  # every price is 1/4
    on = np.ones(4)
    assert complementarity(problem, np.full(4, 0.1), on) == 0.0
    assert complementarity(problem, np.full(4, 0.25), on - 3) == 0.0
    assert complementarity(problem, np.zeros(4), on + 3) == 0.0
    assert complementarity(problem, np.array([0.1, 0, 0, 0]), on + 2) == pytest.approx(0.2)
    assert complementarity(problem, np.array([0.25, 0.25, 0.25, 0]), on - 2) == pytest.approx(0.5)


def test_features_on_the_brink_are_left_out_of_the_model():
    problem = to_problem(random_problem(0, conditions=()))
    w = np.array([0.5, 0.0, 1e-17, -0.2])
    found = Optimum(np.array([1, 3, 5, 7]), w, 0.1, np.zeros(0), np.zeros(20), np.zeros(12))
    at = Iterate.of(problem, found)
    assert at.features.tolist() == [1, 7]
    assert at.w.tolist() == [0.5, -0.2]
    assert at.warm_start.features.tolist() == [1, 7]
