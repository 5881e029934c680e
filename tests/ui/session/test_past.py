from __future__ import annotations

from tests.ui.made_data import SICK, loaded
from ui.state import AppState, StateSnapshot


def session():
    state = AppState()
    state.load(loaded(sick=SICK))
    state.rules.change("a >= 3 => ill", "written")
    return state


def test_what_was_set_aside_is_put_back():
    state = session()
    before = {name: getattr(state, name) for name in StateSnapshot.NAMES if name != "rules"}
    past = StateSnapshot.of(state, "for a test")
    state.unload()
    past.put_back(state)
    assert {name: getattr(state, name) for name in before} == before
    assert state.rules.text == "a >= 3 => ill"


def test_rules_that_change_later_leave_it_as_it_was():
    state = session()
    past = StateSnapshot.of(state, "for a test")
    state.rules.change("a >= 4 => ill", "later")
    past.put_back(state)
    assert state.rules.text == "a >= 3 => ill"


def test_it_says_what_there_is_to_go_back_to():
    state = session()
    assert StateSnapshot.of(state, "").words == "made: its rules"
    state.keep(state.request().fit().named("m"))
    assert StateSnapshot.of(state, "").words == "made: 1 kept model"
    state.launch()
    state.job.wait(60)
    assert StateSnapshot.of(state, "").words == "made: 1 kept model and a run"
