from __future__ import annotations

from tests.ui.session.saved import worked
from ui.page_frame import done_steps, next_step
from ui.state import AppState


def test_every_state_says_what_comes_next():
    empty, state = AppState(), worked()
    assert "choose data" in next_step(empty)
    assert done_steps(empty) == set()
    assert "Everything is there" in next_step(state)
    assert done_steps(state) == {"Data", "Rules", "Run", "Workbench"}
    state.models = []
    assert "keep this model" in next_step(state)
    state.rules.change("a >= 3 => sick", "other")
    assert "run again" in next_step(state)
    state.rules.change("a >= => sick", "broken")
    assert "mend the rules" in next_step(state)
    assert "Rules" not in done_steps(state)
    state.job = None
    state.rules.change("", "none")
    assert "write what you know" in next_step(state)
    state.rules.change("a >= 3 => sick", "other")
    assert next_step(state) == "Next: run."
