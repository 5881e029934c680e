"""Phase 2 by OSQP: an independent first-order solver as the alternative engine and cross-check.

minimise   1/2 x'Qx + C'xi   over x = (w, b, u) and xi
subject to A x + xi >= 1,  xi >= 0,  u >= 0              (rows and prices as in ipm.py)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import osqp
from scipy.sparse import csc_matrix

from hipad.designs.base import FloatArray
from hipad.solver.problem import Problem

Result = tuple[FloatArray, float, FloatArray, FloatArray]


def solve_osqp(problem: Problem, features: np.ndarray, X: FloatArray) -> Result:
    """(w, b, u, alpha) of the problem on `features`, whose columns are X."""
    k, n = features.size, problem.n_samples + problem.stack.n_rules
    A, prices = _rows(problem, X), np.r_[problem.p, problem.stack.sigma]
    result = _solve(_hessian(problem, features), A, prices, free=k + 1)
    x = result.x
    u = np.maximum(x[k + 1 : A.shape[1]], 0.0)
    return x[:k], float(x[k]), u, np.clip(-result.y[:n], 0.0, prices)


def _hessian(problem: Problem, features: np.ndarray) -> FloatArray:
    """Q in the order (w, b, u)."""
    stack, k = problem.stack, features.size
    at, of = problem.rule_positions(features)
    Q = np.zeros((k + 1 + stack.n_rows,) * 2)
    Q[:k, :k] = np.diag(problem.ridge(features))
    Q[k + 1 :, at] = stack.coupling[:, of]
    Q[at, k + 1 :] = stack.coupling[:, of].T
    Q[k + 1 :, k + 1 :] = stack.curvature
    return Q


def _rows(problem: Problem, X: FloatArray) -> FloatArray:
    """A in the order (w, b, u): the samples, then the rules."""
    stack, y = problem.stack, problem.y
    samples = np.hstack([y[:, None] * X, y[:, None], np.zeros((y.size, stack.n_rows))])
    rules = np.hstack(
        [np.zeros((stack.n_rules, X.shape[1])), stack.sign[:, None], -stack.thresholds]
    )
    return np.vstack([samples, rules])


def _solve(Q: FloatArray, A: FloatArray, prices: FloatArray, free: int) -> Any:
    n, size = A.shape
    P = np.zeros((size + n, size + n))
    P[:size, :size] = np.triu(Q)
    signs = np.eye(size + n)[free:]
    rows = np.vstack([np.hstack([A, np.eye(n)]), signs])
    lower = np.r_[np.ones(n), np.zeros(signs.shape[0])]
    solver = osqp.OSQP()
    solver.setup(
        csc_matrix(P),
        np.r_[np.zeros(size), prices],
        csc_matrix(rows),
        lower,
        np.full(lower.size, np.inf),
        eps_abs=1e-8,
        eps_rel=1e-8,
        max_iter=50_000,
        polishing=True,
        verbose=False,
    )
    return solver.solve(raise_error=False)
