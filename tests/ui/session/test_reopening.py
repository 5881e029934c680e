from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.data import read_table
from hipad.exceptions import DataError, HipadError
from tests.ui.sessions import PIMA, readable
from ui.data.samples import CARDS, MOST_ENTRIES, check_size
from ui.dataset import Loaded
from ui.session.saved_session import reopen
from ui.session.session_file import read_session, session_of
from ui.settings import RunSettings
from ui.state import AppState


@pytest.fixture
def state():
    state = AppState()
    yield state
    if state.refitting is not None:
        state.refitting.job.stop()
        state.refitting.job.wait(60)


def small_pima():
    """A table with some columns of the sample and few rows."""
    rows = [
        f"{100 + 2 * j},{20 + j % 9},{30 + j},{['healthy', 'diabetic'][j % 2]}" for j in range(40)
    ]
    content = "\n".join(["Glucose,BMI,Age,Diagnosis", *rows]).encode()
    return Loaded("pima", read_table(content, "pima.csv"))


def opened(state, session):
    reopen(state, session.to_json().encode())
    if state.refitting is not None:
        state.refitting.job.wait(60)
    state.take_refitted()
    return state


def test_models_are_fitted_again_and_the_pinned_one_is_pinned(state):
    opened(state, PIMA)
    assert [model.name for model in state.models] == ["first"]
    assert state.pinned == "first"
    assert state.waiting == ()
    assert session_of(state).models[0].name == "first"


def test_a_model_that_cannot_be_fitted_is_told_and_the_others_are_there(state):
    (first,) = PIMA.models
    bad = replace(first, name="bad", rules="no such >= 3 => rule")
    opened(state, replace(PIMA, models=(bad, first)))
    assert [model.name for model in state.models] == ["first"]
    assert list(state.refitting.fits.failed) == ["bad"]


def test_models_not_fitted_yet_stay_in_the_session(state, monkeypatch):
    monkeypatch.setattr("ui.session.session_file.MOST_STEPS", 1)
    (first,) = PIMA.models
    opened(state, replace(PIMA, models=(first, replace(first, name="second"))))
    assert state.waiting
    assert [recipe.name for recipe in session_of(state).models] == ["first", "second"]
    monkeypatch.setattr("ui.session.session_file.MOST_STEPS", 10**6)
    state.refitting.go_on()
    state.refitting.job.wait(60)
    state.take_refitted()
    assert [model.name for model in state.models] == ["first", "second"]


def test_fits_end_when_nobody_looks(state):
    endless = RunSettings(fewness="exact", method="admm", tolerance=1e-12, max_sweeps=1_000_000)
    (first,) = PIMA.models
    models = tuple(replace(first, name=f"m{j}", settings=endless) for j in range(50))
    reopen(state, replace(PIMA, models=models).to_json().encode())
    job = state.refitting.job
    job._last_seen -= 1_000
    job.wait(60)
    assert not job.is_active
    assert len(state.waiting) > 0


def test_other_data_end_the_fits(state):
    reopen(state, PIMA.to_json().encode())
    job = state.refitting.job
    reopen(state, replace(PIMA, models=()).to_json().encode())
    job.wait(60)
    assert state.refitting is None
    assert state.models == []


def test_what_cannot_be_taken_up_leaves_everything_as_it_was(state):
    opened(state, PIMA)
    before = (state.loaded, state.data, state.rules.text, list(state.models), state.settings)
    bad = [
        replace(PIMA, preparation=replace(PIMA.preparation, label="nowhere")),
        replace(PIMA, preparation=replace(PIMA.preparation, positive="nobody")),
        replace(PIMA, sample="another"),
        replace(PIMA, draw={"seed": 3}),
        replace(PIMA, sample="ksvm-s-10k", draw={"n_features": 200_000, "n_test": 5_000}),
        replace(PIMA, sample="ksvm-s-10k", draw={"n_features": 8, "block_size": 50}),
    ]
    for session in bad:
        with pytest.raises(DataError):
            reopen(state, session.to_json().encode())
        assert before == (
            state.loaded, state.data, state.rules.text, list(state.models), state.settings,
        )  # fmt: skip


def test_the_samples_as_they_are_may_be_drawn():
    check_size("10k", {})
    check_size("50k", {})
    with pytest.raises(DataError, match=f"{MOST_ENTRIES:,}"):
        check_size("50k", {"noise": (0.5, 0.5), "n_test": 5_000})


def test_doctored_sessions_that_are_read_open_or_say_why_not(state):
    state.load(small_pima())
    done = 0
    for _, session in readable(3_000, seed=9):
        done += 1
        session = replace(session, models=(), data_key=state.loaded.key)
        try:
            reopen(state, session.to_json().encode())
        except HipadError as error:
            str(error).encode()
        assert read_session(session_of(state).to_json().encode())
    assert done > 200


@pytest.mark.parametrize("sample", ["all-bcrabl", "pima"])
def test_a_model_is_the_same_after_its_session_was_saved_and_reopened(state, sample):
    """Watched, kept, tuned away and back, saved, reopened: one answer each time."""
    before = AppState()
    before.load(next(card for card in CARDS if card.key == sample).load())
    kept = before.request(name="kept").fit()
    before.keep(kept)
    rules = before.rules.text.splitlines()
    moved = before.request(rules="\n".join(rules[:-1])).fit(like=kept)
    back = before.request().fit(like=moved)
    opened(state, session_of(before))
    for model in (back, state.models[0]):
        assert model.support.tolist() == kept.support.tolist()
        np.testing.assert_allclose(model.weights, kept.weights, rtol=0, atol=1e-6)
        assert model.judgement == kept.judgement
