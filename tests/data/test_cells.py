from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import cells as module
from hipad.data import cells as text_columns
from hipad.data import prepare, read_table
from hipad.data.cells import (
    CHARACTER_BYTES,
    TEXT_SHARE,
    Block,
    CellStyle,
    ColumnRules,
    TextBudget,
    check_width,
    fixed_width,
    read_columns,
    table_from_blocks,
    table_from_cells,
)
from hipad.data.file_format import LIMITS, FileFormat, Limits
from hipad.data.table import tidy_names
from hipad.data.written_numbers import label_text, tidy_cells, tidy_text, to_number
from hipad.exceptions import DataError

# --------------------------------------------------------------------------------------------------
# Tables from written cells: what they mean does not depend on how they were cut.


CELL = st.sampled_from(["1", "2.5", "-3", "", "NA", "word", "other"])
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=9)
)


def built(rows, sizes=(), **options):
    """A table from rows that come in blocks of these sizes, the last with all that is left."""
    cuts = [0, *np.cumsum(sizes).clip(max=len(rows)).tolist(), len(rows)]
    parts = [rows[a:b] for a, b in pairwise(cuts) if b > a]

    def blocks():
        for part in parts:
            yield Block(pa.array([cell for row in part for cell in row], pa.string()), len(part))

    header = [f"c{j}" for j in range(len(rows[0]))]
    settings = {"most_rows": len(rows), "format": "made here", "limits": LIMITS} | options
    return table_from_blocks(header, blocks, **settings)


def content(table):
    numbers = np.nan_to_num(table.numbers, nan=1e9).tolist()
    text = {name: column.tolist() for name, column in table.text.items()}
    return numbers, table.number_names, text, table.remarks


@given(rows=ROWS, sizes=st.lists(st.integers(1, 3), max_size=5))
def test_blocks_of_any_size_make_the_same_table(rows, sizes):
    assert content(built(rows, sizes)) == content(built(rows))


@given(rows=ROWS)
def test_a_column_of_numbers_and_gaps_is_numbers_cell_by_cell(rows):
    table = built(rows, [1, 2])
    for j in range(len(rows[0])):
        column = [to_number(row[j]) for row in rows]
        if None not in column:
            np.testing.assert_array_equal(table.column(f"c{j}"), np.array(column, dtype=float))


@given(rows=ROWS, block=st.integers(1, 8))
def test_columns_that_are_kept_are_moved_together_in_place(rows, block):
    matrix = np.arange(12.0 * len(rows)).reshape(-1, 12)
    columns = [0, 3, 4, 11]
    wanted = matrix[:, columns].copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_CELLS", block)
        kept = module._keep_columns(matrix, columns)
    np.testing.assert_array_equal(kept, wanted)
    assert np.shares_memory(kept, matrix)


def test_a_word_late_in_a_column_brings_back_what_came_before():
    rows = [["01" if i < 20 else "word", str(i)] for i in range(30)]
    table = built(rows, [3] * 8)
    assert table.text["c0"].tolist() == ["01"] * 20 + ["word"] * 10
    assert table.column("c1").tolist() == list(range(30))


def test_decimal_commas():
    table = built([["1,5", "x,y"], ["2", "z"]], style=CellStyle(FileFormat(decimal=",")))
    assert table.column("c0").tolist() == [1.5, 2.0]
    assert table.text["c1"].tolist() == ["x,y", "z"]


def test_more_rows_than_were_said_are_taken_and_limits_hold():
    rows = [["1", "2"]] * 5
    assert built(rows, [1, 1], most_rows=2).n_rows == 5
    with pytest.raises(DataError, match="at most 4 rows, got 5"):
        built(rows, [1, 1], most_rows=2, limits=Limits(rows=4))


def test_rows_are_as_long_as_the_header():
    def rows():
        return iter([(2, pa.array(["1", "x"])), (3, pa.array(["1"]))])

    with pytest.raises(DataError, match=r"expected 2 cells in every row.* got 1 in row 3"):
        table_from_cells(["a", "b"], rows, most_rows=3, format="", limits=LIMITS)
    check_width(3, 3, 1)


