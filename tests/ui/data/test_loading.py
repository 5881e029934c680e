from __future__ import annotations

import gzip
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace

import numpy as np
import pytest

from hipad.data import Table
from hipad.data import sandbox as apart
from hipad.exceptions import DataError
from tests.ui.datasets import SICK, loaded, made, table
from ui.data import loading as module
from ui.data.loading import LoadingJob, ReadingJob, build, first_preparation, likely_label
from ui.dataset import Loaded, Preparation
from ui.jobs import JobStatus
from ui.state import AppState


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ({"note": list("abcdefgh"), "Outcome": SICK}, "Outcome"),
        ({"note": list("abcdefgh"), "sick": SICK}, "sick"),
        ({"Raucher": SICK, "Diagnose": SICK}, "Diagnose"),
        ({"Diagnose (ICD)": SICK, "Raucher": SICK}, "Diagnose (ICD)"),
        ({"sex": SICK, "healed": SICK}, "healed"),
        ({"note": list("abcdefgh")}, "note"),
    ],
)
def test_the_likeliest_column_is_offered_as_label(text, label):
    assert likely_label(loaded(**text)) == label
    assert first_preparation(loaded(**text)).label == label


@pytest.mark.parametrize(
    ("column", "word"),
    [
        ("patient_id", "patient"),
        ("Patienten-Nr.", "patient"),
        ("usubjid", "patient"),
        ("customer", "customer"),
        ("Kundennummer", "customer"),
        ("part no", "part"),
        ("sampleID", "sample"),
        ("id", "row"),
    ],
)
@pytest.mark.parametrize("times", [1, 3])
def test_a_row_is_called_by_its_id_or_group(column, word, times):
    n = 60
    ids = np.array([f"A{i // times:03d}" for i in range(n)])
    sick = np.where(np.arange(n) // times % 2, "ill", "well")
    values = np.random.default_rng(0).standard_normal((n, 1))
    own = Loaded("made", Table(values, ("a",), {column: ids, "state": sick}, "made", sha256="s"))
    data = build(own, first_preparation(own), {})
    assert data.unit == word
    assert (data.groups is not None) == (times > 1)
    chosen = replace(first_preparation(own), row_word="sample")
    assert build(own, chosen, {}).unit == "sample"
    assert build(replace(own, row_word="part"), first_preparation(own), {}).unit == "part"


def test_without_a_word_in_the_table_a_row_is_a_row():
    assert made().unit == "row"


def test_what_came_with_the_data_goes_before_any_guess():
    known = replace(loaded(Outcome=SICK, sick=SICK), label="sick", positive="well")
    first = first_preparation(known)
    assert (first.label, first.positive, first.test) == ("sick", "well", "split")


def test_a_second_table_holds_the_test_patients():
    both = replace(loaded(sick=SICK), test=loaded(sick=SICK).table)
    assert first_preparation(both).test == "file"


def test_training_and_test_rows_are_apart_and_cover_the_table():
    data = made(test_fraction=0.25)
    train, test = data.patients
    assert sorted([*train, *test]) == list(range(1, 41))
    assert data.X_test.shape == (10, 4)
    assert data.counts("train") == {"well": 15, "ill": 15}
    assert data.is_sealed
    assert data.judged.X is data.X_train
    opened = replace(data, is_sealed=False)
    assert opened.judged.part == "test"
    assert opened.judged.X is opened.X_test


def test_the_summary_counts_the_gaps_of_the_file():
    data = made()
    assert dict(zip(data.feature_names, data.summary["missing"], strict=True)) == {
        "a": 0,
        "b": 1,
        "c": 0,
        "d": 0,
    }


def test_a_test_file_must_be_there():
    with pytest.raises(DataError, match="expected a second file"):
        made(test="file")


def test_patients_without_a_label_are_kept_for_learning_and_never_judge():
    whole = table()
    whole.text["state"][:4] = ""
    chosen = Preparation(label="state", positive="ill")
    data = build(Loaded("made", whole, unlabelled=table(6, labelled=False)), chosen, {})
    assert data.n_unlabelled == 10
    assert data.unlabelled_names[:2] == ("row 1", "row 2")
    assert data.unlabelled_names[-1] == "row 6 of the second file"
    X, y = data.learning_rows
    n = len(data.y_train)
    assert X.shape[0] == n + 10
    assert y[n:].tolist() == [None] * 10
    np.testing.assert_array_equal(X[:n], data.X_train)
    rows = np.concatenate(data.patients)
    assert sorted(rows) == list(range(5, 41))
    part = data.with_training(np.arange(8))
    assert part.learning_rows[0].shape[0] == 18
    without = build(Loaded("made", whole), Preparation("state", "ill", use_unlabelled=False), {})
    assert without.learning_rows[0] is without.X_train


def test_a_fit_takes_the_patients_without_a_label():
    whole = table()
    whole.text["state"][::4] = ""
    state = AppState()
    state.load(Loaded("made", whole, label="state", rules="a >= 0.2 => ill"))
    state.settings = state.settings.changed(fewness="exact", lambda1=0.1)
    model = state.request().fit()
    assert any(member.on_rows for member in model.classifier.members_)
    assert model.judgement.accuracy.n == len(state.data.y_train)


def test_loading_brings_prepared_data():
    loading = LoadingJob("made", lambda: loaded(sick=SICK))
    assert not loading.wait(0)
    loading.launch()
    assert loading.wait(30)
    arrived = loading.result()
    assert arrived.data.label == arrived.preparation.label == "sick"


def test_loading_raises_what_went_wrong_where_the_data_are_taken():
    loading = LoadingJob("made", lambda: loaded(sick=["ill"] * 8))
    loading.launch()
    assert loading.wait(30)
    with pytest.raises(DataError):
        loading.result()


def test_loading_that_is_cancelled_before_its_turn_makes_nothing():
    made, places = [], threading.Semaphore(0)
    loading = LoadingJob("made", lambda: made.append(1), slots=places)
    loading.launch()
    loading.stop()
    assert loading.wait(30)
    with pytest.raises(CancelledError):
        loading.result()
    assert not made


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
