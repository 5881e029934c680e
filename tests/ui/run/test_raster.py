from __future__ import annotations

import numpy as np

from tests.ui.run.records import record
from ui.data.cards import CARDS
from ui.run.raster import MOST_ROWS, presence, raster
from ui.state import AppState


def test_presence_replays_entries_and_exits():
    history = [record(1, [3, 7]), record(2, [5], [3]), record(3), record(4, [3], [5, 7])]
    features, inside = presence(history, [1, 2, 4])
    assert features.tolist() == [3, 5, 7]
    assert inside.T.tolist() == [[True, False, True], [False, True, True], [True, False, False]]


def test_a_raster_of_a_restless_run_stays_small():
    state = AppState()
    state.load(CARDS[2].load(n_train=20, n_features=2_000))
    rng = np.random.default_rng(0)
    inside, history = set(), []
    for step in range(1, 1_001):
        came = set(rng.integers(0, 1_900, 20).tolist()) - inside
        went = {j for j in inside if rng.random() < 0.1}
        history.append(record(step, sorted(came), sorted(went)))
        inside = (inside | came) - went
    chart, text = raster(history, state.data)
    assert chart.data[0].z.shape[0] == MOST_ROWS
    assert len(chart.to_json()) < 2**20
    assert f"the {MOST_ROWS} that stayed longest are shown" in text


def test_a_run_without_steps_has_an_empty_raster():
    state = AppState()
    state.load(CARDS[1].load())
    chart, text = raster([record(1)], state.data)
    assert chart.data[0].z.shape[0] == 0
    assert text.startswith("0 features were in the model")
