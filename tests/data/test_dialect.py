from __future__ import annotations

import csv
import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hipad.data import FileFormat, dialect
from hipad.data import dialect as lines
from hipad.data.delimited import TextTable
from hipad.data.dialect import (
    SAMPLE_ROWS,
    Frame,
    Lines,
    Row,
    count_letters,
    csv_rows,
    cut_label_lines,
    find_frame,
    find_names,
    find_separator,
    first_lines,
    sample_evidence,
    sample_rows,
)
from hipad.data.file_format import LIMITS, SEPARATORS, Limits
from hipad.exceptions import DataError

# --------------------------------------------------------------------------------------------------
# How a text table is written, found from tables that were written in a known way.


NUMBERS = st.integers(-99, 99).map(lambda n: n / 4).map(str)


def frame_of(*lines: str, **stated: int) -> Frame:
    separator, _ = find_separator(lines, FileFormat())
    return find_frame(sample_rows(lines, separator), FileFormat(**stated))


@given(
    separator=st.sampled_from(list(SEPARATORS)),
    comma=st.booleans(),
    header=st.booleans(),
    rows=st.integers(2, 4).flatmap(
        lambda width: st.lists(
            st.lists(NUMBERS, min_size=width, max_size=width), min_size=3, max_size=6
        )
    ),
)
def test_a_written_table_tells_how_it_was_written(separator, comma, header, rows):
    assume(not comma or separator in ";\t|")
    decimal = "," if comma else "."
    written = [[cell.replace(".", decimal) for cell in row] for row in rows]
    names = [[f"name{j}" for j in range(len(rows[0]))]] if header else []
    lines = [separator.join(row) for row in names + written]
    assert find_separator(lines, FileFormat())[0] == separator
    found = sample_rows(lines, separator)
    frame = find_frame(found, FileFormat())
    assert bool(frame.header_row) == header
    assert [row.cells for row in frame.body] == written
    assert sample_evidence(frame.body).decimal in ("", decimal)


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        (["1,a;b,2.5", "2,c;d,3.5", "3,a;b,4.5"], ","),
        (["a name of words|other", "one two three|1", "four five six|2"], "|"),
        (["a;b", '"x;y;z";1', '"u";2'], ";"),
        (["0,5;1,25;ill", "0,5;1,25;well", "0,5;1,25;ill"], ";"),
        (["sep=|", "a,b|c,d", "1,2|3,4"], "|"),
        (["Made on Monday, 5 May", "a b", "1 2", "3 4"], " "),
    ],
)
def test_find_separator(lines, separator):
    assert find_separator(lines, FileFormat())[0] == separator


@pytest.mark.parametrize("text", ["alone\n", "1\n2\n3\n"])
def test_one_column_is_told(text):
    with pytest.raises(DataError, match="one column only: the first line is"):
        TextTable(text.encode(), LIMITS, FileFormat())


def test_a_first_row_of_words_that_come_again_is_no_header():
    frame = frame_of("x,a", "y,b", "x,a")
    assert frame.header_row == 0
    assert frame.names == ["x0", "x1"]
    assert "no header row" in frame.remarks[0]
    assert frame.questions[0].answers[0].change == {"header_row": 1}
    assert frame_of("kind,1", "y,2", "x,3").header_row == 1


def test_a_header_one_name_short_is_that_of_r():
    assert find_names(frame_of("a,b", "p1,1,2", "p2,3,4")) == (["row", "a", "b"], [])


def test_a_stated_header_row_is_followed_and_a_wrong_one_told():
    lines = ("a,b", "c,d", "1,2", "3,4")
    assert frame_of(*lines, header_row=2).names == ["c", "d"]
    assert frame_of(*lines, header_row=0).names == ["x0", "x1"]
    with pytest.raises(DataError, match="as the header row, got line 9"):
        frame_of(*lines, header_row=9)


def test_a_row_is_shown_without_its_empty_cells():
    assert Row(1, 1, ["a", " ", "b "]).shown == "a b"


@given(st.lists(st.lists(st.text("ab, \"'", max_size=4), min_size=2, max_size=3), min_size=1))
def test_cells_in_quotes_come_back(rows):
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    assert list(csv_rows(file.getvalue().splitlines(), ",")) == rows


def test_blanks_around_cells_do_not_count():
    assert list(csv_rows(["  1   2 "], " ")) == [["1", "2"]]
    assert list(csv_rows(["1, 2"], ",")) == [["1", "2"]]


def test_a_quote_that_is_never_closed_is_told():
    size = csv.field_size_limit(100)
    try:
        with pytest.raises(DataError, match="a quote that is never closed"):
            list(csv_rows(['"' + "x" * 200], ","))
    finally:
        csv.field_size_limit(size)


def test_the_sample_is_long_only_where_lines_are_short(monkeypatch):
    short = first_lines((f"{i},1" for i in range(1_000)), LIMITS)
    assert len(short) == SAMPLE_ROWS + 1
    monkeypatch.setattr(dialect, "SAMPLE_CHARACTERS", 10)
    assert len(first_lines(("x" * 20 for _ in range(1_000)), LIMITS)) == 3


def test_a_line_of_too_many_cells_is_refused_at_once():
    with pytest.raises(DataError, match="at most 3 columns, got 5"):
        first_lines(["1;2;3;4;5"], Limits(columns=3))


# --------------------------------------------------------------------------------------------------
# Lines.


@given(st.binary(max_size=50), st.integers(1, 9))
def test_letters_are_counted_piece_by_piece(data, size):
    usual = lines.CHUNK_BYTES
    try:
        lines.CHUNK_BYTES = size
        assert count_letters(data, 10) == data.count(b"\n")
    finally:
        lines.CHUNK_BYTES = usual


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_usual_way(end):
    assert list(Lines(end.join(["a", "", "b"]).encode(), Limits())) == ["a", "", "b"]


def test_empty_lines_count_only_up_to_a_bound():
    assert Lines(b"a\n\n\nb\n", Limits(rows=2)).most_rows == 2
    with pytest.raises(DataError, match="at most 2 rows"):
        Lines(b"\n" * 20, Limits(rows=2))


# --------------------------------------------------------------------------------------------------
# Label lines.


VALUES = b"".join(b"g%d\t%d\t%d\n" % (i, i, i * i) for i in range(200))
HEADER = b"gene\ta\tb\n"
CLASSES = b"class\till\twell\n"


def test_lines_of_words_are_cut_above_and_below():
    for data in (
        HEADER + CLASSES + VALUES,
        HEADER + VALUES + CLASSES,
        HEADER + VALUES + CLASSES[:-1],
    ):
        rest, found = cut_label_lines(data)
        assert rest == HEADER + VALUES
        assert found.of(["a", "b"]) == {"class": ["ill", "well"]}


def test_a_header_as_r_writes_it():
    _, found = cut_label_lines(b"a\tb\n" + CLASSES + VALUES)
    assert found.of(["b"]) == {"class": ["well"]}


def test_tables_of_patients_lose_nothing():
    for data in (
        HEADER + VALUES,
        b"a,b,c\n" + b"x,1,2\n" * 9,
        b"a,b,c\n" + b"x,y,z\n" * 9,
        b"",
        b"\n",
    ):
        rest, found = cut_label_lines(data)
        assert rest == data
        assert not found


@given(st.binary(max_size=80), st.integers(0, 3))
def test_any_bytes_are_cut_into_lines_of_the_same_bytes(data, times):
    data = HEADER + data * times
    rest, found = cut_label_lines(data)
    assert (rest == data) is not bool(found)
