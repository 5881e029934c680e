"""Text tables from end to end, against Python's own csv module."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data.delimited import read_delimited
from hipad.data.limits import LIMITS, Limits
from hipad.exceptions import DataError

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


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", ["", '"', "in'side\""])
@pytest.mark.parametrize("surplus", [1, 3])
def test_read_delimited_separator_at_the_end_of_rows(mark, quote, surplus):
    sex = f"{quote}f{quote}" if quote in ("", '"') else f"f{quote}x"
    rows = [f"{kind}{mark}{sex}{mark}{age}" for kind, age in (("case", 31), ("control", 40))]
    text = "\n".join([mark.join(["y", "sex", "age"]), *(row + mark * surplus for row in rows)])
    table = read_delimited(text.encode(), LIMITS)
    assert table.number_names == ("age",)
    assert table.numbers.tolist() == [[31], [40]]
    assert table.text["y"].tolist() == ["case", "control"]
    assert "2 rows longer than the header: the empty cells at the end were dropped" in table.remarks


def test_read_delimited_separator_at_the_end_of_some_rows():
    rows = "".join(f"case,{i}{',' * (i % 2)}\n" for i in range(50))
    table = read_delimited(f"y,age\n{rows}".encode(), LIMITS)
    assert table.numbers[:, 0].tolist() == list(range(50))
    assert table.remarks[0].startswith("25 rows longer than the header")


def test_read_delimited_empty_name_at_the_end_of_the_header():
    table = read_delimited(b"sex,age,\nf,31\nm,40\n", LIMITS)
    assert table.names == ("age", "sex")
    assert table.remarks == ("1 empty cell at the end of the header dropped",)


def test_read_delimited_row_names():
    rows = [f"p{i},f,{'' if i < 25 else i}" for i in range(40)]
    table = read_delimited("\n".join(["sex,age", *rows]).encode(), LIMITS)
    assert table.names == ("age", "row", "sex")  # the first rows alone do not tell
    assert table.numbers[30:32, 0].tolist() == [30, 31]


@pytest.mark.parametrize("at", [1, 39])
def test_read_delimited_row_names_that_come_again(at):
    rows = [f"p{0 if i == at else i},f,{i}" for i in range(40)]
    with pytest.raises(DataError, match="no names of rows, for 'p0' comes again: write the name"):
        read_delimited("\n".join(["sex,age", *rows]).encode(), LIMITS)


@pytest.mark.parametrize("row", ["case,f,31,9,9", "case,f", "case,f,31,,9"])
def test_read_delimited_rows_that_do_not_fit(row):
    with pytest.raises(DataError, match=r"expected 3 cells in every row, .* got . in row"):
        read_delimited(f"y,sex,age\ncase,f,31\n{row}\n".encode(), LIMITS)
