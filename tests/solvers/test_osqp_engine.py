"""OSQP as engine of phase 2: an independent answer to the same problem."""

import numpy as np
import pytest

from hipad.solvers import Status
from hipad.solvers import hipad as engines
from hipad.solvers.osqp_engine import solve_osqp
from tests.oracles import clarabel_enk, objective, random_problem
from tests.solvers.problems import oracle_objective, solve, to_problem, unit_rows


@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("conditions", [(), (1,), (2, 1, 3)])
@pytest.mark.parametrize(("n", "m"), [(20, 12), (12, 40), (60, 4)])
@pytest.mark.parametrize("centered", [False, True])
def test_equals_clarabel(n, m, centered, conditions, scope):
    options = {"conditions": conditions, "scope": scope, "centered": centered}
    raw = random_problem(n, n=n, m=m, weighted=True, **options)
    raw = raw._replace(lambda1=0.0)
    w, b, u, alpha = solve_osqp(to_problem(raw), np.arange(m), raw.X)
    us = np.split(u, np.cumsum([len(r.d) for r in raw.rules])[:-1]) if raw.rules else []
    found = objective(*unit_rows(raw), w, b, us)
    assert found == pytest.approx(clarabel_enk(*raw).objective, rel=1e-5)
    assert np.all(u >= 0)
    ceiling = np.r_[raw.p, [r.sigma for r in raw.rules]]
    assert np.all((alpha >= 0) & (alpha <= ceiling))


@pytest.mark.parametrize("conditions", [(), (1, 2)])
def test_both_engines_give_the_same_model(conditions):
    raw = random_problem(3, n=15, m=40, conditions=conditions)
    ipm, osqp = (solve(raw, phase2_solver=engine) for engine in ("ipm", "osqp"))
    np.testing.assert_array_equal(ipm.features, osqp.features)
    np.testing.assert_allclose(osqp.w, ipm.w, atol=1e-4)
    assert oracle_objective(raw, osqp) == pytest.approx(oracle_objective(raw, ipm), rel=1e-5)
    assert osqp.certificate.status is Status.SOLVED
    assert osqp.certificate.gap < 1e-4


def test_its_prices_certify_it():
    raw = random_problem(4, n=15, m=40)
    kept = solve(raw, phase2_solver="osqp")
    assert kept.certificate.dual_objective <= kept.certificate.primal_objective
    assert kept.certificate.dual_residual < 1e-4


def careless(problem, features, X):
    w, b, u, alpha = solve_osqp(problem, features, X)
    return 1.1 * w, b, u, alpha


def failing(problem, features, X):
    w, stack = np.full(features.size, np.nan), problem.stack
    return w, np.nan, np.zeros(stack.n_rows), np.zeros(problem.n_samples + stack.n_rules)


@pytest.mark.parametrize("answer", [careless, failing])
def test_a_bad_answer_or_none_is_left_to_the_interior_point(monkeypatch, answer):
    monkeypatch.setitem(engines.ENGINES, "osqp", engines.Engine("OSQP", answer))
    found = solve(random_problem(4, n=15, m=40), phase2_solver="osqp")
    assert found.certificate.status is Status.SOLVED
    assert found.certificate.gap < 1e-8
    assert "the interior point solved phase 2 instead" in found.certificate.message
