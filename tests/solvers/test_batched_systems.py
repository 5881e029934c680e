"""Small systems together and large ones one by one give the same steps."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.solvers import batched as stacked
from hipad.solvers.batched import Systems
from tests.solvers.newton_systems import active, all_features, small_problem, some_in


@pytest.mark.parametrize("with_rule", [False, True])
@pytest.mark.parametrize("count", [4, 60])
def test_together_or_one_by_one_the_steps_are_the_same(monkeypatch, count, with_rule):
    rng = np.random.default_rng(0)
    problem = small_problem(rng, 20, 70, with_rule)
    seen = np.ones((20 + problem.stack.n_rules, 3), dtype=bool)
    seen[:5, 1] = False
    restricted, left = all_features(problem, 3), np.array([0, 1])
    h = some_in(rng, restricted, count)
    D, theta = rng.random(seen.shape) + 0.1, rng.random((problem.stack.n_rows, 3)) + 0.1
    rows, b, u = rng.standard_normal(seen.shape), rng.standard_normal(3), np.ones_like(theta)
    steps = []
    for largest in (stacked.LARGEST, 0):
        monkeypatch.setattr(stacked, "LARGEST", largest)
        systems = Systems(problem, seen)
        assert systems.factorize(restricted, *active(h), D, theta, left).tolist() == [0, 1]
        steps.append(systems.solve(rows, b, u))
        assert systems.going.tolist() == [True, True, False]
    for one, other in zip(*steps, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
        assert not one.T[2].any()


@pytest.mark.parametrize("largest", [stacked.LARGEST, 0])
def test_a_problem_that_cannot_be_solved_stays_where_it_is(monkeypatch, largest):
    monkeypatch.setattr(stacked, "LARGEST", largest)
    rng = np.random.default_rng(1)
    problem = small_problem(rng, 20, 70, with_rule=False)
    restricted, D = all_features(problem, 2), np.ones((20, 2))
    D[:, 0] = -1e3
    systems = Systems(problem, np.ones((20, 2), dtype=bool))
    h, theta = some_in(rng, restricted, 40), np.zeros((0, 2))
    assert systems.factorize(restricted, *active(h), D, theta, np.arange(2)).tolist() == [1]
    step = systems.solve(np.ones((20, 2)), np.zeros(2), np.zeros((0, 2)))
    assert not step.alpha[:, 0].any()
    assert step.alpha[:, 1].any()
