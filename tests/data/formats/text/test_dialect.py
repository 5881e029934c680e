"""How a text table is written, found from tables that were written in a known way."""

import csv
import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hipad.data.formats.text import dialect
from hipad.data.formats.text.dialect import (
    SAMPLE_ROWS,
    SEPARATORS,
    Dialect,
    csv_rows,
    find_dialect,
    find_header,
    first_lines,
)
from hipad.data.limits import LIMITS, Limits
from hipad.errors import DataError

NUMBERS = st.integers(-99, 99).map(lambda n: n / 4).map(str)


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
    found, cells = find_dialect([separator.join(row) for row in names + written])
    assert found == Dialect(separator, decimal, header)
    assert cells == names + written


def test_numbers_tell_the_separator_from_decimal_commas():
    for separator in ";\t|":
        lines = [separator.join(["0,5", "1,25", word]) for word in ("ill", "well", "ill")]
        found, rows = find_dialect(lines)
        assert found == Dialect(separator, ",", has_header=False)
        assert rows[0] == ["0,5", "1,25", "ill"]


def test_commas_that_separate_are_not_taken_for_decimal_ones():
    found, rows = find_dialect(["1,a;b,2.5", "2,c;d,3.5", "3,a;b,4.5"])
    assert found.separator == ","
    assert rows[0] == ["1", "a;b", "2.5"]


def test_words_with_blanks_do_not_hide_the_separator():
    lines = ["a name of words|other", "one two three|1", "four five six|2"]
    assert find_dialect(lines)[0].separator == "|"


def test_a_separator_in_quotes_is_none():
    lines = ["a;b", '"x;y;z";1', '"u";2']
    found, rows = find_dialect(lines)
    assert found.separator == ";"
    assert rows[1] == ["x;y;z", "1"]


@pytest.mark.parametrize("lines", [["alone"], ["1", "2", "3"]])
def test_one_column_is_told(lines):
    with pytest.raises(DataError, match="one column only: the first line is"):
        find_dialect(lines)


def test_a_first_row_of_words_that_come_again_is_no_header():
    assert not find_dialect(["x,1", "y,2", "x,3"])[0].has_header
    assert find_dialect(["kind,1", "y,2", "x,3"])[0].has_header


def test_columns_without_names_get_some_and_a_remark():
    plain = Dialect(",", ".", has_header=False)
    names, remarks = find_header([["1", "2"], ["3", "4"]], plain)
    assert names == ["x0", "x1"]
    assert "no header row" in remarks[0]


def test_a_header_one_name_short_is_that_of_r():
    headed = Dialect(",", ".", has_header=True)
    assert find_header([["a", "b"], ["p1", "1", "2"]], headed) == (["row", "a", "b"], ())
    mixed = [["a", "b"], ["p1", "1", "2"], ["1", "2"]]
    assert find_header(mixed, headed) == (["a", "b"], ())


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


def test_a_dialect_is_told_in_words():
    assert str(Dialect("\t", ".", has_header=True)) == "text, separated by tabs"
    assert str(Dialect(";", ",", has_header=True)) == (
        "text, separated by semicolons, decimal commas"
    )
