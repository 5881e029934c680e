from __future__ import annotations

import pytest

from tests.ui.session.kept import begun, worked
from ui.session import autosave, owner
from ui.session.place import Place
from ui.session.shelf import Shelf
from ui.session.work import snapshot
from ui.state import AppState

ME, YOU = "a" * 32, "b" * 32


@pytest.fixture
def whose(tmp_path, monkeypatch):
    """Who looks at the page: a test says whose turn it is, and what the server is like."""
    now = {"owner": ME, "one_person": False, "held": set()}
    monkeypatch.setattr(autosave, "WRITER", autosave.Writer(Shelf(Place(tmp_path / "kept"))))
    monkeypatch.setattr(owner, "owner", lambda: now["owner"])
    monkeypatch.setattr(owner, "is_one_person", lambda: now["one_person"])
    monkeypatch.setattr(owner, "is_held", lambda name: name in now["held"])
    return now


@pytest.fixture
def state():
    return begun()


def written() -> int:
    assert autosave.WRITER.flush()
    return len(list(autosave.WRITER.shelf.place.folder.rglob("works/*.json")))


def test_what_changes_is_written_and_the_same_is_not(whose, state, monkeypatch):
    autosave.note(state)
    assert written() == 1
    puts = []
    monkeypatch.setattr(autosave.WRITER, "put", lambda *given: puts.append(given))
    autosave.note(state)
    assert puts == []
    state.rules.change("a >= 4 => sick", "again")
    autosave.note(state)
    assert len(puts) == 1


def test_each_browser_is_offered_its_own_work_only(whose, state):
    autosave.note(state)
    written()
    whose["owner"] = YOU
    assert autosave.offers(AppState()) == []
    whose["one_person"] = True
    assert len(autosave.offers(AppState())) == 1
    whose["held"] = {state.keep_name}
    assert autosave.offers(AppState()) == []
    whose["owner"] = ME
    assert len(autosave.offers(AppState())) == 1
    whose["owner"] = ""
    assert autosave.offers(AppState()) == []


def test_a_work_goes_on_under_its_name_and_as_a_copy_while_it_is_open(whose, state):
    autosave.note(state)
    written()
    (kept,) = autosave.offers(AppState())
    one, two = AppState(), AppState()
    autosave.go_on(one, kept)
    whose["held"] = {kept.name}
    autosave.go_on(two, kept)
    assert one.keep_name == state.keep_name != two.keep_name
    autosave.note(two)
    assert written() == 2


def test_other_data_are_another_work(whose):
    state = worked()
    autosave.note(state)
    first = state.keep_name
    state.load(state.loaded, state.preparation)
    autosave.note(state)
    assert written() == 2
    state.go_back()
    assert state.keep_name == first


def test_nothing_is_written_for_whoever_does_not_want_it(whose, state):
    autosave.WRITER.shelf.want(ME, False)
    autosave.note(state)
    assert written() == 0
    autosave.WRITER.shelf.want(ME, True)
    autosave.note(state)
    assert written() == 1
    autosave.forget_all(state)
    autosave.note(state)
    assert written() == 0
    state.expert = True
    autosave.note(state)
    assert written() == 1


def test_what_cannot_be_written_is_told(whose, state, tmp_path):
    (tmp_path / "kept").write_text("a file where a folder should be")
    autosave.note(state)
    autosave.WRITER.flush()
    assert autosave.trouble(state)
    (tmp_path / "kept").unlink()
    state.expert = True
    autosave.note(state)
    autosave.WRITER.flush()
    assert autosave.trouble(state) == ""


def test_only_the_newest_state_is_written(whose, state, monkeypatch):
    seen = []
    monkeypatch.setattr(Shelf, "put", lambda self, who, name, taken: seen.append(taken))
    first, last = snapshot(state), snapshot(state)
    with autosave.WRITER._changed:  # the thread waits meanwhile
        autosave.WRITER._due[(ME, "x")] = first
        autosave.WRITER.put((ME, "x"), last)
    autosave.WRITER.flush()
    assert seen == [last]
