from __future__ import annotations

import base64
from dataclasses import replace

import numpy as np
import pytest

from tests.ui.pima import fitted
from ui.workbench import pictures as module
from ui.workbench.pictures import Pictures


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


@pytest.fixture
def pictures():
    state, model = fitted()
    return Pictures(state.data, model)


def test_every_feature_has_a_cell_of_its_own_region(pictures):
    regions, cell_of = pictures.field
    assert sorted(cell_of.tolist()) == list(range(pictures.data.n_features))
    assert sum(region["features"] for region in regions) == pictures.data.n_features
    begin = 0
    for region, columns in zip(regions, pictures.data.blocks.values(), strict=False):
        inside = (cell_of >= begin) & (cell_of < begin + region["cells"])
        assert set(np.flatnonzero(inside)) <= set(columns.tolist())
        begin += region["cells"]


def test_lights_have_the_sign_of_the_weight_and_the_largest_is_brightest(pictures):
    state, model = fitted()
    shown = pictures.of(model)
    levels = dict(zip(numbers(shown["cells"], "<u4"), numbers(shown["levels"], "i1"), strict=True))
    for j in model.support:
        assert np.sign(levels[pictures.field[1][j]]) == np.sign(model.weights[j])
    assert max(map(abs, map(int, levels.values()))) == module.BRIGHTEST
    assert "no changed answer" in shown["words"]
    assert numbers(shown["scores"], "<f4") == pytest.approx(model.scores(state.data.X_train), 1e-5)


def test_features_that_share_a_cell_show_the_strongest(monkeypatch):
    state, model = fitted()
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    shared = Pictures(replace(state.data, blocks={}), model)
    shown = shared.of(model)
    cells, levels = numbers(shown["cells"], "<u4"), numbers(shown["levels"], "i1")
    weights = np.abs(module.comparable_weights(model, state.data))
    for cell, level in zip(cells, levels, strict=True):
        own = np.flatnonzero(shared.field[1] == cell)
        strongest = own[np.argmax(weights[own])]
        assert np.sign(level) == np.sign(model.weights[strongest])
    assert shown["names"] == []


def test_many_patients_become_as_many_dots_as_can_be_seen(monkeypatch):
    state, model = fitted()
    monkeypatch.setattr(module, "MOST_DOTS", 50)
    few = Pictures(state.data, model)
    assert len(few.rows) == 50
    assert len(numbers(few.of(model)["scores"], "<f4")) == 50
    assert set(numbers(few.setting["truth"], "u1")) == {0, 1}


def test_what_changed_is_said_in_words(pictures):
    state, _ = fitted()
    other = state.request(rules="Age >= 50 => diabetic worth 400 patients").fit()
    words = pictures.of(other)["words"]
    changed = int(np.sum((pictures.before > 0) != (other.scores(state.data.X_train) > 0)))
    assert f"{changed:,} of {len(pictures.before):,} training patients changed answer" in words
