from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import csv_safe, to_csv


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-x", "@SUM(A1)", "\tx", "\rx", " =1", "-"])
def test_texts_that_a_spreadsheet_would_run_are_guarded(cell):
    assert csv_safe(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["plain", "", "-1.5", "+2e3", -1.5, 3, None, "a=b"])
def test_numbers_and_plain_texts_are_left_alone(cell):
    assert csv_safe(cell) == cell


@given(st.lists(st.text(max_size=8).filter(lambda text: "\0" not in text), max_size=5))
def test_no_cell_of_an_export_starts_like_a_formula_unless_it_is_a_number(cells):
    text = to_csv({"=name": cells, "n": list(range(len(cells)))})
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["'=name", "n"]
    assert len(rows) == len(cells) + 1
    for (written, _), cell in zip(rows[1:], cells, strict=True):
        assert written in (cell, f"'{cell}")
        if written.lstrip(" ").startswith(("=", "@", "\t", "\r")):
            raise AssertionError(written)


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        to_csv({"a": [1, 2], "b": [1]})
