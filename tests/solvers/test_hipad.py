"""The driver: a run can be watched, paused, stopped and continued, and it tells what happened."""

from dataclasses import fields
from itertools import islice

import numpy as np
import pytest

from hipad.solvers import Hipad, Progress, Settings, Status, lambda1_max
from hipad.solvers.admm import PaperTest, SupportTest
from tests.oracles import clarabel_enk, random_problem
from tests.solvers.problems import full_weights, oracle_objective, solve, to_problem

METHODS = ["hipad", "admm", "exact"]


def raw_problem(seed=0, **options):
    return random_problem(seed, **{"n": 15, "m": 60, "lambda1": 0.06} | options)


def start(method="hipad", raw=None, **settings):
    return Hipad(to_problem(raw or raw_problem()), Settings(method=method, **settings))


def assert_same_history(one, other):
    """All but the time."""
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        for field in fields(Progress):
            if field.name != "seconds":
                np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name))


@pytest.mark.parametrize("method", METHODS)
def test_a_pause_changes_nothing(method):
    whole, broken = start(method), start(method)
    solution = whole.run()
    seen = []
    while not broken.finished:
        for progress in broken:
            seen.append(progress)
            if progress.iteration % 3 == 0:
                break
    assert seen == broken.history
    assert_same_history(broken.history, whole.history)
    np.testing.assert_array_equal(broken.solution().w, solution.w)


@pytest.mark.parametrize("method", METHODS)
def test_looking_at_the_model_changes_nothing(method):
    quiet, watched = start(method), start(method)
    solution = quiet.run()
    for _ in watched:
        assert watched.solution().certificate.status is Status.STOPPED
    assert_same_history(quiet.history, watched.history)
    assert watched.solution().certificate == solution.certificate


@pytest.mark.parametrize("method", METHODS)
def test_stop_then_resume(method):
    whole, stopped = start(method), start(method)
    whole.run()
    for progress in stopped:
        if progress.iteration == 4:
            stopped.stop()
    assert len(stopped.history) == 4
    assert stopped.solution().certificate.status is Status.STOPPED
    assert not stopped.finished
    assert list(stopped) == []
    stopped.resume()
    solution = stopped.run()
    assert stopped.finished
    assert solution.certificate.status is Status.SOLVED
    assert_same_history(stopped.history, whole.history)


def test_stopped_in_phase_two():
    run = start()
    for progress in run:
        if progress.phase == 2:
            run.stop()
    solution = run.solution()
    assert run.history[-1].phase == 2
    assert solution.certificate.status is Status.STOPPED
    assert solution.selection.status is not Status.STOPPED


@pytest.mark.parametrize("method", METHODS)
def test_there_is_a_model_before_the_first_step(method):
    run = start(method)
    run.stop()
    solution = run.solution()
    assert solution.certificate.status is Status.STOPPED
    assert np.isfinite(solution.certificate.primal_objective)


@pytest.mark.parametrize("method", ["hipad", "admm"])
def test_no_sweep_at_all(method):
    solution = start(method, max_sweeps=0).run()
    assert solution.features.size == 0
    assert solution.certificate.status is Status.LIMIT


@pytest.mark.parametrize("conditions", [(), (1, 2)])
@pytest.mark.parametrize("shape", [{"n": 15, "m": 60}, {"n": 60, "m": 15}])
@pytest.mark.parametrize("method", METHODS)
def test_records_add_up_to_the_support(method, shape, conditions):
    run = start(method, raw_problem(1, conditions=conditions, **shape))
    support: set[int] = set()
    for record in run:
        assert not support & set(record.entered)
        assert support >= set(record.left)
        support = (support | set(record.entered)) - set(record.left)
        assert record.support_size == len(support)
        assert record.rule_slacks.size == len(conditions)
    assert support == set(run.solution().features)


def test_records_count_sign_changes():
    run = start("admm", raw_problem(2, lambda1=0.005, lambda2=0.01))
    signs = np.zeros(60)
    total = 0
    for record in run:
        solution = run.solution()
        now = np.sign(full_weights(solution, 60))
        assert record.sign_changes == np.sum(now * signs < 0)
        signs, total = now, total + record.sign_changes
    assert total > 0


def test_records_are_in_order_and_timed():
    run = start()
    run.run()
    phases = [r.phase for r in run.history]
    assert phases == sorted(phases)
    assert set(phases) == {1, 2}
    for phase in (1, 2):
        counts = [r.iteration for r in run.history if r.phase == phase]
        assert counts == list(range(1, len(counts) + 1))
    seconds = [r.seconds for r in run.history]
    assert seconds == sorted(seconds)
    assert seconds[-1] <= run.seconds


def test_rule_slacks_are_those_of_the_model():
    raw = raw_problem(3, conditions=(1, 1))
    run = start(raw=raw)
    solution = run.run()
    problem = run.problem
    expected = problem.stack.slacks(solution.b, solution.u)
    np.testing.assert_allclose(run.history[-1].rule_slacks, expected)


def test_hipad_is_phase_two_on_the_features_of_phase_one():
    raw = raw_problem(4, conditions=())
    solution = start(raw=raw).run()
    kept = solution.features
    assert 0 < kept.size < 60
    optimum = clarabel_enk(*raw._replace(X=raw.X[:, kept], lambda1=0.0))
    assert solution.certificate.primal_objective == pytest.approx(optimum.objective, rel=1e-8)
    np.testing.assert_allclose(solution.w, optimum.w, atol=1e-5)
    assert f"the {kept.size} features kept" in str(solution.certificate)


