"""Tables from written cells: what they mean does not depend on how they were cut."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import cells as module
from hipad.data.cells import Block, CellStyle, check_width, table_from_blocks, table_from_cells
from hipad.data.file_format import FileFormat
from hipad.data.limits import LIMITS, Limits
from hipad.data.written_numbers import to_number
from hipad.exceptions import DataError

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
