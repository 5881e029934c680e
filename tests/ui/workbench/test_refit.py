from __future__ import annotations

import pytest

from tests.ui.pima import fitted, session
from ui.workbench import refit


@pytest.fixture
def state():
    """A session that a test may change, with the model of the other."""
    fresh, (other, model) = session(), fitted()
    fresh.data = other.data  # the same object, so that a fit can begin from the model
    fresh.keep(model)
    fresh.pinned = model.name
    refit.follow_rules(fresh)
    return fresh


def test_the_sliders_begin_with_the_rules_and_begin_anew_when_these_change(state):
    assert state.tuning.draft == state.tuning.base == state.rules.text
    turn = state.tuning.turn
    refit.follow_rules(state)
    assert state.tuning.turn == turn
    state.rules.change("Age >= 50 => diabetic", "another")
    refit.follow_rules(state)
    assert state.tuning.turn == turn + 1
    assert state.tuning.draft == "Age >= 50 => diabetic"


def test_a_draft_is_fitted_once_with_the_sparsity_of_the_pinned_model(state):
    base = state.pinned_model
    state.tuning.draft = "Age >= 50 => diabetic"
    model = refit.refitted(state, base)
    assert model.classifier.lambda1_ == base.classifier.lambda1_
    assert refit.refitted(state, base) is model
    state.tuning.draft = "Age >= 51 => diabetic"
    assert refit.refitted(state, base) is not model


def test_a_long_fit_is_asked_for_only_when_something_moved(state):
    base = state.pinned_model
    refit.refitted(state, base)
    state.tuning.seconds = 60.0
    assert not refit.must_ask(state, base)
    state.tuning.draft = "Age >= 52 => diabetic"
    assert refit.must_ask(state, base)


def test_apply_writes_the_draft_and_reset_takes_it_back(state):
    before = state.rules.text
    state.tuning.draft = before.replace("126", "127")
    refit.reset(state)
    assert state.tuning.draft == before
    state.tuning.draft = before.replace("126", "127")
    refit.apply(state)
    assert state.rules.text == before.replace("126", "127")
    assert state.rules.edits[-1].what.startswith("workbench: ")


def test_rules_that_are_off_or_do_not_fit_are_left_out(state):
    state.tuning.draft = "off Age >= 1 => diabetic\nzzz >= 1 => diabetic\nBMI >= 1 => diabetic"
    assert [rule.label for rule in refit.draft_rules(state)] == ["rule 3"]
