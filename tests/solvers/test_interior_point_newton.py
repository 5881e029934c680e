"""Newton steps meet the system they are said to solve, with split weights and after refinement."""

import numpy as np
import pytest

from hipad.solvers.interior_point import DualNewton, Scaling, largest, spread
from tests.oracles import random_problem
from tests.solvers.problems import to_problem
from tests.solvers.systems import FORMS, SIDES, dense_step, random_newton


@pytest.mark.parametrize("form", FORMS)
def test_newton_steps_solve_the_system_they_claim_to(form):
    raw = random_problem(9, n=10, m=8, conditions=(1, 2))
    newton, rng = form(to_problem(raw), np.arange(8)), np.random.default_rng(1)
    scaling = Scaling(rows=rng.uniform(0.1, 9, 12), u=rng.uniform(0.1, 9, 3), split=None)
    newton.factorize(scaling)
    w, b, u, rows = rng.standard_normal(8), 0.3, rng.standard_normal(3), rng.standard_normal(12)
    step = newton._refined(w, b, u, rows)
    for residual in newton._residual(step, w, b, u, rows):
        np.testing.assert_allclose(residual, 0.0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_the_two_parts_of_a_weight_meet_their_own_conditions(form):
    newton, r, goals = random_newton(form, 3, split=True)
    step = newton.solve(r, rows=r.rows, u=r.u, parts=goals)
    shared = newton.gradient(step.w, step.u, step.alpha)[0]
    for room, side, goal, part, sign in zip(
        newton.split, SIDES, goals, step.parts, (1, -1), strict=True
    ):
        np.testing.assert_allclose(part / room[side] + sign * shared[side], goal, atol=1e-10)
    plus, minus = (spread(part, side) for part, side in zip(step.parts, SIDES, strict=True))
    both = SIDES[0] | SIDES[1]
    np.testing.assert_allclose((plus - minus)[both], (step.w - r.split)[both], atol=1e-10)
    np.testing.assert_allclose(shared[~both], r.w[~both], atol=1e-10)


def test_refinement_holds_where_the_diagonals_differ_by_many_powers():
    newton, r, goals = random_newton(DualNewton, 4, split=False)
    newton.factorize(Scaling(np.geomspace(1e-9, 1e6, newton.D.size), newton.theta_u))
    step = newton.solve(r, rows=r.rows, u=r.u, parts=goals)
    wanted = dense_step(newton, r.w, r.b, r.u, r.rows)
    np.testing.assert_allclose(step.w, wanted[0], rtol=1e-6, atol=1e-8)


def test_largest_looks_at_every_part():
    assert largest(np.zeros(0), -3.0, np.array([1.0, 2.0])) == 3.0
    assert largest(np.zeros(0)) == 0.0
