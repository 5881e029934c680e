"""The working set: the minimum over all features, and the largest lambda1 worth trying."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.solvers import Hipad, Settings, Status, lambda1_max
from hipad.solvers.exact import LOOSE, WorkingSet
from tests.oracles import clarabel_enk, random_problem
from tests.solvers.problems import (
    full_weights,
    oracle_objective,
    solve,
    to_problem,
    trusted_optimum,
)


@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("conditions", [(), (1,), (2, 1, 3)])
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize(("n", "m"), [(20, 12), (12, 60), (60, 4)])
def test_equals_clarabel(n, m, centered, conditions, scope):
    options = {"conditions": conditions, "scope": scope, "centered": centered}
    raw = random_problem(n + m, n=n, m=m, weighted=True, **options)
    optimum = clarabel_enk(*raw)
    found = solve(raw, method="exact")
    assert found.certificate.status is Status.SOLVED
    assert found.certificate.gap < 1e-8
    assert oracle_objective(raw, found) == pytest.approx(optimum.objective, rel=1e-8)
    np.testing.assert_allclose(full_weights(found, m), optimum.w, atol=1e-5)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.05, 0.15]))
def test_agrees_with_the_admm_on_the_features(seed, lambda1):
    raw = random_problem(seed, n=12, m=40, lambda1=lambda1)
    exact, admm = solve(raw, method="exact"), solve(raw, method="admm", tolerance=1e-9)
    assert exact.certificate.status is Status.SOLVED
    differ = np.setxor1d(exact.features, admm.features)
    w = full_weights(exact, 40) - full_weights(admm, 40)
    assert np.all(np.abs(w[differ]) < 1e-5), "only a feature on the brink may be judged otherwise"


def test_the_set_grows_until_no_feature_is_missing():
    raw = random_problem(1, n=10, m=400, lambda1=0.02)
    problem = to_problem(raw)
    grown = WorkingSet(problem, start=np.array([7]))
    grown._reach_optimum = lambda: False  # the interior point alone
    rounds = list(grown.steps())
    sizes = [r.features.size for r in rounds]
    assert grown.complete
    assert not grown.limited
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 3
    arrived = np.concatenate([r.added for r in rounds])
    np.testing.assert_array_equal(np.sort(arrived), grown.features)
    w = np.zeros(400)
    w[grown.features] = grown.weights
    np.testing.assert_allclose(w, clarabel_enk(*raw).w, atol=1e-5)


@pytest.mark.parametrize("scope", ["population", "typical"])
def test_the_pull_is_lambda1_and_what_the_ridge_holds(scope):
    raw = random_problem(1, n=10, m=100, scope=scope)
    problem = to_problem(raw)
    working = WorkingSet(problem)
    list(working.steps())
    w = np.zeros(100)
    w[working.features] = working.weights
    kept, held = w != 0, problem.ridge(np.arange(100)) * np.abs(w)
    np.testing.assert_allclose(working.gradient[kept], raw.lambda1 + held[kept], atol=1e-6)
    assert np.all(working.gradient[~kept] <= raw.lambda1 + 1e-6)
    assert np.any(kept[problem.stack.features])


@pytest.mark.parametrize("limit", [{"max_rounds": 1}, {"max_iterations": 3}, {"max_steps": 3}])
def test_a_limit_is_told(limit):
    problem = to_problem(random_problem(1, n=10, m=400, lambda1=0.02))
    grown = WorkingSet(problem, start=np.array([7]), **limit)
    grown._reach_optimum = lambda: False  # the interior point alone
    list(grown.steps())
    assert grown.limited


def test_reads_the_data_once_a_round():
    problem = to_problem(random_problem(2, n=10, m=50))
    working = WorkingSet(problem)
    working._reach_optimum = lambda: False
    rounds = {r.features.size for r in working.steps()}
    assert working.passes == 1 + len(rounds) + len(LOOSE), "one to begin, one for each accuracy"


@pytest.mark.parametrize("conditions", [(), (1,), (1, 2)])
def test_without_lambda1_it_is_phase_two_on_all_features(conditions):
    raw = random_problem(3, n=10, m=200, conditions=conditions, lambda1=0.0)
    found = solve(raw, method="exact")
    assert found.certificate.status is Status.SOLVED
    assert found.features.size == 200
    assert oracle_objective(raw, found) == pytest.approx(clarabel_enk(*raw).objective, rel=1e-8)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([(), (1,), (1, 2), (2, 1, 1)]), st.booleans())
def test_above_lambda1_max_nothing_enters(seed, conditions, weighted):
    options = {"conditions": conditions, "centered": seed % 2 == 0}
    raw = random_problem(seed, n=9, m=20, weighted=weighted, **options)
    largest = lambda1_max(to_problem(raw))
    optimum = trusted_optimum(raw._replace(lambda1=largest * (1 + 1e-6)))
    assert np.max(np.abs(optimum.w)) < 1e-6


@pytest.mark.parametrize("method", ["hipad", "admm", "exact"])
@pytest.mark.parametrize("conditions", [(), (1,), (1, 1)])
@pytest.mark.parametrize("centered", [False, True])
def test_lambda1_max_is_the_edge(centered, conditions, method):
    raw = random_problem(4, n=20, m=30, conditions=conditions, centered=centered)
    largest = lambda1_max(to_problem(raw))
    above = solve(raw._replace(lambda1=1.01 * largest), method=method)
    below = solve(raw._replace(lambda1=0.98 * largest), method=method)
    assert above.features.size == 0
    assert above.certificate.status is Status.SOLVED
    assert above.certificate.primal_objective == pytest.approx(
        clarabel_enk(*raw._replace(lambda1=1.01 * largest)).objective, rel=1e-6
    )
    assert 0 < below.features.size < 30


def test_progress_of_the_exact_method():
    raw = random_problem(5, n=12, m=40)
    run = Hipad(to_problem(raw), Settings(method="exact"))
    for progress in run:
        solution = run.solution()
        assert progress.phase == 1
        assert progress.objective == pytest.approx(oracle_objective(raw, solution), rel=1e-10)
        assert progress.support_size == solution.features.size
