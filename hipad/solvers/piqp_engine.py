"""Phase 2 by PIQP: an interior point in C++, quickest where rows are few and NumPy's calls count.

    minimise   1/2 a'(Z H Z' + diag(q)) a + 1/2 u'S u - e'a       over a = (alpha, nu) and u
    subject to labels'a = 0,  0 <= alpha <= U,  nu >= 0
               C H Z'a + thresholds'alpha_R + S u >= 0,           S = curvature - C H C'

which is the dual in `interior_point.py` without w = H (Z'a - C'u), H = diag(1/ridge). A weight
whose sign is known is one more row of Z, with multiplier nu, without a label and without a cost.
The intercept is the multiplier of the first constraint.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from hipad.solvers.interior_point import Lifted
from hipad.solvers.problem import Problem
from hipad.utils import FloatArray, require

Result = tuple[FloatArray, float, FloatArray, FloatArray]
PRECISE = 1e-9
STEPS = 100


def solve_piqp(problem: Problem, features: np.ndarray, _: FloatArray) -> Result:
    """Return (w, b, u, alpha) of the problem on `features`."""
    require(["piqp"], "phase 2 by PIQP", extra="piqp")
    lifted, losses = Lifted(problem, features), problem.rows
    limits = problem.limits(features, 0.0)
    signs = np.isinf(limits.down).astype(float) - np.isinf(limits.up)
    n, rows, known = lifted.n, losses.upper.size, np.flatnonzero(signs)
    K, size = lifted.C.shape[0], rows + known.size
    Z = np.zeros((size, features.size))
    Z[:n] = lifted.Z
    Z[rows + np.arange(known.size), known] = signs[known]
    h = 1.0 / lifted.ridge
    Zh, hC = Z * h, h * lifted.C
    S = lifted.curvature - hC @ lifted.C.T
    unit = float(losses.weights.max())  # costs of about one: alpha = unit * x
    P = np.zeros((size + K, size + K))
    P[:size, :size] = unit * (Zh @ Z.T)
    P[np.arange(rows), np.arange(rows)] += unit * losses.curvature
    P[size:, size:] = S / unit
    cost = np.r_[-np.ones(rows), np.zeros(known.size + K)]
    same = np.zeros((1, size + K))
    same[0, :rows] = lifted.labels
    G = np.zeros((K, size + K))
    G[:, :size] = unit * (hC @ Z.T)
    G[:, n:rows] += unit * lifted.thresholds.T
    G[:, size:] = S
    if np.any(lifted.labels):
        equal = same, np.zeros(1)
    else:
        equal = np.zeros((0, size + K)), np.zeros(0)
    low = np.r_[np.zeros(size), np.full(K, -np.inf)]
    high = np.r_[losses.upper / unit, np.full(known.size + K, np.inf)]
    x, y = _solve(P, cost, equal, G, low, high)
    alpha_ext, u = unit * x[:size], np.maximum(x[size:], 0.0)
    w = Zh.T @ alpha_ext - u @ hC
    alpha = np.clip(alpha_ext[:rows], 0.0, losses.upper)
    return limits.allowed(w), float(y[0]) if y.size else 0.0, u, alpha


def _solve(
    P: FloatArray,
    cost: FloatArray,
    equal: tuple[FloatArray, FloatArray],
    G: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    solver = import_module("piqp").DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = PRECISE
    settings.max_iter, settings.verbose = STEPS, False
    rows = G.shape[0]
    solver.setup(P, cost, *equal, G, np.zeros(rows), np.full(rows, np.inf), low, high)
    solver.solve()
    found = solver.result
    return np.asarray(found.x, dtype=float), np.asarray(found.y, dtype=float)
