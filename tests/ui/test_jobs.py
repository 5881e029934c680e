from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.solvers import Progress
from ui.jobs import BackgroundJob, JobStatus, fit_job, thinned


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
