"""The model without features: its prices, and the smallest lambda1 that leaves no feature.

w = 0 is the optimum exactly when some optimal prices of the problem in (b, u) alone pull no feature
by more than lambda1. These prices need not be unique: where one class outweighs the other, all
patients of the larger class lie on their margin, and any share of the price among them is optimal.
The smallest lambda1 is then a linear program over the prices,

    minimise t  subject to  -t <= X'Y alpha - C'u <= t,   alpha optimal for w = 0,

solved on a few features at a time: those pulled beyond t join, until there are none.

Features that pay nothing are in at every lambda1. The model is then the best one on these alone,
and the smallest lambda1 is that which leaves no other feature. Where a feature has prices of its
own, t is that multiple of lambda1.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from hipad.designs.base import FloatArray
from hipad.solver.active.activeset import Guess, pull_on_all, refined
from hipad.solver.interior.ipm import InteriorPoint
from hipad.solver.interior.lifted import Values
from hipad.solver.problem import Problem

NONE = np.zeros(0, dtype=int)
ON_MARGIN = 1e-8
AT_ONCE = 100  # features that join the linear program in one round


def empty_optimum(problem: Problem) -> Values:
    """The best model of the features that pay nothing (mostly none), and prices that prove it."""
    features = problem.prices.costless
    ipm = InteriorPoint(problem, features)
    point = ipm.run()
    alpha, u = point.guess()
    found = refined(problem, Guess(features, ipm.weights(), u, alpha))
    return found or Values(ipm.weights(), point.b, np.maximum(point.u, 0.0), point.alpha)


def lambda1_max(problem: Problem) -> float:
    """The smallest lambda1 that gives w = 0 on all features that pay."""
    return least_pull(problem)[0]


def least_pull(problem: Problem) -> tuple[float, FloatArray]:
    """The smallest lambda1 that gives w = 0 on all features that pay, and prices that show it."""
    at = empty_optimum(problem)
    at = at._replace(u=np.where(at.u > ON_MARGIN * np.max(at.u, initial=1.0), at.u, 0.0))
    stack, labels = problem.stack, np.r_[problem.y, problem.stack.of_b]
    scores = problem.design.columns(problem.prices.costless) @ at.w
    lack = np.r_[1.0 - problem.y * (scores + at.b), stack.slacks(at.b, at.u)]
    free = np.abs(lack) <= ON_MARGIN * (1.0 + abs(at.b))
    size = _needed(problem, pull_on_all(problem, at.alpha, at.u))
    largest = float(np.max(size, initial=0.0))
    if free.sum() < 2 or largest == 0.0:
        return largest, at.alpha
    return _least_pull(problem, at, free, labels, size)


def _needed(problem: Problem, pull: FloatArray) -> FloatArray:
    """The lambda1 that holds each feature out against its pull; zero for those that pay nothing."""
    needed = problem.prices.needed(pull)
    needed[problem.prices.costless] = 0.0
    return needed


def _least_pull(
    problem: Problem, at: Values, free: np.ndarray, labels: FloatArray, size: FloatArray
) -> tuple[float, FloatArray]:
    """The linear program; its value grows with the features until none is pulled further."""
    prices = np.r_[problem.p, problem.stack.sigma]
    best, found, working = float(np.max(size)), at.alpha, problem.prices.costless
    for _ in range(100):
        size[working] = 0.0
        working = np.union1d(working, np.argsort(-size)[:AT_ONCE])
        t, alpha_free = _solve(problem, at, free, labels, prices, working)
        if alpha_free is None:
            break
        alpha = at.alpha.copy()
        alpha[free] = alpha_free
        size = _needed(problem, pull_on_all(problem, alpha, at.u))
        if float(size.max()) < best:
            best, found = float(size.max()), alpha
        if best <= t * (1 + 1e-9) + 1e-12:
            break
    return best, found


def _solve(
    problem: Problem,
    at: Values,
    free: np.ndarray,
    labels: FloatArray,
    prices: FloatArray,
    working: np.ndarray,
) -> tuple[float, FloatArray | None]:
    """Least largest pull on the working features, and the prices of the free rows there."""
    n, stack, count = problem.n_samples, problem.stack, int(free.sum())
    fixed = np.where(free, 0.0, at.alpha)
    Z = np.zeros((free.size, working.size))
    Z[:n] = problem.design.columns(working) * problem.y[:, None]
    here, of = problem.rule_positions(working)
    base = Z.T @ fixed
    base[here] -= stack.coupling[:, of].T @ at.u
    up, down, own = _shares(problem, at, working)
    base -= own
    A = np.vstack([np.c_[Z[free].T, -up], np.c_[-Z[free].T, -down]])
    finite = np.isfinite(np.r_[up, down])
    # the multipliers u must stay optimal too: their gradient is zero, or not below it where u is
    D = np.vstack([np.zeros((n, stack.n_rows)), stack.thresholds])
    gradient, positive = D.T @ fixed + stack.curvature @ at.u, at.u > 0
    inside = np.hstack([D[free].T, np.zeros((stack.n_rows, 1))])
    found = linprog(
        np.r_[np.zeros(count), 1.0],
        A_ub=np.vstack([A[finite], -inside[~positive]]),
        b_ub=np.r_[np.r_[-base, base][finite], gradient[~positive]],
        A_eq=np.vstack([np.r_[labels[free], 0.0], inside[positive]]),
        b_eq=np.r_[-labels @ fixed, -gradient[positive]],
        bounds=[*((0.0, price) for price in prices[free]), (0.0, None)],
        method="highs",
    )
    return (float(found.fun), found.x[:-1]) if found.status == 0 else (0.0, None)


def _shares(
    problem: Problem, at: Values, working: np.ndarray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bounds of each pull in multiples of t, and the part of it that the model itself balances."""
    up, down = problem.limits(working, 1.0)
    own, place = np.zeros(working.size), np.searchsorted(working, problem.prices.costless)
    own[place] = problem.ridge(problem.prices.costless) * at.w
    inside = own != 0
    return np.where(inside, 0.0, up), np.where(inside, 0.0, down), own
