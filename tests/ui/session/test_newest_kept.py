"""A warning that work is not kept stays until the newest state of it is written."""

from __future__ import annotations

import threading

from hipad.exceptions import DataError
from tests.ui.session.saved import begun
from ui.session.autosave import Writer
from ui.session.saved_session import snapshot
from ui.session.store import StorageConfig, Store

PATIENCE = 60.0  # seconds
SLOT = "a" * 32, "mine"


def test_an_older_state_that_is_written_takes_no_warning_away(tmp_path, monkeypatch):
    state = begun()
    older = snapshot(state)
    state.rules.change("a >= 4 => sick", "again")
    newest = snapshot(state)
    writer = Writer(Store(StorageConfig(tmp_path / "kept")), (0.01,))
    begins, goes_on = threading.Semaphore(0), threading.Semaphore(0)
    outcomes = iter([DataError("no room"), None, None])

    def put(self: Store, who: str, name: str, taken: object, holder: str) -> str:
        begins.release()
        assert goes_on.acquire(timeout=PATIENCE)
        if error := next(outcomes):
            raise error
        return name

    monkeypatch.setattr(Store, "put", put)
    writer.put(SLOT, older)
    assert begins.acquire(timeout=PATIENCE)
    goes_on.release()  # fails
    assert begins.acquire(timeout=PATIENCE)  # tried again, and now there is room
    assert writer.failed == {SLOT: "no room"}
    writer.put(SLOT, newest)
    goes_on.release()
    assert begins.acquire(timeout=PATIENCE)  # the older one is written, the newest is on its way
    assert writer.failed == {SLOT: "no room"}
    goes_on.release()
    assert writer.flush(PATIENCE)
    assert not writer.failed
