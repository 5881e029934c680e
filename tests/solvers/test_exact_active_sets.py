"""From a guess of the sets to the optimum: against Clarabel and the conditions themselves."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

from hipad.solvers import Hipad, Settings
from hipad.solvers.exact import WarmStart, gradient_on_all, optimum_from, refined
from tests.oracles import clarabel_enk, objective, random_problem
from tests.solvers.problems import full_weights, to_problem, trusted_optimum, unit_rows


def guess_of(raw, best, near=1e-5):
    """The sets at an optimum, read off its margins; prices on the margin are anything between."""
    rules = [r.of_b * best.b - r.d @ u for r, u in zip(raw.rules, best.us, strict=True)]
    margins = np.r_[raw.y * (raw.X @ best.w + best.b), rules]
    prices = np.r_[raw.p, [r.sigma for r in raw.rules]]
    alpha = prices * np.select([margins > 1 + near, margins < 1 - near], [0.0, 1.0], 0.5)
    features = np.flatnonzero(np.abs(best.w) > near)
    u = np.concatenate([*best.us, []])
    return WarmStart(features, best.w[features], np.where(u > near, u, 0.0), alpha)


def value(raw, w, b, u):
    cuts = np.cumsum([len(r.d) for r in raw.rules])[:-1]
    return objective(*raw, w, b, np.split(u, cuts) if raw.rules else [])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    conditions=st.sampled_from([(), (1,), (1, 2)]),
    scope=st.sampled_from(["population", "typical"]),
    centered=st.booleans(),
)
def test_from_good_sets_every_condition_holds_to_rounding(seed, conditions, scope, centered):
    raw = unit_rows(
        random_problem(seed, conditions=conditions, scope=scope, centered=centered, weighted=True)
    )
    best, problem = trusted_optimum(raw), to_problem(raw)
    found = optimum_from(problem, guess_of(raw, best))
    if found is None:
        return  # allowed where a row or feature is on the brink; the next test shows it is rare
    w = np.zeros(problem.n_features)
    w[found.features] = found.w
    assert value(raw, w, found.b, found.u) <= best.objective + 1e-9
    ridge, l1 = problem.ridge(np.arange(w.size)), raw.lambda1
    np.testing.assert_allclose((ridge * w + l1 * np.sign(w) - found.gradient)[w != 0], 0, atol=1e-9)
    assert np.all(np.abs(found.gradient[w == 0]) <= l1 * (1 + 1e-8))
    assert np.all(found.u >= 0)
    labels = np.r_[raw.y, [r.of_b for r in raw.rules]]
    assert labels @ found.alpha == pytest.approx(0, abs=1e-9)


def test_good_sets_are_nearly_always_enough():
    problems = [unit_rows(random_problem(seed, weighted=True)) for seed in range(20)]
    found = [optimum_from(to_problem(raw), guess_of(raw, clarabel_enk(*raw))) for raw in problems]
    assert sum(one is not None for one in found) >= 18


@pytest.mark.parametrize("wrong", ["forgotten", "needless"])
@pytest.mark.parametrize("seed", range(4))
def test_a_forgotten_feature_joins_and_a_needless_one_leaves(seed, wrong):
    raw = random_problem(seed, n=60, conditions=(), weighted=True)
    problem, warm_start = to_problem(raw), guess_of(raw, clarabel_enk(*raw))
    right = optimum_from(problem, warm_start)
    w = np.zeros(problem.n_features)
    w[right.features] = right.w
    kept, out = np.flatnonzero(w), np.flatnonzero(w == 0)
    if wrong == "forgotten":
        w[kept[np.argmin(np.abs(w[kept]))]] = 0.0
    else:
        w[out[0]] = np.sign(right.gradient[out[0]])
    found = optimum_from(problem, warm_start._replace(features=np.flatnonzero(w), w=w[w != 0]))
    assert found is not None
    assert found.features[found.w != 0].tolist() == kept.tolist()
    np.testing.assert_allclose(found.w[found.w != 0], right.w[right.w != 0], atol=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_a_bad_guess_ends_in_no_answer_or_the_right_one(seed):
    raw = random_problem(seed, weighted=True)
    problem, none = to_problem(raw), np.zeros(0, dtype=int)
    rng = np.random.default_rng(seed)
    prices = np.r_[problem.p, problem.stack.sigma]
    alpha = prices * rng.integers(0, 3, prices.size) / 2
    found = optimum_from(
        problem, WarmStart(none, np.zeros(0), np.zeros(problem.stack.n_rows), alpha)
    )
    if found is not None:
        w = np.zeros(problem.n_features)
        w[found.features] = found.w
        best = clarabel_enk(*raw).objective
        assert value(unit_rows(raw), w, found.b, found.u) == pytest.approx(best, abs=1e-9)


def scaled_rules(problem, times):
    """The problem with rules that count for this many times as much."""
    rules = [replace(r, sigma=times * r.sigma, rho=times * r.rho) for r in problem.rules]
    return replace(problem, rules=tuple(rules))


@settings(max_examples=20)
@example(83)  # a rule reaches its full weight while no row holds the intercept
@given(st.integers(0, 10_000))
def test_the_sets_of_other_rule_weights_end_in_no_answer_or_the_right_one(seed):
    raw = random_problem(seed, n=14, m=4, conditions=(1,), centered=True, lambda1=0.0)
    problems = [scaled_rules(to_problem(raw), times) for times in (0.1, 0.3, 1.0, 3.0, 10.0)]
    runs = [Hipad(problem, Settings(fastest=True)) for problem in problems]
    optima = [full_weights(run.run(), 4) for run in runs]
    for problem, optimum in zip(problems, optima, strict=True):
        for other in runs:
            found = refined(problem, other.polished.warm_start)
            if found is not None and other.polished.features.size == 4:
                np.testing.assert_allclose(found.w, optimum, atol=1e-8)


@pytest.mark.parametrize("conditions", [(), (1, 2)])
def test_without_the_l1_term_the_features_are_kept_as_they_are(conditions):
    raw = unit_rows(random_problem(3, m=6, conditions=conditions, lambda1=0.0, weighted=True))
    best, everything = clarabel_enk(*raw), np.arange(6)
    warm_start = guess_of(raw, best)._replace(features=everything, w=best.w)
    found = refined(to_problem(raw), warm_start)
    np.testing.assert_allclose(found.w, best.w, atol=1e-5)
    assert value(raw, found.w, found.b, found.u) <= best.objective + 1e-10


def test_the_pull_is_that_of_samples_and_rules():
    raw = unit_rows(random_problem(4, conditions=(2, 1)))
    problem, rng = to_problem(raw), np.random.default_rng(0)
    alpha, u = rng.random(problem.n_samples + 2), rng.random(3)
    wanted = raw.X.T @ (raw.y * alpha[:-2])
    for r, own in zip(raw.rules, (u[:2], u[2:]), strict=True):
        wanted -= r.rho * r.sign * (r.B.T @ own)
    np.testing.assert_allclose(gradient_on_all(problem, alpha, u), wanted, atol=1e-13)
