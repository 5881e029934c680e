from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.rules.compiled_rule import Row, needed_rows, on_columns, rows_met


def row(values: list[float], bound: float, origin: str = "") -> Row:
    columns = np.flatnonzero(values)
    return Row.of(columns, np.array(values)[columns], bound, origin)


def test_rows_that_differ_by_a_factor_have_one_direction():
    first, second = row([1.0, 2.0], 3.0), row([2.0, 4.0], 5.0)
    assert first.direction == second.direction
    assert first.opposite == row([-1.0, -2.0], 0.0).direction
    assert (first.level, second.level) == (1.5, 1.25)


@pytest.mark.parametrize(
    ("rows", "kept", "words"),
    [
        ([row([1.0], 2.0, "a"), row([1.0], 3.0, "b")], ["a"], "'b' follows from 'a'"),
        ([row([1.0], 2.0, "a"), row([2.0], 4.0, "b")], ["a"], "'b' repeats 'a'"),
        ([row([0.0], 1.0, "a"), row([1.0], 3.0, "b")], ["b"], "always true"),
        ([row([0.0], -1.0, "a"), row([1.0], 3.0, "b")], ["a"], "never be true"),
        ([row([1.0], 1.0, "a"), row([-1.0], -2.0, "b")], ["a", "b"], "exclude each other"),
    ],
)
def test_rows_that_say_nothing_are_left_out_with_a_remark(rows, kept, words):
    found, remarks = needed_rows(rows)
    assert [own.source for own in found] == kept
    assert words in " ".join(remarks)


def test_single_precision_meets_its_own_bound():
    B, d = sparse.csr_array([[1.0]]), np.array([1.9])
    X = np.array([[np.float32(1.9), 1.9001, np.nan]], dtype=np.float64)
    assert rows_met(B, d, X).tolist() == [[True, False, False]]


def test_a_matrix_on_the_columns_it_names():
    B = sparse.csr_array([[0.0, 2.0, 0.0, 3.0]])
    assert on_columns(B, np.array([1, 2, 3])).toarray().tolist() == [[2.0, 0.0, 3.0]]


def test_whole_numbers_need_no_mercy_for_single_precision():
    B, d = sparse.csr_array([[-1.0]]), np.array([-20_000_001.0])
    assert rows_met(B, d, np.array([[20_000_000.0, 20_000_001.0]])).tolist() == [[False, True]]
