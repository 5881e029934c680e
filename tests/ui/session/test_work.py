from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from hipad.exceptions import HipadError
from tests.ui.made_data import table
from tests.ui.session.kept import settled, worked
from ui.data.samples import clinical
from ui.dataset import Loaded
from ui.session.saved_session import SavedSession, facts_of, read_saved_session, snapshot, take_up
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
    del raw["session"]["preparation"]["use_unlabelled"]
    work, _ = read_saved_session(json.dumps(raw).encode())
    assert work.session.preparation.use_unlabelled
    assert work.unlabelled == ""
