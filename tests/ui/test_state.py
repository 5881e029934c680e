from __future__ import annotations

import numpy as np
import pytest

from hipad.data import Table
from hipad.errors import DataError
from ui.dataset import Loaded, Preparation
from ui.state import AppState, first_preparation, likely_label


def loaded(**text):
    text = {name: np.array(values) for name, values in text.items()}
    return Loaded("made", Table(np.arange(8.0)[:, None], ("a",), text, "made", sha256="s"))


SICK = ["ill", "well"] * 4


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ({"note": list("abcdefgh"), "Outcome": SICK}, "Outcome"),
        ({"note": list("abcdefgh"), "sick": SICK}, "sick"),
        ({"note": list("abcdefgh")}, "note"),
    ],
)
def test_the_likeliest_column_is_offered_as_label(text, label):
    assert likely_label(loaded(**text)) == label
    assert first_preparation(loaded(**text)).label == label


def test_data_that_cannot_be_used_leave_everything_as_it_was():
    state = AppState()
    state.load(loaded(sick=SICK))
    before = (state.loaded, state.data, state.preparation, state.version)
    with pytest.raises(DataError):
        state.load(loaded(sick=["ill"] * 8))
    with pytest.raises(DataError):
        state.prepare(Preparation(label="nothing"))
    assert before == (state.loaded, state.data, state.preparation, state.version)


def test_without_data_there_is_nothing_to_fit_or_prepare():
    for ask in (AppState().request, lambda: AppState().prepare(Preparation(label="x"))):
        with pytest.raises(DataError, match="none are loaded"):
            ask()


def test_what_is_remembered_is_made_anew_for_another_key_only():
    state, made = AppState(), []
    for key in ("a", "a", "b", "a"):
        state.remember("thing", key, lambda key=key: made.append(key))
    assert made == ["a", "b", "a"]


def test_new_data_forget_the_models_and_what_was_remembered():
    state = AppState()
    state.load(loaded(sick=SICK))
    model = state.request().fit().named("mine")
    state.keep(model)
    state.keep(model)
    state.pinned = "mine"
    assert state.models == [model]
    assert state.pinned_model is model
    state.remember("thing", 1, lambda: 1)
    state.load(loaded(sick=SICK))
    assert (state.models, state.pinned, state.memo) == ([], "", {})
