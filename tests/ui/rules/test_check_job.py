from __future__ import annotations

import threading
import time

from hipad.exceptions import RuleError
from ui.rules.checks import CheckJob


def endless(budget):
    """Work that goes on until its budget ends."""
    yield "begun"
    while not budget.is_spent:
        time.sleep(0.01)
    yield "ended"


def job_of(work=endless, **options):
    return CheckJob(work, **{"places": threading.BoundedSemaphore(1), **options})


def test_a_short_check_is_done_at_the_first_look():
    job = job_of(lambda budget: iter([1, 2, 3]))
    job.launch()
    job.wait(30)
    assert (job.is_done, job.latest, job.error, job.was_left) == (True, 3, None, False)


def test_a_long_check_shows_what_it_has():
    job = job_of(seconds=60)
    job.launch()
    job.wait(0.3)
    assert (job.is_done, job.latest) == (False, "begun")
    job.stop()
    job.wait(30)
    assert job.is_done
    assert job.was_left


def test_its_time_ends_it():
    job = job_of(seconds=0.1)
    job.launch()
    job.wait(30)
    assert (job.is_done, job.latest, job.was_left) == (True, "ended", False)


def test_it_ends_when_nobody_looks():
    job = job_of(seconds=60, unseen_seconds=0.1)
    job.launch()
    job._thread.join(30)
    assert (job.is_done, job.was_left) == (True, True)


def test_one_that_waits_for_a_place_can_be_stopped():
    places = threading.BoundedSemaphore(1)
    with places:
        job = job_of(places=places)
        job.launch()
        job.wait(0.2)
        assert job.latest is None
        job.stop()
        job.wait(30)
        assert job.is_done
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
        job.wait(30)
        assert words in job.error
        assert "17" not in job.error
