from __future__ import annotations

import pytest

from hipad.exceptions import DataError
from ui.state import AppState, attempt


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DataError("expected more"), "expected more"),
        (MemoryError(), "expected data that fit in memory"),
        (KeyError("patient 7"), "this failed inside the program (KeyError): nothing changed"),
    ],
)
def test_what_fails_is_told_without_values_of_patients(error, words):
    state = AppState()
    assert not attempt(state, raising(error))
    assert state.error.startswith(words)
    assert "patient 7" not in state.error


def test_what_succeeds_takes_the_last_error_away():
    state = AppState(error="old")
    assert attempt(state, lambda: None)
    assert state.error == ""
