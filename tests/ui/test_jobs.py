from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequests,
    ScriptRequestType,
)

from hipad.exceptions import RuleError
from hipad.solvers import Progress
from ui import jobs
from ui.jobs import BackgroundJob, FairScheduler, JobStatus, budgeted_job, fit_job, thinned
from ui.server import lifespan


def record(step: int) -> Progress:
    none = np.zeros(0, dtype=int)
    return Progress(1, step, 1.0 / step, step, none, none, 0, 0.1, 0.1, np.zeros(1), 0.0)


class Steps:
    """A run of so many steps."""

    def __init__(self, n: int) -> None:
        self.n, self.at, self.stopped = n, 0, False

    def __iter__(self):
        return self

    def __next__(self):
        if self.stopped or self.at == self.n:
            raise StopIteration
        self.at += 1
        return record(self.at)

    def stop(self):
        self.stopped = True

    def resume(self):
        self.stopped = False

    def finish(self):
        return self.at


def job(n=10, **more) -> BackgroundJob[int]:
    more.setdefault("slots", threading.Semaphore(1))
    return fit_job(lambda: Steps(n), lambda at: at, **more)


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


def test_a_job_runs_to_its_end():
    it = job()
    it.launch()
    it.wait(20)
    assert it.is_final
    assert it.outcome == 10
    assert [r.iteration for r in it.history] == list(range(1, 11))


def test_stop_keeps_the_model_so_far_and_going_on_finishes_it():
    it = job(40, speed=100)
    it.launch()
    until(lambda: len(it.history) >= 3)
    it.stop()
    it.wait(20)
    assert it.status is JobStatus.STOPPED
    assert not it.is_final
    assert it.outcome == len(it.history) < 40
    it.speed = None
    it.go_on()
    it.wait(20)
    assert it.is_final
    assert it.outcome == len(it.history) == 40


def test_pause_holds_the_run_and_frees_its_place():
    places = threading.Semaphore(1)
    first = job(10_000, speed=200, slots=places)
    first.launch()
    until(lambda: len(first.history) >= 2)
    first.pause()
    until(lambda: first.status is JobStatus.PAUSED)
    steps = len(first.history)
    second = job(slots=places)
    second.launch()
    second.wait(20)
    assert second.is_final
    assert len(first.history) == steps
    first.go_on()
    until(lambda: len(first.history) > steps)
    first.stop()
    first.wait(20)
    assert first.status is JobStatus.STOPPED


def test_a_paused_job_stops_though_no_place_is_free():
    places = threading.Semaphore(1)
    it = job(10_000, speed=200, slots=places)
    it.launch()
    until(lambda: it.status is JobStatus.RUNNING)
    it.pause()
    until(lambda: it.status is JobStatus.PAUSED)
    assert places.acquire(timeout=5)
    it.stop()
    it.wait(20)
    assert it.status is JobStatus.STOPPED
    assert not places.acquire(blocking=False)


def test_a_job_waits_for_a_free_place():
    places = threading.Semaphore(1)
    first, second = job(10_000, speed=200, slots=places), job(slots=places)
    first.launch()
    until(lambda: first.status is JobStatus.RUNNING)
    second.launch()
    time.sleep(0.15)
    assert second.status is JobStatus.WAITING
    assert not second.history
    first.stop()
    second.wait(20)
    assert second.is_final


def test_a_waiting_job_can_be_stopped():
    it = job(slots=threading.Semaphore(0))
    it.launch()
    it.stop()
    it.wait(20)
    assert it.status is JobStatus.STOPPED
    assert it.outcome is None


@pytest.mark.parametrize("paused", [False, True])
def test_a_job_that_nobody_sees_ends_itself(paused):
    it = job(10_000, speed=50, unseen_seconds=0.2)
    it.launch()
    if paused:
        it.pause()
    it.wait(20)
    assert it.status is JobStatus.STOPPED
    assert "closed" in it.reason


def test_a_job_that_is_seen_goes_on():
    it = job(60, speed=100, unseen_seconds=0.3)
    it.launch()
    while it.is_active:
        it.seen()
        time.sleep(0.02)
    assert it.is_final


def test_what_the_user_did_wrong_is_told_and_what_we_did_wrong_is_not_detailed():
    def wrong_rule():
        raise RuleError("no feature is called 'Glukose'")

    def our_fault():
        raise KeyError("patient 17 has a secret")

    for start, told in ((wrong_rule, "Glukose"), (our_fault, "KeyError")):
        it = fit_job(start, lambda at: at, slots=threading.Semaphore(1))
        it.launch()
        it.wait(20)
        assert it.status is JobStatus.FAILED
        assert told in it.error
        assert "secret" not in it.error


def test_a_failed_job_gives_its_place_back():
    places = threading.Semaphore(1)
    it = fit_job(lambda: 1 / 0, lambda at: at, slots=places)
    it.launch()
    it.wait(20)
    assert places.acquire(timeout=1)


def test_thinning_keeps_the_ends():
    history = [record(n) for n in range(1, 2_001)]
    thin = thinned(history, 500)
    assert len(thin) == 500
    assert thin[0] is history[0]
    assert thin[-1] is history[-1]
    assert thinned(history[:20]) == history[:20]


