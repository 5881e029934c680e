from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from hipad.data import read_table
from hipad.exceptions import DataError, HipadError
from tests.ui.datasets import table
from tests.ui.session.saved import settled, worked
from tests.ui.sessions import PIMA, readable
from ui.data.samples import CARDS, MOST_ENTRIES, check_size, clinical
from ui.dataset import Loaded
from ui.session.saved_session import (
    SavedSession,
    facts_of,
    read_saved_session,
    reopen,
    snapshot,
    take_up,
)
from ui.session.session_file import read_session, session_of
from ui.settings import RunSettings
from ui.state import AppState


@pytest.fixture(scope="module")
def before():
    return worked(seed=3)


def test_everything_is_there_again(before):
    taken = snapshot(before)
    after = AppState()
    take_up(after, read_saved_session(taken.work.to_json().encode())[0], taken.own)
    settled(after)
    assert after.preparation == before.preparation
    assert np.array_equal(after.data.X_train, before.data.X_train)
    assert after.rules.edits == before.rules.edits
    assert after.blocks == before.blocks
    assert after.settings == before.settings
    assert after.pinned_model.judgement == before.pinned_model.judgement
    assert np.allclose(after.model.weights, before.model.weights)
    assert after.request().made(after.model)
    assert facts_of(taken.work) == {"rules": 1, "models": 1, "run": True}


def test_an_undone_version_and_the_sliders_come_back(before):
    before.rules.undo()
    before.tuning.base, before.tuning.draft = before.rules.text, "a >= 4 => sick"
    taken, after = snapshot(before), AppState()
    before.rules.redo()
    take_up(after, taken.work, taken.own)
    assert after.rules.can_redo
    assert after.rules.text == "a >= 5 => sick"
    assert after.tuning.draft == "a >= 4 => sick"
    settled(after)


def test_a_sample_needs_no_table_of_its_own():
    state = AppState()
    state.load(clinical("pima"))
    taken = snapshot(state)
    assert not taken.own
    assert taken.work.title.startswith("Diabetes")
    after = AppState()
    take_up(after, taken.work, {})
    assert after.data.n_features == state.data.n_features


def test_a_test_file_comes_back(before):
    loaded = replace(before.loaded, test=before.loaded.table)
    state = AppState()
    state.load(loaded, replace(before.preparation, test="file"))
    taken, after = snapshot(state), AppState()
    assert set(taken.own) == {"table", "test"}
    take_up(after, taken.work, taken.own)
    assert len(after.data.y_test) == len(state.data.y_test) == 60


def test_without_its_table_a_work_says_so(before):
    after = AppState()
    with pytest.raises(HipadError, match="upload it again"):
        take_up(after, snapshot(before).work, {})
    assert after.data is None


def test_damaged_works_end_in_a_sentence(before):
    whole = snapshot(before).work.to_json()
    draw, refused = random.Random(1), 0
    for _ in range(150):
        content = json.loads(whole)
        place = content if draw.random() < 0.5 else content["session"]
        place[draw.choice(list(place))] = draw.choice(
            [None, -1, 10**9, [], {}, "x" * 200, "\ud800"]
        )
        try:
            work, _ = read_saved_session(json.dumps(content).encode())
        except HipadError:
            refused += 1
        else:
            assert isinstance(work, SavedSession)
    assert refused > 80
    for content in (b"", b"a,b\n1,2", whole.encode()[:-9], b"\xff{"):
        with pytest.raises(HipadError):
            read_saved_session(content)


def test_patients_without_a_label_come_back():
    state = AppState()
    others = table(5, labelled=False)
    state.load(Loaded("made", table(), unlabelled=others, unlabelled_name="more.csv"))
    taken, after = snapshot(state), AppState()
    assert taken.own["unlabelled"] is others
    take_up(after, read_saved_session(taken.work.to_json().encode())[0], taken.own)
    assert after.data.n_unlabelled == 5
    assert after.loaded.unlabelled_name == "more.csv"


def test_a_work_of_an_earlier_version_opens(before):
    raw = json.loads(snapshot(before).work.to_json())
    del raw["unlabelled"], raw["session"]["unlabelled"]
    del raw["session"]["preparation"]["use_unlabelled"], raw["session"]["preparation"]["row_word"]
    work, _ = read_saved_session(json.dumps(raw).encode())
    assert work.session.preparation.use_unlabelled
    assert work.session.preparation.row_word == ""
    assert work.unlabelled == ""


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
    assert list(state.refitting.failed) == ["bad"]


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