def test_rows_one_by_one_make_the_same_as_blocks(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_CELLS", 2)
    rows = [[str(i), "w" if i == 17 else ""] for i in range(40)]

    def numbered():
        return ((i, pa.array(row)) for i, row in enumerate(rows, 2))

    options = {"most_rows": 40, "format": "made here", "limits": LIMITS}
    assert content(table_from_cells(["c0", "c1"], numbered, **options)) == content(built(rows))


# --------------------------------------------------------------------------------------------------
# Text columns.


def column(cells: list[str], decimal: str = "."):
    rules = ColumnRules(["c"], stated=FileFormat(decimal=decimal))
    [(_, found)] = read_columns([(0, pa.array(cells))], rules)
    return found


def test_a_few_odd_cells_leave_a_column_of_numbers():
    found = column(["1", "2", "n.d.", *["3"] * 20])
    assert found.numbers is not None
    assert np.isnan(found.numbers[2])
    assert found.remark == "1 cell not a number ('n.d.'), taken as missing"


def test_cells_beyond_the_limit_of_detection_are_read_as_the_limit_and_told():
    found = column(["1", "<5", "> 100", "<=2", "≥1e3", "x", "<5", *["3"] * 20])
    assert found.numbers is not None
    np.testing.assert_array_equal(found.numbers[:7], [1, 5, 100, 2, 1000, np.nan, 5])
    assert "5 cells beyond the limit of detection ('<5', '> 100', '<=2' and '≥1e3')" in found.remark
    assert found.remark.endswith("1 cell not a number ('x'), taken as missing")
    assert column(["<1,5", "2,5", "3"], ",").numbers.tolist() == [1.5, 2.5, 3]


@pytest.mark.parametrize("cells", [["<30", "30-40", ">40"] * 9, ["<5"] * 3 + ["7"] * 2])
def test_classes_written_with_signs_stay_text(cells):
    assert column(cells).numbers is None


def test_a_decimal_comma_is_read():
    assert column(["1,5", "x", *["2"] * 20], ",").numbers[0] == 1.5


@pytest.mark.parametrize("share", [0.0, 2.0])
def test_a_column_of_ids_means_the_same_with_and_without_a_dictionary(share, monkeypatch):
    monkeypatch.setattr(text_columns, "DISTINCT_SHARE", share)
    names = [f" ID{i:05d}" for i in range(2_000)] + ["NA", "-", "ID00001 "]
    found = column(names)
    assert (found.codes is None) == (share == 0.0)
    assert found.text().tolist() == [f"ID{i:05d}" for i in range(2_000)] + ["", "", "ID00001"]


def test_narrow_columns_are_let_in_first():
    columns = {"wide": column(["x" * 50, "y"]), "narrow": column(["a", "b"])}
    kept, remarks = fixed_width(columns, 2, Limits(memory_bytes=100))
    assert list(kept) == ["narrow"]
    assert remarks == ["1 column with texts too long for so many rows left out: 'wide'"]


# --------------------------------------------------------------------------------------------------
# Text room.


def test_columns_are_let_in_while_there_is_room():
    limits = Limits(memory_bytes=TEXT_SHARE * CHARACTER_BYTES * 10 * 25, text_characters=100)
    budget = TextBudget(10, limits)
    assert [budget.takes(name, 10) for name in "abc"] == [True, True, False]
    assert budget.takes("d", 5)
    assert not budget.takes("e", 101)
    assert budget.remarks() == [
        "1 column with texts too long for so many rows left out: 'c'",
        "1 column with texts of more than 100 characters left out: 'e'",
    ]


def test_nothing_is_told_of_columns_that_fit():
    budget = TextBudget(10, Limits())
    assert budget.takes("a", 10)
    assert budget.remarks() == []


# --------------------------------------------------------------------------------------------------
# Texts.


def test_labels_keep_full_precision():
    csv = "a,y\n" + "\n".join(f"{j},{73211009 + j % 2}" for j in range(6))
    prepared = prepare(read_table(csv.encode()), label="y")
    assert prepared.classes == ("73211009", "73211010")
    assert label_text(np.array([0.1, 1 / 3, -0.0, 1e20, np.nan])).tolist() == [
        "0.1", "0.3333333333333333", "0", "1e+20", "",
    ]  # fmt: skip
    assert label_text(np.array([0.1, 16777216], dtype=np.float32)).tolist() == ["0.1", "16777216"]


def test_plus_and_minus_are_two_classes():
    table = read_table(b"a,y\n" + b"1,+\n2,-\n3,+\n4,-\n5,\n")
    assert table.text["y"].tolist() == ["+", "-", "+", "-", ""]
    assert prepare(table, label="y").classes == ("-", "+")
    assert tidy_text(np.array(["+", "-", "NA"])).tolist() == ["+", "-", ""]


def test_minus_alone_is_a_gap_among_numbers_and_texts():
    table = read_table(b"a,b\n1,x\n-,-\n3,y\n")
    np.testing.assert_array_equal(table.numbers, [[1], [np.nan], [3]])
    assert table.text["b"].tolist() == ["x", "", "y"]


@pytest.mark.parametrize(
    "y",
    [
        np.array(["größe", "été"]).astype("U"),
        np.array(["größe".encode(), b"\xff\xfe"]),
        np.array([True, False]),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
    ],
)
def test_labels_of_every_sort_become_text(y):
    assert label_text(y).dtype.kind == "U"
    assert len(label_text(y)) == 2


@pytest.mark.parametrize(
    "y",
    [
        np.array([1j, 2]),
        np.zeros(2, dtype=[("a", int)]),
        np.array([0x7FFFFFFF] * 2, "u4").view("U1"),
    ],
)
def test_labels_that_are_none_are_refused(y):
    with pytest.raises(DataError):
        label_text(y)


def test_half_letters_become_question_marks():
    assert tidy_text(np.array(["a\ud800"])).tolist() == ["a?"]


def test_many_texts_and_few_become_the_same():
    words = [f"w{j % 1500}" for j in range(3_000)] + ["", "NA", "é"]
    csv = "a,b,c\n" + "\n".join(f"1,{w},{w.replace('é', 'e')}x" for w in words)
    table = read_table(csv.encode())
    assert table.text["b"].tolist() == [w if w != "NA" else "" for w in words]
    assert table.text["c"].tolist() == [w.replace("é", "e") + "x" for w in words]


def test_underscores_and_foreign_digits_are_no_numbers():
    assert to_number("1_000") is None
    assert to_number("١٢") is None
    assert to_number(" -.5e3 ") == -500


def test_long_names_are_cut_and_stay_different():
    names, remarks = tidy_names(["n" * 3_000 + "a", "n" * 3_000 + "b"])
    assert len(set(names)) == 2
    assert max(map(len, names)) < 1_010
    assert "cut to 1,000 characters" in remarks[0]


@pytest.mark.parametrize(
    ("cells", "tidy", "remark"),
    [
        (["none", "much", "NA"], ["none", "much", ""], "1 cell 'none' kept as a level"),
        (["-", "a", "-", "b"], ["-", "a", "-", "b"], "2 cells '-' kept as a level"),
        (["-", "a", "b", ""], ["", "a", "b", ""], "1 cell '-' taken as missing"),
        (["+", "-", "?"], ["+", "-", ""], ""),
        (["NA", "a", "null"], ["", "a", ""], ""),
    ],
)
def test_tidy_cells_words_that_may_be_values(cells, tidy, remark):
    column = tidy_cells(cells)
    assert column.cells.tolist() == tidy
    assert column.remark.startswith(remark)
    assert bool(remark) == bool(column.remark)
    hidden = any(cell and not now for cell, now in zip(cells, tidy, strict=True))
    assert (column.written is None) != hidden
    assert column.written is None or column.written.tolist() == cells


def test_tidy_cells_many_levels_are_no_classes():
    cells = [f"gene {i}" for i in range(30)] + ["none", "-"] * 9
    assert set(tidy_cells(cells).cells[30:].tolist()) == {""}
    assert tidy_cells(cells).remark == ""


def test_read_table_levels_that_read_as_gaps():
    rows = "".join(f"{i},{('none', 'much', 'NA')[i % 3]}\n" for i in range(12))
    table = read_table(f"a,alcohol\n{rows}".encode())
    assert set(table.text["alcohol"].tolist()) == {"none", "much", ""}
    assert table.gap_words("alcohol") == {"NA": 4}
    assert table.remarks[0].startswith("column 'alcohol': 4 cells 'none' kept as a level")
