"""Newton systems that are ready to be solved, and one dense system that eliminates nothing."""

import numpy as np

from hipad.solvers.interior_point import DualNewton, PrimalNewton, Residuals, Scaling, spread
from tests.oracles import random_problem
from tests.solvers.problems import to_problem

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
    rhs = Residuals(own[0], (), b, u, on_rows, np.zeros(rows), own[1])
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
