"""Phase 2 by OSQP: an independent first-order solver as the alternative engine and cross-check.

    minimise   1/2 x'Qx + U'xi + 1/2 v'diag(1/q) v    over x = (w, b, u), xi and v
    subject to A x + xi + v >= 1,  xi >= 0,  u >= 0   (rows as in interior_point.py)
               s_j w_j >= 0                           (weights whose sign is known)

The loss of a row is the least U xi + v^2 / (2q) at which xi + v makes up for what it is short of;
rows without an upper bound U have no xi, rows whose conjugate has no curvature q have no v
(losses.py). The dual variables of the rows A are those of the problem.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import scipy.sparse as sp

from hipad.solvers.losses import RowLosses
from hipad.solvers.problem import Problem
from hipad.utils import FloatArray, require

Result = tuple[FloatArray, float, FloatArray, FloatArray]
TIME_LIMIT = 20.0  # seconds; what is not solved by then is left to the interior point


def solve_osqp(problem: Problem, features: np.ndarray, X: FloatArray) -> Result:
    """Return (w, b, u, alpha) of the problem on `features`, whose columns are X."""
    require(["osqp"], "phase 2 by OSQP", extra="osqp")
    k, n = features.size, problem.n_samples + problem.stack.n_rules
    A, losses = _rows(problem, X), problem.rows
    unit = float(losses.weights.max())  # OSQP is at its best with costs of about one
    limits = problem.limits(features, 0.0)
    signs = np.isinf(limits.down).astype(float) - np.isinf(limits.up)
    scaled = losses._replace(upper=losses.upper / unit, curvature=losses.curvature * unit)
    x, y = _solve(_hessian(problem, features) / unit, A, scaled, signs)
    u = np.maximum(x[k + 1 : A.shape[1]], 0.0)
    return limits.allowed(x[:k]), float(x[k]), u, np.clip(-unit * y[:n], 0.0, losses.upper)


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
    Q: sp.csc_array, A: FloatArray, losses: RowLosses, w_signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    (n, size), k, every = A.shape, w_signs.size, sp.eye_array(A.shape[0], format="csc")
    bounded, curved = losses.bounded, losses.curvature > 0
    none = sp.csc_array((int(bounded.sum()),) * 2)
    P = sp.block_diag([sp.triu(Q), none], format="csc")
    if curved.any():
        P = sp.block_diag([P, sp.diags_array(1.0 / losses.curvature[curved])], format="csc")
    own = np.r_[w_signs, 0.0, np.ones(size - k - 1), np.ones(bounded.sum()), np.zeros(curved.sum())]
    signs = sp.diags_array(own, format="csr")[own != 0]
    short = sp.hstack([sp.csc_array(A), every[:, bounded], every[:, curved]])
    rows = sp.vstack([short, signs], format="csc")
    lower = np.r_[np.ones(n), np.zeros(signs.shape[0])]
    solver = import_module("osqp").OSQP()
    solver.setup(
        sp.csc_matrix(P),
        np.r_[np.zeros(size), losses.upper[bounded], np.zeros(curved.sum())],
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
