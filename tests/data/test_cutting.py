from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import Limits, delimited, read_table
from hipad.data import delimited as cutting
from hipad.data import dialect as lines
from hipad.data.written_numbers import IS_NUMBER, WRITTEN_NUMBER
from hipad.exceptions import DataError

CELLS = st.sampled_from(
    ["1", "-2.5", "1e308", "+7", "", "NA", "n/a", " 3 ", "-", "+", "ill", "a b", "été", "<5", "1_0",
     '"q"', '""', '"x, y"', '"two\nlines"', '"say ""hi"""', 'in"side', ' "late"', "nan", "007",
     '"a,b,c"', '""""', '"","', '"a" ', ' ""', '  "far"', "9007199254740993", '"9007199254740992"']
)  # fmt: skip


def outcome(data: bytes):
    """A table as plain values, or the sentence that refuses it."""
    try:
        table = read_table(data)
    except DataError as error:
        return str(error)
    text = {name: column.tolist() for name, column in table.text.items()}
    return table.number_names, np.array(table.numbers).tolist().__repr__(), text, table.remarks


def by_the_csv_module(lines, separator, width, skip):
    return cutting.split_records(lines, separator, width, skip)


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=30)
    ),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_a_table_means_the_same_however_it_is_cut(rows, end):
    header = ["a", "b", "c", "d"][: len(rows[0]) if rows else 2]
    data = (end.join(",".join(row) for row in [header, *rows]) + end).encode()
    whole = outcome(data)
    with_csv = (by_the_csv_module, 2**20)
    usual = (cutting.blocks_of, 16)
    for route, size in (with_csv, usual):
        try:
            delimited.blocks_of, lines.FIRST_BYTES, lines.CHUNK_BYTES = route, size, size
            assert outcome(data) == whole
        finally:
            delimited.blocks_of = cutting.blocks_of
            lines.FIRST_BYTES, lines.CHUNK_BYTES = 2**16, 2**20


@given(st.text("0123456789+-.eEinfatyNI()_ xd", max_size=8))
def test_a_number_is_what_arrow_reads_as_one(text):
    try:
        pc.cast(pa.array([text]), pa.float64())
        is_cast = True
    except pa.ArrowInvalid:
        is_cast = False
    assert pc.match_substring_regex(pa.array([text]), IS_NUMBER)[0].as_py() == is_cast
    assert bool(WRITTEN_NUMBER.fullmatch(text)) == is_cast


def cells_of(text: str) -> list[str] | None:
    cut = cutting.cut_cells(text.encode(), ord(","))
    return None if cut is None else cut.cells.to_pylist()


def test_quotes_around_whole_cells_are_cut_at_once():
    assert cells_of("a,b\n") == ["a", "b"]
    assert cells_of('"a","b"\n"",1\n') == ["a", "b", "", "1"]
    assert cells_of('"a,b",c\n') == ["a,b", "c"]
    assert cells_of('"a\nb",c') == ["a\nb", "c"]
    assert cells_of('"a""b",c\n') == ['a"b', "c"]
    assert cells_of('"""",""""""\n') == ['"', '""']
    assert cells_of(' "a", "b, c"\n') == ["a", "b, c"]


@pytest.mark.parametrize(
    "text", ['a"b"c,d\n', '"a', '  "a",b\n', '"a" ,b\n', '"a"b,c\n', 'x "a",b\n']
)
def test_other_quotes_are_left_to_the_csv_module(text):
    assert cells_of(text) is None


def test_rows_after_an_odd_quote_are_read_too():
    rows = [("1", '"x, y"')] * 3_000 + [("2", 'in"side')] + [("3", '"say ""hi"", twice"')] * 3_000
    data = "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)
    table = read_table(data.encode())
    assert table.n_rows == 6_001
    assert set(table.text["b"]) == {"x, y", 'in"side', 'say "hi", twice'}
    np.testing.assert_array_equal(table.numbers[[0, 2_999, 3_000, 3_001], 0], [1, 1, 2, 3])


def test_a_row_of_a_wrong_length_is_named_by_its_line():
    data = 'a,b\n1,"two\nlines"\n\n2,3\n4,5,6\n'
    with pytest.raises(DataError, match="got 3 in row 6"):
        read_table(data.encode())


def test_a_quote_that_is_never_closed_is_told():
    text = 'a,b\n1,2\n3,"x\n' + "4,5 and more\n" * 900_000
    assert "quote that is never closed" in outcome(text.encode())


def test_rows_are_refused_while_they_are_read():
    small = Limits(rows=10, cells=1_000)
    for text in ("a,b\n" + "1,2\n" * 30, 'a,b\n"x,y",1\n' + "1,2\n" * 30, "a,b\n" + "\n" * 99):
        with pytest.raises(DataError, match="at most 10 rows"):
            read_table(text.encode(), limits=small)


def test_empty_lines_are_no_rows():
    small = Limits(rows=10)
    table = read_table(b"a,b\n" + b"1,2\n\n" * 8, limits=small)
    assert table.n_rows == 8
