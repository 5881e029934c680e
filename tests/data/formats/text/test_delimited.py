"""Text tables from end to end, against Python's own csv module."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data.formats.text.delimited import read_delimited
from hipad.data.limits import LIMITS, Limits
from hipad.errors import DataError

WORDS = st.sampled_from(["x", "a,b", 'say "x"', "two\nlines", "; | é", "blank s"])
NUMBERS = st.integers(-400, 400).map(lambda n: n / 8)


@given(
    rows=st.lists(st.tuples(NUMBERS, WORDS, NUMBERS), min_size=1, max_size=30),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    empty=st.integers(0, 2),
)
def test_what_the_csv_module_writes_comes_back(rows, separator, end, empty):
    file = io.StringIO(newline="")
    quoted = csv.writer(file, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_NONNUMERIC)
    quoted.writerows([("size", "kind", "weight"), *rows])
    table = read_delimited((end * empty + file.getvalue()).encode(), LIMITS)
    assert table.number_names == ("size", "weight")
    np.testing.assert_array_equal(table.numbers, [(row[0], row[2]) for row in rows])
    assert table.text["kind"].tolist() == [row[1] for row in rows]


def test_lines_before_the_header_and_between_rows_are_no_rows():
    table = read_delimited(b'\n;;\n"";\n\na;b\n\n1;2\n;\n3;4\n\n', LIMITS)
    assert table.number_names == ("a", "b")
    assert table.numbers.tolist() == [[1, 2], [3, 4]]


def test_a_table_without_a_header_keeps_its_first_row():
    table = read_delimited(b"1,2\n3,4\n", LIMITS)
    assert table.number_names == ("x0", "x1")
    assert table.numbers.tolist() == [[1, 2], [3, 4]]
    assert "no header row" in table.remarks[0]


def test_a_table_of_r_has_names_of_rows():
    table = read_delimited(b"a b\np1 1 2\np2 3 4\n", LIMITS)
    assert table.text["row"].tolist() == ["p1", "p2"]
    assert table.column("b").tolist() == [2, 4]


@pytest.mark.parametrize("data", [b"", b"\n\n", b" ,;\t\n"])
def test_a_file_of_nothing_is_told(data):
    with pytest.raises(DataError, match="empty file"):
        read_delimited(data, LIMITS)


def test_a_header_alone_is_told():
    with pytest.raises(DataError, match="got a header only"):
        read_delimited(b"a,b\n", LIMITS)


def test_limits_hold():
    data = b"a,b\n" + b"1,2\n" * 10
    assert read_delimited(data, Limits(rows=12)).n_rows == 10
    with pytest.raises(DataError, match="at most 5 rows"):
        read_delimited(data, Limits(rows=5))
    with pytest.raises(DataError, match="at most 10 cells"):
        read_delimited(data, Limits(cells=10))


def test_a_row_that_is_too_long_is_told_by_its_number():
    with pytest.raises(DataError, match=r"expected 2 cells in every row.*row 3"):
        read_delimited(b"a,b\n1,2\n1,2,3\n4,5\n", LIMITS)
