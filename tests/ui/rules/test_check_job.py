from __future__ import annotations

import threading
import time

from hipad.exceptions import RuleError
from ui.jobs import budgeted_job


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
