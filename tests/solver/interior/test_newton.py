"""Both forms of the Newton system against one dense system that eliminates nothing."""

import numpy as np
import pytest

from hipad.solver.interior.newton import (
    DualNewton,
    Newton,
    PrimalNewton,
    Rhs,
    Scaling,
    cholesky,
    largest,
    solve_cholesky,
    spread,
)
from tests.oracles import random_problem
from tests.solver.problems import to_problem

FORMS = [DualNewton, PrimalNewton]
# two weights of any sign, one that is never negative, one never positive, one without a price
SIDES = (np.array([True, True, False, False, True]), np.array([True, False, True, False, True]))


def random_newton(form, seed, *, split, conditions=(1, 2), **options):
    """A Newton system that is ready to be solved, and its residuals."""
    raw = random_problem(seed, n=8, m=6, conditions=conditions, **options)
    problem, rng = to_problem(raw), np.random.default_rng(seed)
    newton = form(problem, np.arange(5))
    k, K, rows = 5, problem.stack.n_rows, 8 + len(conditions)
    sides = SIDES if split else ()
    rooms = tuple(spread(rng.uniform(0.5, 2, int(side.sum())), side) for side in sides)
    newton.factorize(
        Scaling(rng.uniform(0.1, 2, rows), rng.uniform(0.1, 2, K), rooms, sides),
    )
    own = rng.standard_normal((2, k))
    b, u, on_rows = 0.4, rng.standard_normal(K), rng.standard_normal(rows)
    rhs = Rhs(own[0], (), b, u, on_rows, np.zeros(rows), own[1])
    return newton, rhs, [rng.standard_normal(int(side.sum())) for side in sides]


def dense_step(newton, w, b, u, rows):
    """(dw, db, du, dalpha) from the system as the module states it."""
    n, k, K, R = newton.n, newton.ridge.size, len(u), len(newton.labels)
    label, d = newton.labels[:, None], newton.thresholds
    to_rows = np.vstack([newton.Z, np.zeros((R - n, k))])
    of_u = np.vstack([np.zeros((n, K)), -d])
    matrix = np.block(
        [
            [np.diag(newton.effective_ridge), np.zeros((k, 1)), newton.C.T, -to_rows.T],
            [np.zeros((1, k + 1 + K)), -label.T],
            [newton.C, np.zeros((K, 1)), newton.curvature + np.diag(newton.theta_u), -of_u.T],
            [to_rows, label, of_u, np.diag(newton.D)],
        ]
    )
    x = np.linalg.solve(matrix, np.r_[w, b, u, rows])
    return x[:k], x[k], x[k + 1 : k + 1 + K], x[k + 1 + K :]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("conditions", [(), (1, 2)])
@pytest.mark.parametrize("options", [{}, {"scope": "typical"}, {"anchored": True}])
def test_a_step_solves_the_whole_system(form, conditions, options):
    for seed in range(5):
        newton, r, goals = random_newton(form, seed, split=False, conditions=conditions, **options)
        step = newton.solve(r, rows=r.rows, u=r.u, parts=goals)
        wanted = dense_step(newton, r.w, r.b, r.u, r.rows)
        for got, expected in zip(step[:4], wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)
        assert step.parts == ()


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


def test_the_gradient_is_that_of_the_lagrangian():
    newton, _, _ = random_newton(DualNewton, 5, split=False)
    rng = np.random.default_rng(0)
    w, u, alpha = rng.standard_normal(5), rng.random(3), rng.random(newton.D.size)

    def lagrangian(w, u):
        quadratic = 0.5 * newton.ridge @ w**2 + u @ newton.C @ w + 0.5 * u @ newton.curvature @ u
        return quadratic - alpha @ newton.rows(w, 0.0, u)

    h = 1e-6
    in_w = [(lagrangian(w + h * e, u) - lagrangian(w - h * e, u)) / (2 * h) for e in np.eye(5)]
    in_u = [(lagrangian(w, u + h * e) - lagrangian(w, u - h * e)) / (2 * h) for e in np.eye(3)]
    found = newton.gradient(w, u, alpha)
    np.testing.assert_allclose(found[0], in_w, atol=1e-7)
    np.testing.assert_allclose(found[1], in_u, atol=1e-7)


def test_the_form_is_the_smaller_one():
    few = to_problem(random_problem(0, n=20, m=4))
    many = to_problem(random_problem(0, n=200, m=4))
    assert isinstance(Newton.of(few, np.arange(4)), DualNewton)
    assert isinstance(Newton.of(many, np.arange(4)), PrimalNewton)


def test_cholesky_solves_refuses_and_takes_nothing():
    root = np.random.default_rng(1).standard_normal((4, 4))
    M = root @ root.T + np.eye(4)
    solution = solve_cholesky(cholesky(M.copy()), np.arange(4.0))
    np.testing.assert_allclose(M @ solution, np.arange(4.0), atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        cholesky(np.diag([1.0, -1.0]))
    assert solve_cholesky(cholesky(np.zeros((0, 0))), np.zeros(0)).size == 0


def test_largest_looks_at_every_part():
    assert largest(np.zeros(0), -3.0, np.array([1.0, 2.0])) == 3.0
    assert largest(np.zeros(0)) == 0.0
