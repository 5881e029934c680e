from __future__ import annotations

import pytest

from hipad.datasets import PRESETS, SAMPLES
from hipad.exceptions import DataError
from ui.data.samples import CARDS, DRAW, SIZES, check_size, clinical, synthetic
from ui.state import AppState


def test_every_sample_has_its_card():
    assert [card.key for card in CARDS] == [*SAMPLES, *(f"ksvm-s-{preset}" for preset in PRESETS)]
    assert [card.size for card in CARDS if card.size is not None] == list(PRESETS.values())


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.key)
def test_the_controls_allow_the_usual_size(card):
    for name, allowed in SIZES.items():
        usual = getattr(card.size, name, allowed.low)
        assert allowed.low <= usual <= allowed.high


@pytest.mark.parametrize("name", SAMPLES)
def test_a_clinical_sample_brings_everything_a_run_needs(name):
    state = AppState()
    state.load(clinical(name))
    assert not state.data.blocks_failed
    assert state.data.blocks
    assert state.rules.text.strip()
    assert state.data.classes[1] == state.loaded.positive


def test_a_synthetic_sample_is_drawn_as_asked():
    loaded = synthetic("10k", n_train=20, n_features=300, seed=3)
    assert loaded.table.numbers.shape == (20, 300)
    assert loaded.test.numbers.shape == (PRESETS["10k"].n_test, 300)
    assert DRAW.read(dict(loaded.recipe)) == loaded.recipe
    assert loaded.key != synthetic("10k", n_train=20, n_features=300, seed=4).key


def test_a_draw_that_is_too_large_as_a_whole_is_refused():
    check_size("10k", {"n_train": 2_000, "seed": 1})
    with pytest.raises(DataError, match="take fewer samples, fewer features or less noise"):
        check_size("50k", {"n_train": 2_000, "n_test": 5_000, "noise": (0.0, 0.5)})
