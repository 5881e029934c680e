from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import pytest

from tests.ui.session.saved import begun, worked
from ui.session import autosave
from ui.session.saved_session import snapshot
from ui.session.store import StorageConfig, Store
from ui.state import AppState

ME, YOU = "a" * 32, "b" * 32


@pytest.fixture
def whose(tmp_path, monkeypatch):
    """Who looks at the page: a test says whose turn it is, and what the server is like."""
    now = {"owner": ME, "one_person": False, "held": set()}
    monkeypatch.setattr(
        autosave, "WRITER", autosave.Writer(Store(StorageConfig(tmp_path / "kept")), (0.01,))
    )
    monkeypatch.setattr(autosave, "owner", lambda: now["owner"])
    monkeypatch.setattr(autosave, "is_one_person", lambda: now["one_person"])
    monkeypatch.setattr(autosave, "is_held", lambda name: name in now["held"])
    return now


@pytest.fixture
def state():
    return begun()


def written() -> int:
    assert autosave.WRITER.flush()
    store = autosave.WRITER.store
    return sum(len(store.works(one)) for one in store.owners())


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
    autosave.WRITER.store.want(ME, False)
    autosave.note(state)
    assert written() == 0
    autosave.WRITER.store.want(ME, True)
    autosave.note(state)
    assert written() == 1
    autosave.forget_all(state)
    autosave.note(state)
    assert written() == 0
    state.expert = True
    autosave.note(state)
    assert written() == 1


def test_what_cannot_be_written_is_told_and_tried_again(whose, state, tmp_path):
    (tmp_path / "kept").write_text("a file where a folder should be")
    autosave.note(state)
    assert autosave.settle(state, 60)
    assert "kept" in autosave.trouble(state)
    autosave.note(state)  # nothing changed, and it is tried again anyway
    (tmp_path / "kept").unlink()
    slot = ME, state.keep_name
    with autosave.WRITER._changed:
        assert autosave.WRITER._changed.wait_for(lambda: slot not in autosave.WRITER.failed, 60)
    assert written() == 1
    assert autosave.trouble(state) == ""


def test_what_was_given_up_is_written_at_the_next_look(whose, state, tmp_path, monkeypatch):
    monkeypatch.setattr(autosave, "GIVE_UP", -1.0)
    (tmp_path / "kept").write_text("a file where a folder should be")
    autosave.note(state)
    assert autosave.WRITER.flush()
    assert not autosave.WRITER.is_pending((ME, state.keep_name))
    (tmp_path / "kept").unlink()
    autosave.note(state)
    assert written() == 1


def test_nothing_of_a_written_table_stays_in_memory(whose, state):
    autosave.note(state)
    assert written() == 1
    table = weakref.ref(state.loaded.table)
    assert autosave.WRITER.store._digests
    state.stop_work()
    state.loaded = state.data = state.kept = None
    gc.collect()
    assert table() is None
    assert not autosave.WRITER.store._digests


def test_a_work_that_another_server_went_on_with_takes_a_new_name(whose, state):
    autosave.note(state)
    assert written() == 1
    other = Store(autosave.WRITER.store.place)
    (kept,) = other.works(ME)
    assert other.claim(kept, "a session elsewhere")
    state.rules.change("a >= 4 => sick", "again")
    autosave.note(state)
    assert written() == 2
    first = state.keep_name
    state.rules.change("a >= 3 => sick", "and again")
    autosave.note(state)
    assert state.keep_name != first
    assert written() == 2
    texts = {kept.work.session.rules for kept in autosave.WRITER.store.works(ME)}
    assert texts == {"a >= 5 => sick worth 3 patients", "a >= 3 => sick"}


def test_a_work_of_a_later_version_is_taken_up_as_a_copy(whose, state):
    autosave.note(state)
    written()
    (kept,) = autosave.offers(AppState())
    copy = AppState()
    autosave.go_on(copy, replace(kept, unknown=("moon",)))
    assert "moon" in copy.notice
    assert copy.keep_name != kept.name


def test_only_the_newest_state_is_written(whose, state, monkeypatch):
    seen = []

    def put(self: Store, who: str, name: str, taken: object, holder: str) -> str:
        seen.append(taken)
        return name

    monkeypatch.setattr(Store, "put", put)
    first, last = snapshot(state), snapshot(state)
    with autosave.WRITER._changed:  # the thread waits meanwhile
        autosave.WRITER._due[(ME, "x")] = autosave.Due(first, "", 0.0)
        autosave.WRITER.put((ME, "x"), last)
    autosave.WRITER.flush()
    assert seen == [last]
