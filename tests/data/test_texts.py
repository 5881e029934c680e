from __future__ import annotations

import numpy as np
import pytest

from hipad.data import prepare, read_table
from hipad.data.table import tidy_names
from hipad.data.written_numbers import label_text, tidy_cells, tidy_text, to_number
from hipad.exceptions import DataError


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
