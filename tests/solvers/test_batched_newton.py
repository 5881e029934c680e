"""The Newton step of one problem against the system itself, solved as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.solvers import batched as curvature
from hipad.solvers.batched import Curvature
from tests.solvers.newton_systems import (
    active,
    all_features,
    small_problem,
    some_in,
    whole_step,
)


@pytest.mark.parametrize("little", [0, curvature.LITTLE])
@pytest.mark.parametrize("with_rule", [False, True])
@pytest.mark.parametrize("sets", [[3], [40], [40, 45, 60], [3, 50, 2], [50, 48]])
def test_the_step_solves_the_system_however_the_features_came(sets, with_rule, little, monkeypatch):
    monkeypatch.setattr(curvature, "LITTLE", little)
    rng = np.random.default_rng(0)
    problem = small_problem(rng, 20, 70, with_rule)
    rows = np.arange(20) if with_rule else np.arange(0, 20, 2)
    system, size = Curvature(problem, rows), rows.size + problem.stack.n_rules
    restricted = all_features(problem, 1)
    for count in sets:
        h = some_in(rng, restricted, count)[:, 0]
        D, theta = rng.random(size) + 0.1, rng.random(problem.stack.n_rows) + 0.1
        system.factorize(restricted, *active(h), D, theta)
        r, b, u = rng.standard_normal(size), 0.7, rng.standard_normal(theta.size)
        step = system.solve(r, b, u)
        exact = whole_step(problem, rows, restricted, h, D, theta, np.r_[r, u, b])
        np.testing.assert_allclose(np.r_[step.alpha, step.u, step.b], exact, atol=1e-8)


def test_features_that_stay_are_not_multiplied_again(monkeypatch):
    monkeypatch.setattr(curvature, "LITTLE", 0)
    rng = np.random.default_rng(1)
    problem = small_problem(rng, 20, 70, with_rule=False)
    restricted, system = all_features(problem, 1), Curvature(problem, np.arange(20))
    h = some_in(rng, restricted, 40)[:, 0]
    system.factorize(restricted, *active(h), np.ones(20), np.zeros(0))
    read = []
    some = restricted.columns.some
    monkeypatch.setattr(restricted.columns, "some", lambda at: read.append(at.size) or some(at))
    h[np.flatnonzero(h)[0]] = 0.0
    system.factorize(restricted, *active(h), np.ones(20), np.zeros(0))
    assert sum(read) == 1
