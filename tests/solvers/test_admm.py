"""Phase 1 to convergence: the minimum that Clarabel finds, from any penalties and any start."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.solvers import Hipad, Settings, Status
from hipad.solvers import admm as admm_module
from hipad.solvers.admm import (
    Admm,
    AdmmSettings,
    Multipliers,
    Residuals,
    balanced,
    starting_penalties,
)
from hipad.solvers.losses import HINGE
from hipad.solvers.problem import SignPenalties
from hipad.solvers.weight_blocks import (
    KrylovFeatures,
    Penalties,
    nonnegative,
    soft_threshold,
)
from tests.oracles import clarabel_enk, random_problem
from tests.solvers.problems import MU, full_weights, oracle_objective, rule, solve, to_problem

SHAPES = [(20, 12), (12, 60), (60, 4)]


@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("conditions", [(), (1,), (2, 1, 3)])
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_converges_to_clarabels_minimum(n, m, conditions, scope):
    raw = random_problem(n + m, n=n, m=m, conditions=conditions, scope=scope, weighted=True)
    optimum = clarabel_enk(*raw)
    found = solve(raw, method="admm")
    assert found.certificate.status is Status.SOLVED
    assert oracle_objective(raw, found) == pytest.approx(optimum.objective, rel=1e-6)
    assert found.certificate.primal_objective == pytest.approx(oracle_objective(raw, found))
    np.testing.assert_allclose(full_weights(found, m), optimum.w, atol=1e-3)


def test_krylov_side_converges_to_clarabels_minimum(monkeypatch):
    monkeypatch.setattr(admm_module, "LARGEST_FACTOR", 5)
    raw = random_problem(1, n=20, m=12)
    run = Hipad(to_problem(raw), Settings(method="admm", tolerance=1e-6))
    found = run.run()
    assert isinstance(run.admm.features, KrylovFeatures)
    assert oracle_objective(raw, found) == pytest.approx(clarabel_enk(*raw).objective, rel=1e-6)


@settings(max_examples=8)
@given(st.lists(st.floats(-1.5, 1.5), min_size=4, max_size=4), st.floats(0.5, 1.9))
def test_converges_from_all_penalties(exponents, relaxation):
    raw = random_problem(2, n=12, m=20)
    penalties = Penalties(*(10.0**e for e in exponents))
    admm = AdmmSettings(relaxation=relaxation, penalties=penalties)
    found = solve(raw, method="admm", admm=admm)
    assert found.certificate.status is Status.SOLVED
    assert oracle_objective(raw, found) == pytest.approx(clarabel_enk(*raw).objective, rel=1e-5)


def test_reports_the_objective_of_the_sparse_iterate():
    raw = random_problem(3, n=12, m=30)
    run = Hipad(to_problem(raw), Settings(method="admm"))
    for _, progress in zip(range(20), run, strict=False):
        solution = run.solution()
        assert progress.objective == pytest.approx(oracle_objective(raw, solution), rel=1e-12)
        assert progress.support_size == solution.features.size


def test_multipliers_fit_other_rules():
    raw = random_problem(4, n=12, m=30)
    admm = Admm(to_problem(raw))
    for _ in range(10):
        admm.sweep()
    state, _ = admm.state()
    same = state.for_problem(to_problem(raw._replace(lambda1=0.1)))
    fewer = state.for_problem(to_problem(raw._replace(rules=raw.rules[:1])))
    assert same is state
    assert fewer.q.shape == (1,)
    assert not fewer.gamma3.any()
    np.testing.assert_array_equal(fewer.gamma1, state.gamma1)


def test_cold_start_has_every_sample_inside_its_margin():
    problem = to_problem(random_problem(5, weighted=True))
    cold = Multipliers.cold(problem, MU)
    np.testing.assert_array_equal(cold.a, 1.0)
    np.testing.assert_array_equal(cold.gamma1, problem.p)


def residuals(pair):
    return Residuals(hinge=pair, w=(1.0, 1.0), slack=(0.0, 0.0), u=(1.0, 1.0))


@pytest.mark.parametrize(
    ("pair", "factor"),
    [
        ((1.0, 1.0), 1.0),
        ((1.0, 4.9), 1.0),
        ((9.0, 1.0), 3.0),
        ((1.0, 9.0), 1 / 3),
        ((1.0, 1e-9), 10.0),
        ((1.0, 0.0), 10.0),  # an empty support does not move: only the primal residual speaks
        ((0.0, 1.0), 0.1),
        ((0.0, 0.0), 1.0),
    ],
)
def test_penalties_follow_the_residuals(pair, factor):
    moved = balanced(MU, residuals(pair), MU)
    assert moved.hinge == pytest.approx(factor * MU.hinge)
    assert (moved.w, moved.slack, moved.u) == (MU.w, MU.slack, MU.u)


@pytest.mark.parametrize("d", [0.0, 1e-9, -0.1])
def test_a_threshold_near_the_mean_does_not_freeze_the_rule(d):
    raw = random_problem(1, n=20, m=40)
    raw = raw._replace(rules=(rule(np.eye(40)[:1], [d]),))
    assert starting_penalties(to_problem(raw)).slack <= 1.0
    run = Hipad(to_problem(raw), Settings(method="admm"))
    assert run.run().certificate.status is Status.SOLVED
    assert run.admm.sweeps < 300


def test_nothing_enters_at_first_yet_the_penalty_moves():
    raw = random_problem(1, n=20, m=40, conditions=(), lambda2=1e-6)
    run = Hipad(to_problem(raw), Settings(method="admm", max_sweeps=300))
    assert run.run().features.size > 0


PRICES = SignPenalties(np.array(0.3), np.array(0.3))
PROXES = {
    "hinge": (
        lambda h, g, mu: HINGE.proximal_step(h, g, mu, np.array(0.3)),
        lambda z: 0.3 * max(z, 0.0),
    ),
    "soft": (
        lambda h, g, mu: soft_threshold(h, g, mu, SignPenalties(0.3, 0.3)),
        lambda z: 0.3 * abs(z),
    ),
    "sign": (nonnegative, lambda z: 0.0 if z >= 0 else np.inf),
}


@given(st.sampled_from(sorted(PROXES)), st.floats(-3, 3), st.floats(-1, 1), st.floats(0.1, 5))
def test_proximal_steps_minimise_the_lagrangian(name, h, g, mu):
    step, cost = PROXES[name]
    copy, multiplier = step(h, g, mu)

    def value(z):
        return cost(z) + g * (h - z) + mu / 2 * (h - z) ** 2

    grid = np.concatenate([np.linspace(-10, 10, 401), [0.0]])
    assert value(max(copy, 0.0) if name == "sign" else copy) <= min(map(value, grid)) + 1e-12
    assert multiplier == pytest.approx(g + mu * (h - copy), abs=1e-12)
