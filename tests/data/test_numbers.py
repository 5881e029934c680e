"""Blocks of written cells as numbers, against `to_number` cell by cell."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data.written_numbers import NumberReader, to_number

CELLS = st.sampled_from(["1", "-2.5", "1e3", "", "NA", "?", " 7 ", "n/a", "inf", "x", "<5"])


def blocks(rows, sizes):
    """Rows cut into blocks of these sizes, as Arrow arrays."""
    start = 0
    for size in [*sizes, len(rows)]:
        part = rows[start : start + size]
        start += size
        if part:
            yield pa.array([cell for row in part for cell in row], pa.string()), len(part)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12),
    sizes=st.lists(st.integers(1, 4), max_size=4),
)
def test_each_block_gives_the_columns_that_were_numbers_so_far(rows, sizes):
    odd, reader, start = np.zeros(3, dtype=bool), NumberReader(), 0
    for cells, n in blocks(rows, sizes):
        numbers = reader.read(cells, odd)
        seen, here = rows[: start + n], rows[start : start + n]
        start += n
        wanted_odd = [any(to_number(row[j]) is None for row in seen) for j in range(3)]
        assert odd.tolist() == wanted_odd
        kept = np.flatnonzero(~odd)
        if kept.size:
            wanted = np.array([[to_number(row[j]) for j in kept] for row in here], dtype=float)
            np.testing.assert_array_equal(numbers, wanted)
        else:
            assert numbers.size == 0


@pytest.mark.parametrize("first", [True, False])
def test_whole_numbers_too_large_for_floating_point_are_no_numbers(first):
    reader, odd = NumberReader(), np.zeros(2, dtype=bool)
    if not first:
        reader.read(pa.array(["1", "2"]), odd)
    numbers = reader.read(pa.array(["9007199254740993", "2", "5", "3"]), odd)
    assert odd.tolist() == [True, False]
    assert numbers.tolist() == [[2.0], [3.0]]


def test_a_way_that_was_needed_is_kept():
    reader, odd = NumberReader(), np.zeros(1, dtype=bool)
    ways = []
    for cells in (["1"], ["NA"], ["2"], [" n/a "], ["3"]):
        reader.read(pa.array(cells), odd)
        ways.append(reader.way)
    assert ways == [0, 1, 1, 2, 2]
    assert not odd.any()
