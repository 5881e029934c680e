from __future__ import annotations

import csv
import io

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import delimited, read_table
from hipad.data import delimited as cutting
from hipad.data import dialect as lines
from hipad.data.delimited import first_line, read_delimited, read_tabbed
from hipad.data.file_format import LIMITS, Limits
from hipad.data.written_numbers import IS_NUMBER, WRITTEN_NUMBER
from hipad.exceptions import DataError

# --------------------------------------------------------------------------------------------------
# Text tables from end to end, against Python's own csv module.


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


# --------------------------------------------------------------------------------------------------
# Cutting.


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


# --------------------------------------------------------------------------------------------------
# Tabbed.


def test_rows_follow_a_header_and_blank_lines_do_not_count():
    table = read_tabbed(b'\n"id"\ta\r\n"x, y"\t1.5\r\n\r\nz\t<2\r\n', LIMITS, format="F")
    assert table.text["id"].tolist() == ["x, y", "z"]
    assert table.numbers.ravel().tolist() == [1.5, 2.0]
    assert table.format == "F"


@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", b"a\tb\n1\n"])
def test_what_has_no_tabs_is_refused(data):
    with pytest.raises(DataError, match="expected"):
        read_tabbed(data, LIMITS, format="F")


def test_the_first_line_and_where_the_next_begins():
    assert first_line(b"ab\r\ncd") == ("ab", 4)
    assert first_line(b"ab\r\ncd", 4) == ("cd", 7)
