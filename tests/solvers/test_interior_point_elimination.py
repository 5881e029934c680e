"""Both eliminations against one dense system that eliminates nothing."""

import numpy as np
import pytest

from hipad.designs import make_design
from hipad.solvers import Problem
from hipad.solvers.interior_point import (
    DualNewton,
    PrimalNewton,
    cholesky,
    newton_system,
    solve_cholesky,
)
from tests.solvers.systems import FORMS, dense_step, random_newton


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("conditions", [(), (1, 2)])
@pytest.mark.parametrize("options", [{}, {"scope": "typical"}, {"centered": True}])
def test_a_step_solves_the_whole_system(form, conditions, options):
    for seed in range(5):
        newton, r, goals = random_newton(form, seed, split=False, conditions=conditions, **options)
        step = newton.solve(r, rows=r.rows, u=r.u, parts=goals)
        wanted = dense_step(newton, r.w, r.b, r.u, r.rows)
        for got, expected in zip(step[:4], wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)
        assert step.parts == ()


@pytest.mark.parametrize(("n", "k", "form"), [(64, 1, DualNewton), (200, 20, PrimalNewton)])
def test_the_cheaper_form_is_chosen(n, k, form):
    X = np.random.default_rng(0).standard_normal((n, k))
    problem = Problem(make_design(X), np.ones(n), np.full(n, 1 / n), lambda1=0.0, lambda2=1.0)
    assert type(newton_system(problem, np.arange(k))) is form


def test_cholesky_solves_refuses_and_takes_nothing():
    root = np.random.default_rng(1).standard_normal((4, 4))
    M = root @ root.T + np.eye(4)
    solution = solve_cholesky(cholesky(M.copy()), np.arange(4.0))
    np.testing.assert_allclose(M @ solution, np.arange(4.0), atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        cholesky(np.diag([1.0, -1.0]))
    assert solve_cholesky(cholesky(np.zeros((0, 0))), np.zeros(0)).size == 0
