from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import prepare, read_table
from hipad.data.written_numbers import (
    EXACT,
    NumberReader,
    large_wholes,
    plain_wholes,
    reach_beyond_exact,
    to_number,
)
from hipad.exceptions import DataError
from tests.data.archives import members, xlsx, zipped

# --------------------------------------------------------------------------------------------------
# Blocks of written cells as numbers, against `to_number` cell by cell.


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
        ways.append(reader.level)
    assert ways == [0, 1, 1, 2, 2]
    assert not odd.any()


# --------------------------------------------------------------------------------------------------
# Whole numbers.


def workbook() -> bytes:
    """Two IDs in a sheet, one of them put there afterwards, as openpyxl would round it."""
    parts = members(xlsx([["id", "a"], [7777777777777777, 1.5], [EXACT, 2.5]]))
    sheet = "xl/worksheets/sheet1.xml"
    assert b"7777777777777777" in parts[sheet]
    parts[sheet] = parts[sheet].replace(b"7777777777777777", str(EXACT + 1).encode())
    return zipped(parts)


TWO_IDS = [str(EXACT + 1), str(EXACT)]  # one number in floating point


def test_gaps_are_not_large():
    assert not reach_beyond_exact(np.array([np.nan, 1.0]))
    assert not reach_beyond_exact(np.array([np.nan]))
    assert not reach_beyond_exact(np.empty(0))
    assert reach_beyond_exact(np.array([np.nan, -float(EXACT)]))


def test_only_what_is_written_whole_counts():
    cells = ["12345678901234567", "-12345678901234567", "1.5e30", "12345678901234567.5", "3", "inf"]
    found = large_wholes(pa.array(cells), np.array([float(cell) for cell in cells]))
    assert found.tolist() == [True, True, False, False, False, False]


@given(st.integers(-(10**30), 10**30), st.integers(0, 3))
def test_a_number_has_one_way_to_be_written(number, zeros):
    digits = "0" * zeros + str(abs(number))
    signs = ["-"] if number < 0 else ["", "+"]
    for sign in signs:
        assert plain_wholes(pa.array([sign + digits])).to_pylist() == [str(number)]


def csv(ids: list[str]) -> bytes:
    return ("id,a\n" + "".join(f"{name},{i}\n" for i, name in enumerate(ids))).encode()


@pytest.mark.parametrize(
    "data",
    [
        csv(TWO_IDS * 3),
        csv([f'"{name}"' for name in TWO_IDS] * 3),
        csv([*map(str, range(30_000)), *TWO_IDS]),
        csv([*TWO_IDS * 9, "NA", "?"]),
        csv([*TWO_IDS * 9, "unclear"]),
        workbook(),
    ],
    ids=["plain", "quoted", "late", "gaps", "odd cell", "workbook"],
)
def test_two_ids_stay_two(data):
    table = read_table(data)
    assert {*TWO_IDS} <= set(table.text["id"].tolist())
    assert table.number_names == ("a",)
    assert "1 column of whole numbers above 2^53 kept as text: 'id'" in table.remarks


def test_two_ids_are_two_classes():
    prepared = prepare(read_table(csv(TWO_IDS * 3)), label="id")
    assert sorted(prepared.classes) == sorted(TWO_IDS)


@pytest.mark.parametrize("others", [["1.5", "2"], ["1e3", "4"], ["0.25", "NA"]])
def test_a_measurement_with_a_large_whole_number_stays_a_number(others):
    table = read_table(csv([*others * 20, str(EXACT + 1)]))
    assert table.number_names == ("id", "a")
    assert table.remarks == ()
    assert table.numbers[-1, 0] == EXACT


def test_smaller_whole_numbers_stay_numbers():
    table = read_table(csv([str(EXACT - 1), str(1 - EXACT)]))
    np.testing.assert_array_equal(table.numbers[:, 0], [EXACT - 1, 1 - EXACT])


def test_labels_of_libsvm_stay_apart():
    text = f"{EXACT + 1} 1:2\n+{EXACT} 1:3\n0{EXACT} 2:{EXACT + 1}\n-1 1:4\n"
    table = read_table(text.encode())
    assert table.text["label"].tolist() == [str(EXACT + 1), str(EXACT), str(EXACT), "-1"]
    assert "above 2^53 were rounded" in table.remarks[0]


def test_a_label_of_libsvm_is_no_bomb():
    text = "1" * 5_000 + " 1:2\n" + "3 1:1\n" * 50_000
    with pytest.raises(DataError, match="labels of at most 1,000 digits"):
        read_table(text.encode())
