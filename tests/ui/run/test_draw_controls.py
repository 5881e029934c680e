from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from hipad.exceptions import DataError
from tests.ui.pima import session
from ui.data.loading import prepare_data
from ui.data.samples import synthetic
from ui.run.draw_controls import _from_link, link_of
from ui.state import AppState


def asked(link: str) -> dict[str, str]:
    """What a browser makes of a link."""
    page, _, query = link.partition("?")
    assert page == "run"
    return {name: values[0] for name, values in parse_qs(query, strict_parsing=True).items()}


def test_a_link_restores_draw_settings_and_rules():
    state = AppState()
    small = {"n_train": 20, "n_test": 10, "n_features": 80, "block_size": 5, "noise": (0.02, 0.04)}
    state.load(synthetic("10k", seed=7, **small))
    state.rules.change("mean(K1) >= 4 => positive  # a & b = c", "typed")
    state.settings = state.settings.changed(lambda1=0.25, patients=12.0)
    card, make = _from_link(asked(link_of(state)))
    loaded = make()
    assert card.key == "ksvm-s-10k"
    assert loaded.recipe == state.loaded.recipe
    assert loaded.rules == state.rules.text
    again = AppState()
    again.load(loaded)
    assert again.settings == state.settings
    assert (again.data.X_train != state.data.X_train).sum() == 0
    assert prepare_data(loaded).data.key == state.data.key


def test_data_that_are_no_draw_have_no_link():
    assert link_of(session()) == ""


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"sample": "<b>"}, "one of the samples"),
        ({"sample": "ksvm-s-10k", "seed": "x"}, "seed"),
        ({"sample": "ksvm-s-10k", "n_features": "1e12"}, "n_features"),
        ({"sample": "ksvm-s-10k", "noise": "5"}, "noise"),
        ({"sample": "pima", "lambda1": "nan"}, "lambda1"),
        ({"sample": "pima", "rules": "x" * 5_000}, "characters"),
    ],
)
def test_a_link_that_cannot_be_used_says_what_is_wrong(link, words):
    with pytest.raises(DataError, match=words):
        _from_link(link)
