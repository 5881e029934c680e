"""Losses: identities of convex analysis, and the same certified optimum by every method."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from sklearn.svm import LinearSVC

from hipad.solvers import Hipad, PenaltyFactors, Settings, Status, lambda1_max
from hipad.solvers.batched import BatchedInteriorPoint, WorkingSetSelector, near_optimum
from hipad.solvers.exact import WarmStart, middle_intercept, optimum_from
from hipad.solvers.interior_point import InteriorPoint
from hipad.solvers.losses import LOSSES, Loss
from tests.oracles import clarabel_enk, objective, random_problem
from tests.solvers.problems import full_prices, full_weights, random_prices, to_problem, unit_rows


class HuberHinge(Loss):
    """The hinge with its kink rounded off: both a bound and a curvature."""

    name, words = "huber_hinge", "hinge, rounded off"
    upper, curvature = 1.0, 0.3


ALL = [*LOSSES.values(), HuberHinge()]
SQUARED = LOSSES["squared_hinge"]
NUMBERS, WEIGHTS = st.floats(-5, 5), st.floats(0.05, 3)
losses = pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.name)
WRITTEN = {
    "hinge": lambda r: max(r, 0.0),
    "squared_hinge": lambda r: max(r, 0.0) ** 2,
    "huber_hinge": lambda r: max(r, 0.0) ** 2 / 0.6 if r < 0.3 else r - 0.15,
}


def one(value):
    return np.array([value], dtype=float)


@losses
@given(r=NUMBERS, p=WEIGHTS)
def test_the_value_is_the_formula_and_its_derivative_the_dual(loss, r, p):
    value = loss.value(one(r), one(p))[0]
    assert value == pytest.approx(p * WRITTEN[loss.name](r), abs=1e-12)
    dual = loss.dual(one(r), one(p))[0]
    for there in (r - 0.7, r + 0.4):  # the tangent lies below
        assert loss.value(one(there), one(p))[0] >= value + dual * (there - r) - 1e-12


@losses
@given(r=NUMBERS, share=st.floats(0, 1), p=WEIGHTS)
def test_fenchel_and_young_hold_with_equality_at_the_dual(loss, r, share, p):
    alpha = one(share * min(loss.upper_bounds(one(p))[0], 4.0))
    gap = loss.value(one(r), one(p)) + loss.conjugate(alpha, one(p)) - alpha * r
    assert gap[0] >= -1e-12
    assert loss.fenchel_gap(one(r), alpha, one(p))[0] == pytest.approx(gap[0], abs=1e-11)
    best = loss.dual(one(r), one(p))
    assert loss.fenchel_gap(one(r), best, one(p))[0] == pytest.approx(0.0, abs=1e-12)


@losses
@given(h=NUMBERS, g=NUMBERS, p=WEIGHTS, mu=st.floats(0.2, 5))
def test_the_proximal_step_is_moreaus(loss, h, g, p, mu):
    copy, multiplier = loss.proximal_step(one(h), one(g), mu, one(p))
    # the copy is the prox of the loss, the multiplier that of the conjugate
    assert copy == pytest.approx(loss.prox(one(h + g / mu), one(p), 1 / mu), abs=1e-12)
    assert mu * copy + multiplier == pytest.approx(g + mu * h, abs=1e-11)
    value = loss.value(copy, one(p))[0] + 0.5 * mu * (copy[0] - h - g / mu) ** 2
    grid = np.linspace(-12, 12, 2001)
    values = loss.value(grid, np.full(grid.size, p)) + 0.5 * mu * (grid - h - g / mu) ** 2
    assert value <= values.min() + 1e-12
    assert loss.fenchel_gap(copy, multiplier, one(p))[0] <= 1e-10


@losses
def test_a_conjugate_is_infinite_outside_its_bounds(loss):
    assert loss.conjugate(one(-0.1), one(1.0))[0] == np.inf
    if np.isfinite(loss.upper):
        assert loss.conjugate(one(loss.upper + 0.1), one(1.0))[0] == np.inf


@losses
@given(seed=st.integers(0, 10_000), ruled=st.booleans())
def test_the_intercept_is_the_middle_of_the_best(loss, seed, ruled):
    raw = random_problem(seed, n=9, m=4, conditions=(1, 2) if ruled else (), weighted=True)
    problem = replace(to_problem(raw), loss=loss)
    rng = np.random.default_rng(seed)
    w, u = rng.standard_normal(4) * rng.choice([0.1, 2.0]), rng.random(problem.stack.n_rows)
    scores, features = raw.X @ w, np.arange(4)
    b = middle_intercept(problem, scores, u)
    value = problem.objective(features, w, scores, b, u)
    grid = b + np.concatenate([np.linspace(-4, 4, 401), [-1e-5, 1e-5]])
    values = [problem.objective(features, w, scores, there, u) for there in grid]
    assert value <= min(values) + 1e-11
    flat = grid[np.isclose(values, value, rtol=0, atol=1e-14)]
    assert abs(flat.min() + flat.max() - 2 * b) <= 0.05


WAYS = {
    "hipad": Settings(method="exact"),
    "admm": Settings(method="admm", max_sweeps=20_000),
}
SHAPES = {
    "wide": {"n": 20, "m": 40},
    "tall": {"n": 60, "m": 8},
    "plain": {"conditions": ()},
    "centered": {"centered": True, "weighted": True},
    "typical": {"scope": "typical"},
    "ridge": {"lambda1": 0.0},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_method_finds_the_optimum_of_clarabel(way, shape, seed):
    raw = random_problem(seed, **SHAPES[shape])
    wanted = clarabel_enk(*raw, squared=True)
    found = Hipad(replace(to_problem(raw), loss=SQUARED), WAYS[way]).run()
    certificate = found.certificate
    assert certificate.status is Status.SOLVED
    assert certificate.is_optimal()
    assert certificate.primal_objective == pytest.approx(wanted.objective, rel=1e-7)
    assert certificate.dual_objective <= wanted.objective + 1e-9
    assert full_weights(found, raw.X.shape[1]) == pytest.approx(wanted.w, abs=2e-5)
    cuts = np.cumsum([len(r.d) for r in raw.rules])[:-1]
    us = np.split(found.u, cuts) if raw.rules else []
    w = full_weights(found, raw.X.shape[1])
    written = objective(*unit_rows(raw), w, found.b, us, squared=True)
    assert certificate.primal_objective == pytest.approx(written, rel=1e-12)


@pytest.mark.parametrize("engine", ["ipm", "osqp"])
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("loss", ALL[1:], ids=lambda loss: loss.name)
def test_both_phases_agree_with_the_exact_method(engine, quick, loss):
    raw = random_problem(3, n=30, m=50, lambda1=0.08)
    problem = replace(to_problem(raw), loss=loss)
    run = Hipad(problem, Settings(phase2_solver=engine, fastest=quick))
    found = run.run()
    assert found.certificate.status is Status.SOLVED
    assert found.certificate.is_optimal()
    exact = Hipad(problem, Settings(method="exact")).run()
    assert run.selected.features.tolist() == exact.features.tolist()
    if loss is SQUARED:
        part = raw._replace(lambda1=0.0, X=raw.X[:, found.features])
        rules = tuple(r._replace(B=r.B[:, found.features]) for r in raw.rules)
        named = np.unique(np.concatenate([r.B.indices for r in raw.rules]))
        if np.isin(named, found.features).all():
            wanted = clarabel_enk(*part._replace(rules=rules), squared=True)
            assert found.w == pytest.approx(wanted.w, abs=1e-5)


@losses
@given(seed=st.integers(0, 10_000))
def test_the_proofs_of_features_hold(loss, seed):
    raw = random_problem(seed, n=16, m=24, conditions=(1,), lambda1=0.07, centered=seed % 2 == 0)
    prices = random_prices(seed, 24) if seed % 3 == 0 else PenaltyFactors()
    problem = replace(to_problem(raw, prices=prices), loss=loss)
    exact = Hipad(problem, Settings(method="exact"))
    best = exact.run()
    assert best.certificate.is_optimal()
    early = Hipad(problem, Settings(method="admm", max_sweeps=1 + seed % 30))
    for run in (exact, early):
        run.run()
        known = run.certainty()
        assert np.isin(known.inside, best.features).all()
        assert not np.isin(known.outside, best.features).any()
    assert exact.certainty().undecided.size <= 1
    if loss is SQUARED:
        wanted = clarabel_enk(*raw, prices=full_prices(prices, 24), squared=True)
        assert best.certificate.primal_objective == pytest.approx(wanted.objective, rel=1e-7)


@losses
@given(seed=st.integers(0, 10_000), ruled=st.booleans())
@example(seed=269, ruled=True)  # the intercept alone meets the rule: its price and u are both zero
def test_the_largest_lambda1_is_where_the_last_feature_leaves(loss, seed, ruled):
    raw = random_problem(seed, n=15, m=9, conditions=(1,) if ruled else (), weighted=True)
    problem = replace(to_problem(raw), loss=loss)
    largest = lambda1_max(problem)
    for factor, some in ((1.001, False), (0.98, True)):
        at = problem.with_parameters(lambda1=factor * largest)
        assert (Hipad(at, Settings(method="exact")).run().features.size > 0) == some


@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.name)
def test_a_batch_of_folds_ends_where_single_problems_do(loss):
    raw = random_problem(5, n=40, m=60, lambda1=0.1)
    problem = replace(to_problem(raw), loss=loss)
    rng = np.random.default_rng(0)
    weights = rng.random((40, 3)) * (rng.random((40, 3)) < 0.8)
    weights[:, 2] = 1.0
    weights /= weights.sum(axis=0)
    batch = BatchedInteriorPoint(problem, weights, np.array([0.5, 0.5, 2.0]))
    selector = WorkingSetSelector(batch, np.full(3, 1e-9), np.full(3, 1.0 + 1e-9))
    restricted, w = selector.select(raw.lambda1)
    for k, lambda2 in enumerate((0.5, 0.5, 2.0)):
        seen = weights[:, k] > 0
        own = replace(
            problem,
            design=problem.design.rows(np.flatnonzero(seen)),
            y=raw.y[seen],
            p=weights[seen, k],
            lambda2=lambda2,
        )
        single = Hipad(own, Settings(method="exact")).run()
        full = np.zeros(60)
        full[restricted.names] = w[:, k]
        assert full == pytest.approx(full_weights(single, 60), abs=1e-5)


def test_the_active_sets_of_the_batch_lead_to_the_optimum():
    problem = replace(to_problem(random_problem(2, n=50, m=80)), loss=SQUARED)
    found = optimum_from(problem, near_optimum(problem))
    assert found is not None
    ipm = InteriorPoint(problem, np.arange(80), lambda1=problem.lambda1, tolerance=1e-12)
    ipm.run()
    w = np.zeros(80)
    w[found.features] = found.w
    assert w == pytest.approx(ipm.weights(), abs=1e-6)


def test_without_lambda1_it_is_the_model_of_liblinear():
    raw = random_problem(7, n=80, m=6, conditions=(), lambda1=0.0, lambda2=0.3)
    problem = replace(to_problem(raw), loss=SQUARED)
    found = Hipad(problem, Settings(method="exact")).run()
    # liblinear's intercept is a weight of its own: with a large constant it costs next to nothing
    theirs = LinearSVC(
        loss="squared_hinge",
        C=1 / (80 * 0.3),
        intercept_scaling=100.0,
        tol=1e-10,
        max_iter=1_000_000,
        dual=False,
    ).fit(raw.X, raw.y)
    assert full_weights(found, 6) == pytest.approx(theirs.coef_[0], abs=1e-4)
    assert found.b == pytest.approx(theirs.intercept_[0], abs=1e-3)


def test_a_warm_start_does_not_change_the_optimum():
    problem = replace(to_problem(random_problem(4, n=30, m=45)), loss=SQUARED)
    first = Hipad(problem, Settings(fastest=True))
    first.run()
    other = problem.with_parameters(lambda1=0.6 * problem.lambda1)
    warm = Hipad(other, Settings(fastest=True), warm=first).run()
    cold = Hipad(other, Settings(method="hipad")).run()
    assert warm.features.tolist() == cold.features.tolist()
    assert warm.w == pytest.approx(cold.w, abs=1e-9)


def test_a_poor_start_still_leads_nowhere_wrong():
    problem = replace(to_problem(random_problem(1, n=20, m=30)), loss=SQUARED)
    nothing = np.zeros(0)
    start = WarmStart(nothing.astype(int), nothing, np.zeros(problem.stack.n_rows), np.zeros(22))
    found = optimum_from(problem, start)
    if found is not None:
        best = Hipad(problem, Settings(method="exact")).run().certificate.primal_objective
        X = problem.design.columns(found.features)
        value = problem.objective(found.features, found.w, X @ found.w, found.b, found.u)
        assert value == pytest.approx(best, rel=1e-9)
