"""Small problems with their Newton systems written out in full."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hipad.designs import make_design
from hipad.solvers import Problem, RuleBlock
from hipad.solvers.batched import RestrictedProblem, SignedColumns
from hipad.solvers.problem import SignPenalties


def small_problem(rng, n, m, with_rule):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    B = sp.csr_array(([-1.0, 0.5], ([0, 1], [0, 1])), shape=(2, m))
    rules = (RuleBlock(B, np.array([-1.0, 2.0]), 1.0, 0.3, 2.0, False),) if with_rule else ()
    X = rng.standard_normal((n, m))
    return Problem(make_design(X), y, np.full(n, 1 / n), 0.1, 1.0, rules)


def all_features(problem, count):
    """A restricted of all features, for `count` problems."""
    m, names = problem.n_features, np.arange(problem.n_features)
    at, of = problem.rule_positions(names)
    C = np.zeros((problem.stack.n_rows, m))
    C[:, at] = problem.stack.coupling[:, of]
    ridge = np.tile(problem.ridge(names)[:, None], count)
    free = SignPenalties(np.zeros((m, count)), np.zeros((m, count)))
    columns = SignedColumns(problem.design, problem.y)
    return RestrictedProblem(problem.design, columns, names, ridge, C, free)


def some_in(rng, restricted, count):
    """1/ridge of `count` features that are in; one column a problem, each with its own."""
    h = np.zeros_like(restricted.ridge)
    for column, ridge in zip(h.T, restricted.ridge.T, strict=True):
        kept = rng.choice(column.size, count, replace=False)
        column[kept] = 1 / ridge[kept]
    return h


def active(h):
    """The features that are in in some problem, and 1/ridge of these."""
    kept = np.flatnonzero(h if h.ndim == 1 else h.any(axis=1))
    return kept, h[kept]


def whole_step(problem, rows, restricted, h, D, theta, residuals):
    """The Newton step of one problem by one dense system."""
    stack, n = problem.stack, rows.size
    Z = problem.design.columns(restricted.names)[rows] * problem.y[rows, None]
    V = np.vstack([-(Z * h) @ restricted.C.T, -stack.thresholds])
    M = np.diag(D)
    M[:n, :n] += (Z * h) @ Z.T
    inner = stack.curvature - (h * restricted.C) @ restricted.C.T + np.diag(theta)
    labels = np.r_[problem.y[rows], stack.of_b]
    k = inner.shape[0]
    system = np.block([
        [M, V, labels[:, None]],
        [-V.T, inner, np.zeros((k, 1))],
        [-labels[None, :], np.zeros((1, k)), np.zeros((1, 1))],
    ])  # fmt: skip
    return np.linalg.solve(system, residuals)
