from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import Limits
from hipad.data import dialect as lines
from hipad.data.dialect import Lines, count_letters
from hipad.exceptions import DataError


@given(st.binary(max_size=50), st.integers(1, 9))
def test_letters_are_counted_piece_by_piece(data, size):
    usual = lines.CHUNK_BYTES
    try:
        lines.CHUNK_BYTES = size
        assert count_letters(data, 10) == data.count(b"\n")
    finally:
        lines.CHUNK_BYTES = usual


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_usual_way(end):
    assert list(Lines(end.join(["a", "", "b"]).encode(), Limits())) == ["a", "", "b"]


def test_empty_lines_count_only_up_to_a_bound():
    assert Lines(b"a\n\n\nb\n", Limits(rows=2)).most_rows == 2
    with pytest.raises(DataError, match="at most 2 rows"):
        Lines(b"\n" * 20, Limits(rows=2))
