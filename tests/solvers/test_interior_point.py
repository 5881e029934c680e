"""Phase 2 against Clarabel and scikit-learn, in both forms of the Newton system."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from hipad.solvers.interior_point import DualNewton, InteriorPoint, PrimalNewton
from tests.oracles import clarabel_enk, objective, random_problem
from tests.solvers.problems import to_problem, unit_rows

FORMS = [DualNewton, PrimalNewton]


def solve(raw, form=None, features=None, **options):
    """Interior point on some features (default: all), with the given Newton system."""
    problem = to_problem(raw)
    features = np.arange(problem.n_features) if features is None else features
    ipm = InteriorPoint(problem, features, **options)
    if form is not None:
        ipm.newton = form(problem, features)
    ipm.run()
    return ipm


def value(raw, ipm):
    """F at the interior point's iterate, by the oracle's formula."""
    w = np.zeros(raw.X.shape[1])
    w[ipm.features] = ipm.point.w
    cuts = np.cumsum([len(r.d) for r in raw.rules])[:-1]
    us = np.split(ipm.point.u, cuts) if raw.rules else []
    return objective(*unit_rows(raw), w, ipm.point.b, us)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("conditions", [(), (1,), (2, 1, 3)])
@pytest.mark.parametrize(("n", "m"), [(20, 12), (12, 60), (60, 4)])
@pytest.mark.parametrize("centered", [False, True])
def test_equals_clarabel(n, m, centered, conditions, scope, form):
    options = {"conditions": conditions, "scope": scope, "centered": centered}
    raw = random_problem(n, n=n, m=m, weighted=True, **options)
    raw = raw._replace(lambda1=0.0)
    optimum = clarabel_enk(*raw)
    ipm = solve(raw, form)
    assert ipm.converged
    assert not ipm.limited
    assert ipm.iterations < 25
    assert value(raw, ipm) == pytest.approx(optimum.objective, rel=1e-8)
    np.testing.assert_allclose(ipm.point.w, optimum.w, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_equals_clarabel_on_the_features_kept(form):
    raw = random_problem(3, n=20, m=30)._replace(lambda1=0.0)
    problem = to_problem(raw)
    kept = np.union1d(problem.stack.features, [3, 17, 21])
    rules = tuple(r._replace(B=r.B[:, kept]) for r in raw.rules)
    optimum = clarabel_enk(*raw._replace(X=raw.X[:, kept], rules=rules))
    ipm = solve(raw, form, kept)
    assert value(raw, ipm) == pytest.approx(optimum.objective, rel=1e-8)


@pytest.mark.parametrize("scope", ["population", "typical"])
def test_no_point_is_better_where_a_rule_names_features_not_kept(scope):
    raw = random_problem(4, n=20, m=12, scope=scope)._replace(lambda1=0.0)
    kept = to_problem(raw).stack.features[::2]
    ipm = solve(raw, None, kept)
    best, rng = value(raw, ipm), np.random.default_rng(0)
    at = ipm.point
    for size in (1e-3, 1e-1):
        for _ in range(50):
            w = np.zeros(12)
            w[kept] = at.w + size * rng.standard_normal(kept.size)
            u = np.maximum(at.u + size * rng.standard_normal(at.u.size), 0.0)
            b = at.b + size * rng.standard_normal()
            assert objective(*unit_rows(raw), w, b, np.split(u, [1])) >= best - 1e-10


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lambda1", [0.02, 0.2])
def test_equals_clarabel_with_the_lasso_term(lambda1, form):
    raw = random_problem(5, n=20, m=15, lambda1=lambda1, weighted=True)
    optimum = clarabel_enk(*raw)
    ipm = solve(raw, form, lambda1=lambda1)
    assert ipm.converged
    assert value(raw, ipm) == pytest.approx(optimum.objective, rel=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "m"), [(30, 8), (20, 50)])
@pytest.mark.parametrize("lambda2", [0.01, 1.0, 30.0])
def test_without_rules_equals_libsvm(n, m, lambda2, form):
    raw = random_problem(n, n=n, m=m, conditions=(), lambda2=lambda2, weighted=True)
    raw = raw._replace(lambda1=0.0)
    svc = SVC(kernel="linear", C=1 / (n * lambda2), tol=1e-10)
    svc.fit(raw.X, raw.y, sample_weight=n * raw.p)
    ipm = solve(raw, form)
    theirs = objective(*raw, svc.coef_[0], svc.intercept_[0], ())
    # LIBSVM keeps its kernel in single precision: never better, and worse by as much at most
    assert value(raw, ipm) <= theirs * (1 + 1e-10)
    assert value(raw, ipm) == pytest.approx(theirs, abs=1e-7)
    np.testing.assert_allclose(ipm.point.w, svc.coef_[0], atol=1e-5)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.floats(-3, 6), st.floats(-3, 3))
def test_both_forms_agree_at_any_stiffness_and_worth(seed, l2, rho, sigma):
    raw = random_problem(seed, n=10, m=8, lambda2=10**l2)
    rules = (r._replace(rho=10**rho * r.rho, sigma=10**sigma * r.sigma) for r in raw.rules)
    raw = raw._replace(lambda1=0.0, rules=tuple(rules))
    dual, primal = (solve(raw, form) for form in FORMS)
    assert value(raw, dual) == pytest.approx(value(raw, primal), rel=1e-6)


def test_records_tell_the_way_to_the_solution():
    raw = random_problem(6)
    ipm = InteriorPoint(to_problem(raw), np.arange(12))
    steps = list(ipm.steps())
    assert [s.iteration for s in steps] == list(range(1, len(steps) + 1))
    assert steps[-1].complementarity < ipm.tolerance < steps[-2].complementarity
    assert all(0 < s.step <= 1 for s in steps)
    assert max(steps[-1].primal_residual, steps[-1].dual_residual) < 1e-10


def test_prices_and_multipliers_stay_inside():
    raw = random_problem(7, conditions=(1, 2))
    ipm = InteriorPoint(to_problem(raw), np.arange(12), lambda1=0.05)
    for _ in ipm.steps():
        for pair in ipm.point.pairs:
            assert np.all(pair.x > 0)
            assert np.all(pair.z > 0)


def test_stops_at_its_limit_and_says_so():
    ipm = solve(random_problem(8), max_iterations=3)
    assert ipm.iterations == 3
    assert ipm.limited
    assert not ipm.converged
