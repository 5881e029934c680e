from __future__ import annotations

from tests.app.test_data import CSV
from workbench.saving import session_of


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
