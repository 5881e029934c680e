"""One region: how rows narrow its box, and whether it is empty or the whole of it."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.rules.compiled_rule import Row
from hipad.rules.overlap import Region, largest_sums, row_matrix, touching


def row(bound, **coefficients):
    """sum of coefficient * column <= bound, with columns called c0, c1, ..."""
    columns = np.array([int(name[1:]) for name in coefficients], dtype=np.int64)
    return Row.of(columns, np.array(list(coefficients.values()), dtype=float), float(bound))


def region(*rows, columns=(2, 5), lo=0.0, hi=10.0):
    n = len(columns)
    return Region(np.array(columns), rows, np.full(n, lo), np.full(n, hi))


def test_rows_on_one_column_narrow_the_box_and_the_others_are_left():
    both = row(12, c2=1, c5=1)
    found = region(row(6, c2=2), row(-4, c5=-1), row(5, c5=0.5), both)
    lo, hi = found.ends
    assert lo.tolist() == [0.0, 4.0]
    assert hi.tolist() == [3.0, 10.0]
    assert found.wide_rows == (both,)


def test_a_point_meets_every_row_and_an_empty_region_has_none():
    found = region(row(-12, c2=-1, c5=-1), row(6, c2=1))
    assert found.point is not None
    assert found.point.sum() >= 12 - 1e-9
    assert found.point[0] <= 6 + 1e-9
    assert region(row(-21, c2=-1, c5=-1)).point is None
    assert region(row(-11, c2=-1)).point is None


def test_of_parallel_rows_the_tightest_stays():
    found = region(row(8, c2=1, c5=1), row(12, c2=2, c5=2), row(3, c2=1))
    assert sorted(each.level for each in found.directions.values()) == [3.0, 6.0]


@pytest.mark.parametrize(("bound", "whole"), [(20, True), (19.9, False)])
def test_the_whole_box_is_met_only_where_its_worst_corner_is(bound, whole):
    assert region(row(bound, c2=1, c5=1)).is_whole_box is whole


def test_ends_that_cross_by_rounding_touch_and_others_stay_apart():
    lo, hi = touching(np.array([0.1 + 0.2, 2.0]), np.array([0.3, 1.0]))
    assert lo.tolist() == [0.3, 2.0]
    assert hi.tolist() == [0.3, 1.0]


def test_the_largest_sum_counts_every_part_at_its_size():
    A, d = row_matrix((row(3, c2=1, c5=-2),), np.array([2, 5]))
    assert A.tolist() == [[1.0, -2.0]]
    assert largest_sums(A, d, np.array([-4.0, 0.0]), np.array([1.0, 5.0])).tolist() == [17.0]


def test_a_large_matrix_of_rows_is_sparse_and_the_same():
    columns = np.arange(1001)
    rows = [row(k, **{f"c{k}": 1.0, f"c{k + 1}": -1.0}) for k in range(1000)]
    A, d = row_matrix(rows, columns)
    few, bounds = row_matrix(rows[:9], columns)
    assert not isinstance(A, np.ndarray)
    np.testing.assert_array_equal(A[:9].toarray(), few)
    np.testing.assert_array_equal(d[:9], bounds)
