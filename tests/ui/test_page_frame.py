from __future__ import annotations

from tests.ui.session.saved import worked
from ui.page_frame import glossary, next_step
from ui.state import AppState


def test_every_state_says_what_comes_next_and_where():
    empty, state = AppState(), worked()
    assert next_step(empty) == ("Next: upload your own data or choose a sample.", "Data")
    assert next_step(state) == ("Next: see how good the model is.", "Results")
    state.memo["shown: Results"] = (None, True)
    assert next_step(state) == ("Done: compare, tune or export the model.", "")
    state.models = []
    words, page = next_step(state)
    assert "keep this model" in words
    assert page == "Workbench"
    state.rules.change("a >= 3 => sick", "other")
    assert "fit the model again" in next_step(state)[0]
    state.rules.change("a >= => sick", "broken")
    words, page = next_step(state)
    assert "correct the rules" in words
    assert page == "Rules"
    state.job = None
    state.rules.change("", "none")
    assert "write what you know" in next_step(state)[0]
    state.rules.change("a >= 3 => sick", "other")
    assert next_step(state) == ("Next: fit the model.", "Run")


def test_the_glossary_speaks_in_the_word_of_the_data():
    told = " ".join([*glossary("customer"), *glossary("customer").values()])
    assert "customers" in told
    assert "patient" not in told.replace("worth 5 patients", "")
