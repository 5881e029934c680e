"""Two runs of a session at once: the page that the later one was asked for is shown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from ui.server import lifespan

PAGES = {name: {"page_script_hash": name, "url_pathname": name} for name in ("data", "run")}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """The pages of a session, a run that draws Data, and one that a click on Run has started."""
    for name in lifespan.NOTING:  # put back after the test
        monkeypatch.setattr(PagesManager, name, getattr(PagesManager, name))
    lifespan.heed_latest_run()
    pages = PagesManager(str(tmp_path / "app.py"))
    old, new = (SimpleNamespace(script_requests=ScriptRequests()) for _ in range(2))
    now = {"run": old}
    monkeypatch.setattr(lifespan, "get_script_run_ctx", lambda **_: now["run"])

    def note(run, page):
        now["run"] = run
        pages.set_script_intent(page, "")
        pages.set_current_page_script_hash(page)

    def shown():
        page = pages.set_pages_and_resolve(PAGES, "data")
        return page["page_script_hash"], pages.current_page_script_hash

    return SimpleNamespace(note=note, shown=shown, old=old, new=new)


def test_a_run_that_must_stop_does_not_call_its_page_back(runs):
    runs.note(runs.old, "data")
    runs.old.script_requests.request_stop()
    runs.note(runs.new, "run")  # the click
    runs.note(runs.old, "data")  # starts anew before it looks whether it must stop
    assert runs.shown() == ("run", "run")


def test_a_run_that_goes_on_says_which_page_is_wanted(runs):
    runs.note(runs.old, "run")
    runs.old.script_requests.request_rerun(RerunData(page_script_hash="data"))
    runs.note(runs.old, "data")
    assert runs.shown() == ("data", "data")


def test_it_is_done_once():
    lifespan.heed_latest_run()
    method = PagesManager.set_script_intent
    lifespan.heed_latest_run()
    assert PagesManager.set_script_intent is method
