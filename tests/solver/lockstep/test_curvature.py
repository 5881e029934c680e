"""The Newton step against the system itself, solved as a whole."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hipad.designs import make_design
from hipad.solver import Problem, RuleBlock
from hipad.solver.lockstep.curvature import Curvature, Inside


def inside(problem, names):
    at, of = problem.rule_positions(names)
    C = np.zeros((problem.stack.n_rows, names.size))
    C[:, at] = problem.stack.coupling[:, of]
    return Inside(problem.design, names, names, 1 / problem.ridge(names), C)


def whole_system(problem, rows, part, D, theta):
    stack, n = problem.stack, rows.size
    Z = problem.design.columns(part.columns)[rows] * problem.y[rows, None]
    V = np.vstack([-(Z * part.h) @ part.C.T, -stack.thresholds])
    M = np.diag(D)
    M[:n, :n] += (Z * part.h) @ Z.T
    inner = stack.curvature - (part.h * part.C) @ part.C.T + np.diag(theta)
    labels = np.r_[problem.y[rows], stack.of_b]
    k = inner.shape[0]
    return np.block([
        [M, V, labels[:, None]],
        [-V.T, inner, np.zeros((k, 1))],
        [-labels[None, :], np.zeros((1, k)), np.zeros((1, 1))],
    ])  # fmt: skip


@pytest.mark.parametrize("with_rule", [False, True])
@pytest.mark.parametrize("sets", [[3], [40], [40, 45, 60], [3, 50, 2], [50, 48]])
def test_the_step_solves_the_system_however_the_features_came(sets, with_rule):
    rng = np.random.default_rng(0)
    n, m = 20, 70
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    B = sp.csr_array(([-1.0, 0.5], ([0, 1], [0, 1])), shape=(2, m))
    rules = (RuleBlock(B, np.array([-1.0, 2.0]), 1.0, 0.3, 2.0, False),) if with_rule else ()
    problem = Problem(
        make_design(rng.standard_normal((n, m))), y, np.full(n, 1 / n), 0.1, 1.0, rules
    )
    rows = np.arange(0, n, 2) if not with_rule else np.arange(n)
    system, size = Curvature(problem, rows), rows.size + problem.stack.n_rules
    for count in sets:
        part = inside(problem, np.sort(rng.choice(m, count, replace=False)))
        D, theta = rng.random(size) + 0.1, rng.random(problem.stack.n_rows) + 0.1
        system.factorize(part, D, theta)
        r, b, u = rng.standard_normal(size), 0.7, rng.standard_normal(theta.size)
        step = system.solve(r, b, u)
        exact = np.linalg.solve(whole_system(problem, rows, part, D, theta), np.r_[r, u, b])
        np.testing.assert_allclose(np.r_[step.alpha, step.u, step.b], exact, atol=1e-8)
