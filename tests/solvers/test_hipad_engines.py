"""Every engine that is called by name solves the smooth problem it is given."""

import numpy as np
import pytest

from hipad.solvers.hipad import ENGINES
from tests.oracles import clarabel_enk, objective, random_problem
from tests.solvers.problems import to_problem, unit_rows

CALLED = [name for name, engine in ENGINES.items() if engine.solve is not None]


def test_the_interior_point_is_the_only_one_that_is_not_called():
    assert [name for name in ENGINES if name not in CALLED] == ["ipm"]
    words = [engine.words for engine in ENGINES.values()]
    assert all(words)
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("conditions", [(), (1, 2)])
def test_an_engine_comes_near_the_optimum_with_feasible_prices(name, conditions):
    raw = unit_rows(random_problem(3, n=25, m=6, conditions=conditions, lambda1=0.0))
    problem, features = to_problem(raw), np.arange(6)
    w, b, u, alpha = ENGINES[name].solve(problem, features, problem.design.columns(features))
    us = (u[:1], u[1:]) if conditions else ()
    best = clarabel_enk(*raw).objective
    assert np.all(u >= 0)
    assert best - 1e-8 <= objective(*raw, w, b, us) <= best * (1 + 1e-3)
    prices = np.r_[raw.p, [r.sigma for r in raw.rules]]
    assert alpha.shape == prices.shape
    assert np.all((alpha >= -1e-4) & (alpha <= prices + 1e-4))