def endless(budget):
    """Work that goes on until its budget ends."""
    yield "begun"
    while not budget.is_spent:
        time.sleep(0.01)
    yield "ended"


def job_of(work=endless, **options):
    return budgeted_job(work, **{"slots": threading.BoundedSemaphore(1), **options})


def test_a_short_check_is_done_at_the_first_look():
    job = job_of(lambda budget: iter([1, 2, 3]))
    job.launch()
    job.watch(30)
    assert (not job.is_active, job.outcome, job.error, job.was_stopped) == (True, 3, None, False)


def test_a_long_check_shows_what_it_has():
    job = job_of(seconds=60)
    job.launch()
    job.watch(0.3)
    assert (not job.is_active, job.outcome) == (False, "begun")
    job.stop()
    job.watch(30)
    assert not job.is_active
    assert job.was_stopped


def test_its_time_ends_it():
    job = job_of(seconds=0.1)
    job.launch()
    job.watch(30)
    assert (not job.is_active, job.outcome, job.was_stopped) == (True, "ended", False)


def test_it_ends_when_nobody_looks():
    job = job_of(seconds=60, unseen_seconds=0.1)
    job.launch()
    job._thread.join(30)
    assert (not job.is_active, job.was_stopped) == (True, True)


def test_one_that_waits_for_a_place_can_be_stopped():
    places = threading.BoundedSemaphore(1)
    with places:
        job = job_of(slots=places)
        job.launch()
        job.watch(0.2)
        assert job.outcome is None
        job.stop()
        job.watch(30)
        assert not job.is_active
    assert places.acquire(timeout=1)


def test_errors_are_kept_as_sentences_without_values():
    def refused(budget):
        raise RuleError("expected this, got that")
        yield

    def broken(budget):
        raise ValueError("patient 17")
        yield

    for work, words in ((refused, "expected this, got that"), (broken, "ValueError")):
        job = job_of(work)
        job.launch()
        job.watch(30)
        assert words in job.error
        assert "17" not in job.error


def drawing(turns: FairScheduler, done: threading.Event, *given: object) -> threading.Thread:
    def draw() -> None:
        with turns.timer(*given):  # type: ignore[arg-type]
            done.set()

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    return thread


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(jobs, "TIMER_SECONDS", 3600.0)


def test_a_timer_rests_while_a_page_is_drawn():
    turns, done = FairScheduler(), threading.Event()
    with turns.page():
        drawing(turns, done)
        assert not done.wait(0.2)
        with turns.resting():
            assert done.wait(60)
    done.clear()
    with turns.page():
        drawing(turns, done)
        assert not done.wait(0.2)
    assert done.wait(60)


def test_a_timer_that_is_no_longer_wanted_does_not_rest():
    turns, done = FairScheduler(), threading.Event()
    with turns.page():
        drawing(turns, done, lambda: False)
        assert done.wait(60)


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(jobs, "TIMER_SECONDS", 0.05)
    fair, done = FairScheduler(), threading.Event()
    with fair.page():
        drawing(fair, done)
        assert done.wait(60)
        fair.give_way(0.05)  # comes back


def test_few_timers_are_drawn_at_once():
    fair, done = FairScheduler(), threading.Event()
    with fair.timer(), fair.timer():
        drawing(fair, done)
        assert not done.wait(0.2)
    assert done.wait(60)


def test_a_fit_gives_way_to_a_page():
    fair, done = FairScheduler(), threading.Event()

    def step() -> None:
        fair.give_way(3600)
        done.set()

    with fair.page():
        threading.Thread(target=step, daemon=True).start()
        assert not done.wait(0.2)
    assert done.wait(60)


def test_streamlits_runs_schedule_runs(monkeypatch):
    """The parts of Streamlit that are not public are as they were when this was written."""
    seen: list[tuple[int, int]] = []
    fair = FairScheduler()
    monkeypatch.setattr(lifespan, "SCHEDULER", fair)
    monkeypatch.setattr(
        ScriptRunner, "_run_script", lambda *_: seen.append((len(fair._pages), len(fair._timers)))
    )
    monkeypatch.setattr(lifespan.config, "get_option", lifespan.config.get_option)
    lifespan.schedule_runs()
    assert lifespan.config.get_option("server.address") == "127.0.0.1"
    with pytest.raises(RuntimeError, match="not defined"):
        lifespan.config.get_option("server.nowhere")
    runner = SimpleNamespace(_requests=ScriptRequests())
    assert runner._requests._state is ScriptRequestType.CONTINUE
    ScriptRunner._run_script(runner, RerunData())  # type: ignore[arg-type]
    by_itself = RerunData(fragment_id_queue=["a"], is_auto_rerun=True)
    ScriptRunner._run_script(runner, by_itself)  # type: ignore[arg-type]
    ScriptRunner._run_script(runner, RerunData(fragment_id_queue=["a"]))  # type: ignore[arg-type]
    assert seen == [(1, 0), (0, 1), (1, 0)]
    assert not fair._pages
    assert not fair._timers
