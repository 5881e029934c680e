from __future__ import annotations

import gzip
import threading
import time

import pytest

from hipad.data import sandbox as apart
from hipad.exceptions import DataError
from ui.data import loading as module
from ui.data.loading import ReadingJob
from ui.jobs import JobStatus

CSV = b"a,b\n1,x\n2,y\n"
HARD_BOUND = 60  # seconds: catches a hang, times nothing


@pytest.fixture
def slow(monkeypatch):
    """Reading that goes on until it is cancelled."""

    def read(source, name, *, limits, turn, stated, progress, cancelled):
        progress(0.5, "half of it")
        while not cancelled():
            time.sleep(0.01)
        raise apart.Cancelled

    monkeypatch.setattr(module, "read_apart", read)


def until(condition):
    end = time.monotonic() + HARD_BOUND
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


def finished(reading: ReadingJob) -> ReadingJob:
    reading.launch()
    reading.wait(HARD_BOUND)
    assert not reading.is_active
    return reading


def test_a_file_becomes_a_table():
    reading = finished(ReadingJob("mine.csv", CSV))
    assert reading.status is JobStatus.FINISHED
    assert reading.outcome.numbers.tolist() == [[1.0], [2.0]]
    assert not reading.error


@pytest.mark.parametrize("content", [b"", b"%PDF", gzip.compress(CSV, mtime=0)[:-9]])
def test_what_is_wrong_with_it_is_told(content):
    reading = finished(ReadingJob("mine.csv", content))
    assert reading.status is JobStatus.FAILED
    assert reading.error.startswith("mine.csv: ")
    assert reading.outcome is None


@pytest.mark.parametrize(
    ("error", "told"), [(KeyError("patient 17"), "KeyError"), (DataError("too wide"), "too wide")]
)
def test_an_unforeseen_error_tells_its_type_alone(monkeypatch, error, told):
    def read(*_, **__):
        raise error

    monkeypatch.setattr(module, "read_apart", read)
    places = threading.Semaphore(1)
    reading = finished(ReadingJob("mine.csv", CSV, slots=places))
    assert told in reading.error
    assert "patient 17" not in reading.error
    assert places.acquire(timeout=1)


def test_cancelling_is_no_error(slow):
    reading = ReadingJob("mine.csv", CSV)
    reading.launch()
    until(lambda: reading.progress == 0.5)
    assert reading.message == "half of it"
    reading.stop()
    reading.wait(HARD_BOUND)
    assert reading.status is JobStatus.STOPPED
    assert not reading.error


def test_a_reading_that_nobody_sees_ends_itself(slow):
    reading = finished(ReadingJob("mine.csv", CSV, unseen_seconds=0.1))
    assert "out of sight" in reading.reason


def test_a_reading_waits_for_a_place_and_can_be_cancelled_meanwhile(slow):
    places = threading.Semaphore(1)
    first, second, third = (ReadingJob("mine.csv", CSV, slots=places) for _ in range(3))
    first.launch()
    until(lambda: first.status is JobStatus.RUNNING)
    second.launch()
    third.launch()
    second.stop()
    second.wait(HARD_BOUND)
    assert second.status is JobStatus.STOPPED
    assert third.status is JobStatus.WAITING
    first.stop()
    until(lambda: third.status is JobStatus.RUNNING)
    third.stop()
    third.wait(HARD_BOUND)


def test_no_more_than_two_are_read_at_once(slow):
    readings = [ReadingJob("mine.csv", CSV) for _ in range(4)]
    for reading in readings:
        reading.launch()
    until(lambda: sum(r.status is JobStatus.RUNNING for r in readings) == 2)
    time.sleep(0.2)
    assert sum(r.status is JobStatus.RUNNING for r in readings) == 2
    for reading in readings:
        reading.stop()
        reading.wait(HARD_BOUND)
