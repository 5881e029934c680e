"""A stack of Newton systems against each system, solved as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.solvers.batched import LARGEST, StackedSystems
from tests.solvers.newton_systems import (
    active,
    all_features,
    small_problem,
    some_in,
    whole_step,
)


@pytest.mark.parametrize("with_rule", [False, True])
@pytest.mark.parametrize("count", [1, 4, 60])
def test_every_step_solves_its_own_system(count, with_rule):
    rng = np.random.default_rng(0)
    problem = small_problem(rng, 20, 70, with_rule)
    seen = np.ones((20 + problem.stack.n_rules, 3), dtype=bool)
    seen[:5, 1], seen[14:20, 2] = False, False
    restricted, left = all_features(problem, 3), np.array([0, 2])
    h = some_in(rng, restricted, count)
    D, theta = rng.random(seen.shape) + 0.1, rng.random((problem.stack.n_rows, 3)) + 0.1
    system = StackedSystems(problem, seen)
    assert not system.factorize(restricted, *active(h), D, theta, left).any()
    rows, b = rng.standard_normal(seen.shape) * seen, rng.standard_normal(3)
    u = rng.standard_normal(theta.shape)
    step = system.solve(rows[:, left].T, b[left], u[:, left].T)
    for i, k in enumerate(left):
        own = seen[:, k]
        residuals = np.r_[rows[own, k], u[:, k], b[k]]
        exact = whole_step(
            problem,
            np.flatnonzero(own[:20]),
            restricted,
            h[:, k],
            D[own, k],
            theta[:, k],
            residuals,
        )
        found = np.r_[step.alpha[i, own], step.u[i], step.b[i]]
        np.testing.assert_allclose(found, exact, atol=1e-8)
        assert not step.alpha[i, ~own].any()


def test_a_matrix_that_is_not_positive_stops_its_own_problem_only():
    rng = np.random.default_rng(1)
    problem = small_problem(rng, 20, 70, with_rule=False)
    restricted, D = all_features(problem, 2), np.ones((20, 2))
    D[:, 1] = -1e3
    h = some_in(rng, restricted, 40)
    found = StackedSystems(problem, np.ones((20, 2), dtype=bool)).factorize(
        restricted, *active(h), D, np.zeros((0, 2)), np.arange(2)
    )
    assert found.tolist() == [False, True]


def test_few_rows_or_few_features_make_small_systems():
    rng = np.random.default_rng(2)
    seen = np.ones((LARGEST + 80, 1), dtype=bool)
    system = StackedSystems(small_problem(rng, LARGEST + 80, 300, with_rule=False), seen)
    assert system.suits(LARGEST)
    assert not system.suits(LARGEST + 1)
    assert StackedSystems(small_problem(rng, 20, 300, with_rule=False), seen[:20]).suits(300)
