"""PIQP as engine of phase 2: the same model as the interior point's."""

import numpy as np
import pytest

from hipad.solvers import Status
from tests.oracles import clarabel_enk, objective, random_problem
from tests.solvers.problems import solve, to_problem, unit_rows

pytest.importorskip("piqp", reason="PIQP is not installed")


@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("conditions", [(), (2, 1, 3)])
@pytest.mark.parametrize(("n", "m"), [(20, 12), (12, 40), (60, 4)])
@pytest.mark.parametrize("anchored", [False, True])
def test_equals_clarabel(n, m, anchored, conditions, scope):
    from hipad.solvers.piqp_engine import solve_piqp

    options = {"conditions": conditions, "scope": scope, "centered": anchored}
    raw = random_problem(n, n=n, m=m, weighted=True, **options)
    raw = raw._replace(lambda1=0.0)
    w, b, u, alpha = solve_piqp(to_problem(raw), np.arange(m), raw.X)
    us = np.split(u, np.cumsum([len(r.d) for r in raw.rules])[:-1]) if raw.rules else []
    found = objective(*unit_rows(raw), w, b, us)
    assert found == pytest.approx(clarabel_enk(*raw).objective, rel=1e-6)
    assert np.all(u >= 0)
    ceiling = np.r_[raw.p, [r.sigma for r in raw.rules]]
    assert np.all((alpha >= 0) & (alpha <= ceiling))


@pytest.mark.parametrize("conditions", [(), (1, 2)])
def test_both_engines_give_the_same_model(conditions):
    raw = random_problem(3, n=15, m=40, conditions=conditions)
    ipm, piqp = (solve(raw, phase2_solver=engine) for engine in ("ipm", "piqp"))
    np.testing.assert_array_equal(ipm.features, piqp.features)
    np.testing.assert_allclose(piqp.w, ipm.w, rtol=0, atol=1e-8)
    assert piqp.b == pytest.approx(ipm.b, abs=1e-8)
    assert piqp.certificate.status is Status.SOLVED
    assert not piqp.certificate.message


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_classifier_takes_it(loss):
    from hipad import HIPADClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 12)), np.arange(30) % 2
    X[:, :3] += y[:, None]
    own = {"lambda1": 0.05, "loss": loss, "method": "hipad"}
    rules = "x0 >= 1 => positive\nx1 is raised in positive"
    ipm, piqp = (
        HIPADClassifier(rules, solver={"phase2_solver": engine}, **own).fit(X, y)
        for engine in ("ipm", "piqp")
    )
    np.testing.assert_allclose(piqp.coef_, ipm.coef_, rtol=0, atol=1e-7)
    assert "PIQP" in piqp.solver_
    assert not piqp.certificate_.message
