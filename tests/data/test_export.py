from __future__ import annotations

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import csv_safe, to_csv

SIGNS = "=+-@%|＝＋－＠﹦﹢﹣﹫\u2212"
BEFORE = " \t\r\n\v\f\x1f\u00a0\u00ad\u200b\u200e\u202e\u2028\u2060\u3000\ufeff\x00\u0301"


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1", "+x", "-x", "@SUM(A1)", "\tx", "\rx", "\nx", " =1", "-", "\n=1", "\u00a0=1",
        "＝1+1", "＋1", "－x", "＠x", "\u200b=1", "\ufeff@x", "\u3000＝1", "%x", "|calc", " -1",
        "-1\n", "-1_0", "+inf", "-nan", "－1", "\x1f=1", "\u202e=1",
    ],
)  # fmt: skip
def test_texts_that_a_spreadsheet_would_run_are_guarded(cell):
    assert csv_safe(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["plain", "", "-1.5", "+2e3", "-.5", -1.5, 3, None, "a=b", "é"])
def test_numbers_and_plain_texts_are_left_alone(cell):
    assert csv_safe(cell) == cell


cells = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.builds("{}{}{}".format, st.text(BEFORE, max_size=3), st.sampled_from(SIGNS), st.text()),
        st.floats(allow_nan=False).map(str),
    ).filter(lambda text: "\0" not in text),
    max_size=5,
)


@given(cells)
def test_no_cell_of_an_export_starts_like_a_formula_unless_it_is_a_number(cells):
    text = to_csv({"=name": cells, "n": list(range(len(cells)))})
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["'=name", "n"]
    assert len(rows) == len(cells) + 1
    for (written, _), cell in zip(rows[1:], cells, strict=True):
        assert written in (cell, f"'{cell}")
        seen = written.lstrip().lstrip(BEFORE).lstrip()
        if seen.startswith(tuple(SIGNS)) or written.startswith(("\t", "\r", "\n")):
            assert math.isfinite(float(written))


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        to_csv({"a": [1, 2], "b": [1]})
