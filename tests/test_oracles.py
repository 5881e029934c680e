"""The oracles against each other: two methods that share nothing agree on the minimum."""

from itertools import islice

import numpy as np
import pytest

from tests.oracles import clarabel_enk, full_admm, objective, random_problem


def last(sweeps, count):
    return next(islice(sweeps, count - 1, None))


@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("conditions", [(), (1,), (2, 1, 3)])
@pytest.mark.parametrize(("n", "m"), [(20, 12), (8, 30), (30, 3)])
def test_full_admm_finds_clarabels_minimum(n, m, conditions, scope):
    problem = random_problem(n + m, n=n, m=m, conditions=conditions, scope=scope, weighted=True)
    optimum = clarabel_enk(*problem)
    sweep = last(full_admm(*problem, mu1=0.05, mu2=0.5, mu3=0.3, mu5=0.3, omega=1.6), 2000)
    found = objective(*problem, sweep.c, sweep.b, sweep.t)
    assert found == pytest.approx(optimum.objective, rel=1e-9)
    np.testing.assert_allclose(sweep.c, optimum.w, atol=1e-5)


@pytest.mark.parametrize("lambda1", [0.0, 0.05])
def test_no_point_near_clarabels_is_better(lambda1):
    problem = random_problem(3, lambda1=lambda1)
    optimum = clarabel_enk(*problem)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(50):
            w = optimum.w + size * rng.standard_normal(optimum.w.size)
            us = [np.maximum(0, u + size * rng.standard_normal(u.size)) for u in optimum.us]
            b = optimum.b + size * rng.standard_normal()
            assert objective(*problem, w, b, us) >= optimum.objective - 1e-11


def test_admm_takes_its_start():
    problem = random_problem(4)
    end = last(full_admm(*problem), 200)
    names = ("a", "c", "q", "gamma1", "gamma2", "gamma3")
    state = {name: getattr(end, name) for name in names}
    state |= {"t": np.concatenate(end.t), "gamma5": np.concatenate(end.gamma5)}
    resumed, whole = last(full_admm(*problem, **state), 3), last(full_admm(*problem), 203)
    np.testing.assert_allclose(resumed.w, whole.w, atol=1e-14)
    np.testing.assert_allclose(resumed.gamma1, whole.gamma1, atol=1e-14)
