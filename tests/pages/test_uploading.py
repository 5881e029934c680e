from __future__ import annotations

import time

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from hipad.data import Cancelled
from tests.pages.test_data import CSV
from ui.data import data_source
from ui.data import loading as module
from ui.state import AppState


def put(app, name, content):
    """Give a file without waiting for what becomes of it."""
    app.at.file_uploader(key="upload_table").set_value((name, content, "text/csv"))
    return app.run()


@pytest.fixture
def slow(monkeypatch):
    """Reading that goes on until it is cancelled."""

    def read(source, name, *, limits, turn, stated, progress, cancelled):
        progress(0.5, "3 of 6 rows read")
        while not cancelled():
            time.sleep(0.01)
        raise Cancelled

    monkeypatch.setattr(module, "read_apart", read)


def test_the_page_is_usable_while_a_file_is_read(app, slow):
    put(app, "slow.csv", CSV)
    reading = app.state.readings["upload_table"]
    assert reading.is_active
    app.click("sample_pima")
    assert app.state.data.name == "pima"
    assert reading.is_active
    app.click("cancel_upload_table")
    reading.wait(60)
    assert "was cancelled" in app.run().text()
    assert app.state.data.name == "pima"
    assert not app.at.error


def test_after_a_cancelled_file_the_next_is_read(app, slow, monkeypatch):
    put(app, "slow.csv", CSV)
    app.click("cancel_upload_table")
    monkeypatch.undo()
    app.upload("mine.csv", CSV)
    assert app.state.data.name == "mine.csv"
    assert "was cancelled" not in app.text()


def test_a_new_file_takes_the_place_of_one_that_is_read(app, slow):
    put(app, "first.csv", CSV)
    first = app.state.readings["upload_table"]
    put(app, "second.csv", CSV)
    first.wait(60)
    assert not first.is_active
    assert app.state.readings["upload_table"].file == "second.csv"
    app.state.readings["upload_table"].stop()


@pytest.mark.parametrize("error", [KeyError("patient 17"), MemoryError("patient 17")])
def test_after_an_error_of_ours_the_next_upload_works(app, monkeypatch, error):
    load = AppState.load

    def fail(self, *_):
        raise error

    monkeypatch.setattr(AppState, "load", fail)
    app.upload("first.csv", CSV)
    assert len(app.at.error) == 1
    assert "patient 17" not in app.at.error[0].value
    monkeypatch.setattr(AppState, "load", load)
    app.upload("second.csv", CSV)
    assert app.state.data.name == "second.csv"
    assert not app.at.error


def test_after_a_bad_file_the_next_upload_works_in_every_uploader(app):
    app.upload("bad.csv", b"%PDF")
    app.upload("mine.csv", CSV)
    assert app.state.data.name == "mine.csv"
    app.upload("bad.txt", b"\xff\xfe\0", prefix="blocks_")
    assert len(app.at.error) == 1
    app.upload("blocks.txt", b"both = a, b", prefix="blocks_")
    assert "both" in app.state.data.blocks
    app.upload("bad.json", b"[]", prefix="session_")
    assert len(app.at.error) == 1
    app.go("rules").upload("bad.rules", b"\0", prefix="rules_file")
    app.upload("mine.rules", b"a >= 3 => well", prefix="rules_file")
    assert app.state.rules.text == "a >= 3 => well"


def test_bytes_leave_the_server_when_they_are_taken(app, monkeypatch):
    kept = {}
    remove = MemoryUploadedFileManager.remove_file

    def note(self, session_id, file_id):
        remove(self, session_id, file_id)
        kept[file_id] = [*self.file_storage.get(session_id, {})]

    monkeypatch.setattr(MemoryUploadedFileManager, "remove_file", note)
    app.upload("mine.csv", CSV)
    app.upload("blocks.txt", b"both = a, b", prefix="blocks_")
    assert len(kept) == 2
    assert all(file_id not in files for file_id, files in kept.items())


def test_a_file_is_taken_once(app, monkeypatch):
    taken = []
    monkeypatch.setattr(data_source, "take_table", lambda state, table, name: taken.append(name))
    app.upload("mine.csv", CSV)
    app.run().go("rules").go("data").run()
    assert taken == ["mine.csv"]


def test_the_limits_are_stated(app):
    assert "500 MB" in app.at.file_uploader(key="upload_table").help
    assert "4 GB of memory and 120 s" in app.at.file_uploader(key="upload_table").help
