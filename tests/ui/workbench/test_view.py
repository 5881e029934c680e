from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.ui.pima import fitted, session
from ui.workbench import refit, view
from ui.workbench.controls import widget_key
from ui.workbench.sliders import threshold_sliders, weight_sliders


@pytest.fixture
def state():
    fresh, (other, model) = session(), fitted()
    fresh.data = other.data
    fresh.keep(model)
    fresh.pinned = model.name
    refit.follow_rules(fresh)
    return fresh


@pytest.fixture
def take(state, monkeypatch):
    """Take over what the browser says."""
    text, data = state.tuning.draft, state.data
    found = [*threshold_sliders(text, data), *weight_sliders(text, data.n_patients, data.read)]
    sliders = {slider.name: slider for slider in found}

    def say(**move):
        said = {view.KEY: {"moved": move}}
        monkeypatch.setattr(view, "st", SimpleNamespace(session_state=said))
        view.take_move(state, data, sliders)

    return say


def test_a_move_writes_the_draft_once(state, take):
    move = {"client": "a", "n": 3, "turn": state.tuning.turn, "values": {"threshold_0_0": 140}}
    take(**move)
    assert "Glucose >= 140" in state.tuning.draft
    assert state.tuning.seen == {"client": "a", "n": 3}
    refit.reset(state)
    take(**{**move, "turn": state.tuning.turn})  # the same again, as every run of the page tells it
    assert state.tuning.draft == state.tuning.base


def test_a_move_of_sliders_that_were_drawn_anew_since_is_not_taken(state, take):
    take(client="a", n=1, turn=state.tuning.turn - 1, values={"threshold_0_0": 140})
    assert state.tuning.draft == state.tuning.base


def test_rules_are_switched_and_plain_widgets_follow(state, take):
    before = widget_key(state, "on_1"), widget_key(state, "threshold_0_0")
    take(client="a", n=1, turn=state.tuning.turn, values={}, on={"1": False})
    assert [r.enabled for r in state.data.read(state.tuning.draft).rules] == [True, False]
    assert widget_key(state, "on_1") != before[0]
    assert widget_key(state, "threshold_0_0") == before[1]


@pytest.mark.parametrize(
    "move",
    [
        {"values": {"threshold_9_9": 1}},
        {"values": {"threshold_0_0": "x"}},
        {"values": None},
        {"values": {}, "on": {"99": True}},
        {"values": {}, "on": {"-1": False}},
        {"values": {}, "on": {"x": True}},
        {"values": {}, "on": [1]},
    ],
)
def test_what_no_page_of_ours_says_changes_nothing(state, take, move):
    take(client="a", n=1, turn=state.tuning.turn, **move)
    assert state.tuning.draft == state.tuning.base
