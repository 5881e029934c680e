"""What the strip does with an answer: the file is read again, and nothing else is lost."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from hipad.data import FileFormat, read_table
from hipad.exceptions import DataError
from ui.data import file_format_view
from ui.data.file_format_view import REREADING, begin, take_again
from ui.data.upload import loaded_of
from ui.dataset import Preparation
from ui.state import AppState

ROWS = "".join(f"{30 + i};{i % 7},5;{'ja' if i % 3 else 'nein'}\n" for i in range(40))
DATA = f"age;crp;ill\n{ROWS}999;k.A.;ja\n".encode()


@pytest.fixture
def state() -> AppState:
    state = AppState()
    state.load(loaded_of("mine.csv", read_table(DATA)), Preparation(label="ill"))
    return state


def test_begin_reads_the_kept_file_again(state):
    table = state.loaded.table
    state.keep_source(table.sha256, zlib.compress(DATA))
    begin(state, state.loaded, FileFormat(column_gaps={"age": ("999",)}), "auto")
    reading = state.readings[REREADING]
    reading.wait(60)
    assert reading.outcome is not None, reading.error
    state.rules.change("crp >= 3 => ja", "typed")
    take_again(state, state.loaded, reading.outcome, "mine.csv")
    assert state.loaded.missing == {"age": 1, "crp": 1}
    assert state.rules.text == "crp >= 3 => ja"
    assert state.preparation.label == "ill"
    assert state.data.file_format.column_gaps == {"age": ("999",)}


def test_begin_asks_for_a_file_that_was_not_kept(state):
    stated = FileFormat(decimal=".")
    begin(state, state.loaded, stated, "auto")
    assert "Upload it again" in state.notice
    assert state.stated == (state.loaded.table.sha256, stated, "auto")
    assert not state.readings


def test_take_again_changes_nothing_where_the_table_cannot_be_used(state):
    before = state.loaded, state.data
    other = read_table(DATA, stated=FileFormat(header_row=0))
    with pytest.raises(DataError, match="expected two classes in 'x2'"):
        take_again(state, state.loaded, other, "mine.csv")
    assert (state.loaded, state.data) == before


def test_keep_source_keeps_the_last_ones():
    state = AppState()
    for name in "abc":
        state.keep_source(name, name.encode())
    assert state.sources == {"b": b"b", "c": b"c"}
    state.keep_source("d", b"")
    assert "d" not in state.sources


def test_about_says_what_is_no_row():
    table = read_table(b"Study\nage,crp\nyears,mg/l\n31,1.5\n40,2.5\n")
    assert file_format_view.lines_left_out(table) == (
        "Not read as rows: 1 line above the header (Study); a row of units (years and mg/l)."
    )
    assert (
        file_format_view.lines_left_out(replace(table, reading=read_table(b"a,b\n1,2\n").reading))
        == ""
    )
