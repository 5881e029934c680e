"""Phase 2 by OSQP: an independent first-order solver as the alternative engine and cross-check.

minimise   1/2 x'Qx + C'xi   over x = (w, b, u) and xi
subject to A x + xi >= 1,  xi >= 0,  u >= 0              (rows and prices as in interior_point.py)
           s_j w_j >= 0                                  (weights whose sign is known)
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import scipy.sparse as sp

from hipad.solvers.problem import Problem
from hipad.utils import FloatArray, require

Result = tuple[FloatArray, float, FloatArray, FloatArray]
TIME_LIMIT = 20.0  # seconds; what is not solved by then is left to the interior point


def solve_osqp(problem: Problem, features: np.ndarray, X: FloatArray) -> Result:
    """Return (w, b, u, alpha) of the problem on `features`, whose columns are X."""
    require(["osqp"], "phase 2 by OSQP", extra="osqp")
    k, n = features.size, problem.n_samples + problem.stack.n_rules
    A, prices = _rows(problem, X), np.r_[problem.p, problem.stack.sigma]
    unit = float(prices.max())  # OSQP is at its best with costs of about one
    limits = problem.limits(features, 0.0)
    signs = np.isinf(limits.down).astype(float) - np.isinf(limits.up)
    x, y = _solve(_hessian(problem, features) / unit, A, prices / unit, signs)
    u = np.maximum(x[k + 1 : A.shape[1]], 0.0)
    return limits.allowed(x[:k]), float(x[k]), u, np.clip(-unit * y[:n], 0.0, prices)


def _hessian(problem: Problem, features: np.ndarray) -> sp.csc_array:
    """Q in the order (w, b, u)."""
    stack, k = problem.stack, features.size
    at, of = problem.rule_positions(features)
    coupling = np.zeros((stack.n_rows, k))
    coupling[:, at] = stack.coupling[:, of]
    ridge, none = sp.diags_array(problem.ridge(features)), sp.csc_array((1, 1))
    curvature = sp.csc_array(stack.curvature)
    cross = sp.csc_array(coupling)
    return sp.block_array(
        [[ridge, None, cross.T], [None, none, None], [cross, None, curvature]], format="csc"
    )


def _rows(problem: Problem, X: FloatArray) -> FloatArray:
    """A in the order (w, b, u): the samples, then the rules."""
    stack, y = problem.stack, problem.y
    samples = np.hstack([y[:, None] * X, y[:, None], np.zeros((y.size, stack.n_rows))])
    rules = np.hstack(
        [np.zeros((stack.n_rules, X.shape[1])), stack.of_b[:, None], -stack.thresholds]
    )
    return np.vstack([samples, rules])


def _solve(
    Q: sp.csc_array, A: FloatArray, prices: FloatArray, w_signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    (n, size), k = A.shape, w_signs.size
    P = sp.block_diag([sp.triu(Q), sp.csc_array((n, n))], format="csc")
    own = np.r_[w_signs, 0.0, np.ones(size + n - k - 1)]
    signs = sp.diags_array(own, format="csr")[own != 0]
    rows = sp.vstack([sp.hstack([sp.csc_array(A), sp.eye_array(n)]), signs], format="csc")
    lower = np.r_[np.ones(n), np.zeros(signs.shape[0])]
    solver = import_module("osqp").OSQP()
    solver.setup(
        sp.csc_matrix(P),
        np.r_[np.zeros(size), prices],
        sp.csc_matrix(rows),
        lower,
        np.full(lower.size, np.inf),
        eps_abs=1e-8,
        eps_rel=1e-8,
        max_iter=50_000,
        time_limit=TIME_LIMIT,
        polishing=True,
        verbose=False,
    )
    result = solver.solve(raise_error=False)
    return np.asarray(result.x, dtype=float), np.asarray(result.y, dtype=float)
