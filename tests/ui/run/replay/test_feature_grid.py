from __future__ import annotations

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.run.records import record
from ui.data.samples import clinical, synthetic
from ui.run.replay.feature_grid import (
    FALSE,
    FOR_NEGATIVE,
    FOR_POSITIVE,
    OUT,
    PASSING,
    FeatureGrid,
    true_signs,
)
from ui.run.replay.run_animation import frames_of, shown_steps
from ui.state import AppState


def loaded(load):
    state = AppState()
    state.load(load)
    return state


@pytest.fixture(scope="module")
def small():
    return loaded(synthetic("10k", n_train=10, n_test=4, n_features=60, block_size=5))


def column(*features):
    return np.array(features, dtype=np.int64)


def test_every_feature_has_a_cell_of_its_own_and_blocks_come_first(small):
    grid = FeatureGrid.of(small.data, None)
    assert [region.name for region in grid.regions] == ["K1", "K2", "K3", "K4", "no block"]
    assert sorted(grid.cell_of) == list(range(60))
    assert grid.cell_of[small.data.blocks["K2"]].tolist() == [5, 6, 7, 8, 9]


def test_too_many_features_share_cells_within_their_region(small):
    grid = FeatureGrid.of(small.data, None, most=20)
    assert grid.n_cells <= 20 + len(grid.regions)
    assert [region.n_features for region in grid.regions] == [5, 5, 5, 5, 40]
    ends = np.cumsum([region.n_cells for region in grid.regions])
    for columns, end in zip(small.data.blocks.values(), ends, strict=False):
        assert (grid.cell_of[columns] < end).all()


def test_a_feature_of_two_blocks_stands_in_the_first():
    state = loaded(clinical("pima"))
    data = state.data.with_blocks({"a": "Glucose, BMI", "b": "BMI, Age"})
    assert [r.n_features for r in FeatureGrid.of(data, None).regions] == [2, 1, 5]


def test_what_is_known_of_synthetic_data_follows_the_draw(small):
    signs = true_signs(small.loaded, small.data)
    assert signs.tolist() == [1] * 10 + [-1] * 10 + [0] * 40
    turned = loaded(small.loaded)
    turned.prepare(replace(turned.preparation, positive="negative"))
    assert true_signs(turned.loaded, turned.data).tolist() == (-signs).tolist()
    assert true_signs(loaded(clinical("pima")).loaded, small.data) is None


def test_found_missed_and_false_are_counted_and_coloured(small):
    grid = FeatureGrid.of(small.data, true_signs(small.loaded, small.data))
    signs = np.zeros(60)
    signs[[0, 40]], signs[15] = 1, -1
    moves = grid.moves([(column(0, 2, 15, 40), column()), (column(), column(2))], signs)
    assert moves.inside.tolist() == [4, 3]
    assert moves.found.tolist() == [3, 2]
    assert moves.false.tolist() == [1, 1]
    first = dict(zip(moves.cells[:4].tolist(), moves.levels[:4].tolist(), strict=True))
    assert first == {0: FOR_POSITIVE, 2: PASSING, 15: FOR_NEGATIVE, 40: FALSE}
    assert (moves.cells[4:].tolist(), moves.levels[4:].tolist()) == ([2], [OUT])


def test_moves_with_the_wrong_sign_are_false(small):
    grid = FeatureGrid.of(small.data, true_signs(small.loaded, small.data))
    signs = np.zeros(60)
    signs[[0, 12]], signs[[1, 13]] = 1, -1  # K1 speaks for the positive class, K3 against it
    moves = grid.moves([(column(0, 1, 12, 13), column())], signs)
    assert (moves.found.tolist(), moves.false.tolist()) == ([2], [2])
    assert dict(zip(moves.cells.tolist(), moves.levels.tolist(), strict=True)) == {
        0: FOR_POSITIVE, 1: FALSE, 12: FALSE, 13: FOR_NEGATIVE,
    }  # fmt: skip


@given(st.lists(st.lists(st.integers(0, 29), max_size=8, unique=True), max_size=12), st.data())
def test_the_changes_replay_the_run(toggled, data):
    """Thinned or not: after each frame the lit cells are those of the features that are in."""
    history, inside, truth = [], set(), []
    for step, features in enumerate(toggled, start=1):
        came, went = sorted(set(features) - inside), sorted(set(features) & inside)
        inside = inside ^ set(features)
        history.append(record(step, came, went))
        truth.append(set(inside))
    steps = sorted(data.draw(st.sets(st.integers(1, max(len(history), 1)), min_size=1)))
    steps = [step for step in steps if step <= len(history)]
    grid = FeatureGrid((), np.arange(30), None, str)
    object.__setattr__(grid, "regions", (type("R", (), {"n_cells": 30})(),))
    moves = grid.moves(frames_of(history, steps, 30), None)
    lit = set()
    for k, step in enumerate(steps):
        part = slice(moves.offsets[k], moves.offsets[k + 1])
        for cell, level in zip(moves.cells[part], moves.levels[part], strict=True):
            lit = lit | {int(cell)} if level != OUT else lit - {int(cell)}
        assert lit == truth[step - 1]
        assert moves.inside[k] == len(lit)


def test_a_restless_run_stays_small():
    state = loaded(synthetic("50k", n_train=10, n_test=4))
    grid = FeatureGrid.of(state.data, None)
    rng = np.random.default_rng(0)
    inside, history = np.zeros(50_000, dtype=bool), []
    for step in range(1, 301):
        touched = rng.choice(50_000, 1_000, replace=False)
        history.append(record(step, touched[~inside[touched]], touched[inside[touched]]))
        inside[touched] = ~inside[touched]
    _, places, moves = shown_steps(history, grid, None)
    assert places[-1] == 300
    assert len(json.dumps(grid.as_dict(moves))) < 2**20
    assert moves.inside[-1] == inside.sum()


def test_numbers_reach_the_browser_whole(small):
    grid = FeatureGrid.of(small.data, None)
    told = grid.as_dict(grid.moves([(column(7), column())], None))
    cells = np.frombuffer(base64.b64decode(told["cells"]), "<u4")
    assert cells.tolist() == [7]
    assert told["names"] == [f"x{j}" for j in range(60)]
