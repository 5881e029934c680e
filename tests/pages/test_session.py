from __future__ import annotations

from dataclasses import replace

import pytest

from tests.pages.test_data import CSV
from tests.ui.sessions import PIMA, readable
from ui.session.session_file import session_of
from ui.settings import RunSettings, field_of


def test_a_session_of_a_sample_is_taken_up(app):
    app.load("ksvm-s-10k")
    app.state.set_blocks({**app.state.blocks, "mine": "x1:x9"})
    app.state.rules.change("mean(mine) >= 1 => positive", "mine")
    app.finish()
    app.state.keep(app.state.model.named("first"))
    app.state.pinned = "first"
    judged = app.state.model.judgement
    saved = session_of(app.state).to_json().encode()
    app.load("pima")
    app.upload("session.json", saved, prefix="session_")
    app.state.refitting.job.wait(60)
    app.run()
    assert app.state.data.n_features == 10_000
    assert app.state.rules.text == "mean(mine) >= 1 => positive"
    assert app.state.pinned_model.judgement == judged


def test_a_session_of_a_file_waits_for_the_file(app):
    app.upload("mine.csv", CSV)
    app.state.set_blocks({"both": "a, b"})
    saved = session_of(app.state).to_json().encode()
    app.load("pima")
    app.upload("session.json", saved, prefix="session_")
    assert "Upload this file again" in app.text()
    assert app.state.data.name == "pima"
    app.upload("renamed.csv", CSV)
    assert app.state.data.blocks["both"].tolist() == [0, 1]
    assert app.state.awaiting is None


def test_another_file_is_no_session(app):
    app.load("pima")
    for content in (b"", b"[]", b"{}", b"\xff\xfe", CSV):
        app.upload("session.json", content, prefix="session_")
        assert "session file" in app.at.error[0].value
        assert app.state.data.name == "pima"


def test_a_refused_session_leaves_the_page_and_the_data_as_they_were(app):
    app.load("pima")
    app.state.rules.change("Age >= 50 => diabetic", "mine")
    for old, new in (('"seed": 3', '"seed": -1'), ('"label": "Diagnosis"', '"label": "\\ud800"')):
        content = PIMA.to_json().replace(old, new).encode()
        app.upload("session.json", content, prefix="session_")
        assert "expected" in app.at.error[0].value
        assert app.state.rules.text == "Age >= 50 => diabetic"


def ends(name):
    """The smallest and the largest value that the field allows."""
    field = field_of(RunSettings, name)
    return (10.0**field.low, 10.0**field.high) if name == "tolerance" else (field.low, field.high)


NUMBERS = ("lambda1", "lambda2", "patients", "stiffness", "mu", "tolerance", "max_sweeps")


@pytest.mark.parametrize("end", [0, 1])
def test_the_pages_show_settings_at_both_ends_of_what_is_allowed(app, end):
    settings = RunSettings(fewness="exact", **{name: ends(name)[end] for name in NUMBERS})
    session = replace(PIMA, settings=settings, models=(), pinned="")
    app.upload("session.json", session.to_json().encode(), prefix="session_")
    app.state.expert = True
    for page in ("run", "rules", "workbench", "run"):
        app.go(page)
    assert app.state.settings == settings


def test_the_pages_show_doctored_sessions_that_were_taken(app):
    shown = 0
    for content, session in readable(80, seed=10):
        app.upload("session.json", content, prefix="session_")
        for page in ("run", "rules"):
            app.go(page)
        shown += session.settings == app.state.settings
    assert shown > 3
    app.state.refitting = None