def test_phase_one_finds_the_support_of_the_elastic_net():
    found, wanted = [], []
    for seed in range(10):
        raw = raw_problem(seed, lambda1=0.1)
        found.append(set(solve(raw).features))
        wanted.append(set(solve(raw, method="exact").features))
    shared = sum(len(a & b) for a, b in zip(found, wanted, strict=True))
    union = sum(len(a | b) for a, b in zip(found, wanted, strict=True))
    assert shared == union


def moved_threshold(raw, by=0.05):
    rules = tuple(r._replace(d=r.d - by) for r in raw.rules)
    return raw._replace(rules=rules)


@pytest.mark.parametrize(
    ("method", "n", "m"), [("hipad", 15, 60), ("admm", 15, 60), ("admm", 60, 15)]
)
def test_warm_start_reaches_the_same_solution_sooner(method, n, m):
    raw = raw_problem(5, n=n, m=m)
    first = start(method, raw)
    first.run()
    changed = to_problem(moved_threshold(raw))
    cold = Hipad(changed, Settings(method=method))
    warm = Hipad(changed, Settings(method=method), warm=first)
    expected, found = cold.run(), warm.run()
    assert warm.admm.sweeps < cold.admm.sweeps
    np.testing.assert_array_equal(found.features, expected.features)
    np.testing.assert_allclose(found.w, expected.w, atol=1e-10)
    assert found.certificate.status is expected.certificate.status is Status.SOLVED


@pytest.mark.parametrize(
    "change",
    [
        {"rules": ()},
        {"rules": random_problem(5, n=15, m=60, conditions=(1, 2, 1)).rules},
        {"lambda1": 0.02},
        {"lambda1": 0.2},
        {"lambda2": 5.0},
        {"scope": "typical"},
    ],
    ids=str,
)
def test_warm_start_survives_any_change_of_the_problem(change):
    raw = raw_problem(5)
    first = start("admm", raw)
    first.run()
    changed = raw._replace(**change)
    warm = Hipad(to_problem(changed), Settings(method="admm"), warm=first).run()
    assert warm.certificate.status is Status.SOLVED
    optimum = clarabel_enk(*changed).objective
    assert oracle_objective(changed, warm) == pytest.approx(optimum, rel=1e-6)


def test_a_warm_start_leaves_the_earlier_run_alone():
    raw = raw_problem(5)
    first, alone = start("admm", raw), start("admm", raw)
    for run in (first, alone):
        list(islice(run, 12))
    Hipad(to_problem(moved_threshold(raw)), Settings(method="admm"), warm=first).run()
    first.run(), alone.run()
    assert_same_history(first.history, alone.history)


def test_warm_start_from_an_exact_run_is_a_cold_start():
    exact = start("exact")
    exact.run()
    cold, warm = start(), Hipad(to_problem(raw_problem()), warm=exact)
    cold.run(), warm.run()
    assert_same_history(warm.history, cold.history)


@pytest.mark.parametrize("method", METHODS)
def test_above_lambda1_max_the_model_is_empty_and_true(method):
    raw = raw_problem(6, conditions=())
    raw = raw._replace(lambda1=1.1 * lambda1_max(to_problem(raw)))
    solution = solve(raw, method=method)
    assert solution.features.size == solution.w.size == 0
    assert solution.certificate.status is Status.SOLVED
    assert solution.certificate.primal_objective == pytest.approx(clarabel_enk(*raw).objective)


def test_the_papers_switch_fires_early():
    raw = raw_problem(7, lambda2=20.0)  # |w| is small beside one
    ours, theirs = start(raw=raw), start(raw=raw, phase1_stop="paper")
    ours.run(), theirs.run()
    assert theirs.admm.sweeps < ours.admm.sweeps
    assert isinstance(theirs.history[0], Progress)


class FakeShift:
    def __init__(self, entered=0, left=0, flipped=0, change=0.0, norm=1.0):
        self.entered, self.left = np.zeros(entered), np.zeros(left)
        self.flipped, self.change, self.norm = flipped, change, norm


class FakeSweep:
    def __init__(self, primal=0.0, **shift):
        self.primal, self.shift = primal, FakeShift(**shift)


@pytest.mark.parametrize(
    "disturbance",
    [{"entered": 1}, {"left": 1}, {"flipped": 1}, {"change": 0.1}, {"primal": 0.1}],
    ids=str,
)
def test_the_switch_waits_for_a_quiet_support(disturbance):
    test = SupportTest(patience=3)
    quiet = [test.passed(FakeSweep(), 5) for _ in range(3)]
    assert quiet == [False, False, True]
    assert not test.passed(FakeSweep(**disturbance), 5)


def test_the_switch_does_not_trust_an_empty_support():
    test = SupportTest(patience=1)
    assert not any(test.passed(FakeSweep(norm=0.0), 0) for _ in range(9))
    paper = PaperTest(lambda: np.zeros(3))
    paper.passed(FakeSweep(norm=0.0), 0)
    assert paper.passed(FakeSweep(norm=0.0), 0), "the paper's rule does"
