"""Keeping a model is the same on the Run page and in the Workbench, and as limited."""

from __future__ import annotations

import pytest

from ui.session.session_file import MOST_MODELS


@pytest.mark.parametrize("page", ["run", "workbench"])
def test_a_session_does_not_take_more_models_than_it_can_save(app, page):
    app.load("pima").finish()
    for n in range(MOST_MODELS):
        app.state.keep(app.state.model.named(f"m{n}"))
    app.state.pinned = "m0"
    app.go(page)
    buttons = [b for b in app.at.button if b.label in ("Keep", "Keep as reference")]
    assert len(buttons) == 2
    assert all(button.disabled for button in buttons)
    assert f"{MOST_MODELS} models are kept" in app.text()
