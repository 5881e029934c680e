from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hipad.data import Limits
from hipad.data import cells as text_columns
from hipad.data.cells import ColumnRules, fixed_width, read_columns
from hipad.data.file_format import FileFormat


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
