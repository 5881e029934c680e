from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import pytest

from hipad.exceptions import DataError
from tests.ui.made_data import SICK, loaded
from ui.data.loading import LoadingJob


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
