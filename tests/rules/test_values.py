from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.rules.context import ColumnValues

X = np.array([[0.0, 1.5, 0.1], [1.0, np.nan, 0.2], [4.0, 3.5, 0.1], [4.0, 2.5, 0.2]] * 5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_figures_of_a_column(make):
    values = ColumnValues(make(X))
    known = X[np.isfinite(X[:, 1]), 1]
    assert values.statistic("mean", 1) == pytest.approx(known.mean())
    assert values.statistic("sd", 1) == pytest.approx(known.std())
    assert values.statistic("median", 1) == np.median(known)
    assert values.statistic("p90", 1) == np.percentile(known, 90)
    assert (values.lowest(0), values.highest(0)) == (0.0, 4.0)


def test_kinds_of_columns():
    values = ColumnValues(X)
    assert values.is_whole(0)
    assert not values.is_whole(1)
    assert not values.is_flag(0)
    assert ColumnValues([[0.0], [1.0]]).is_flag(0)


@pytest.mark.parametrize(
    ("columns", "weights", "bound", "expected"),
    [
        ([0], [-1.0], 0.0, -0.5),  # x > 0 on whole numbers
        ([0], [1.0], 4.0, 3.5),  # x < 4
        ([0], [-1.0], -0.5, -0.5),  # x > 0.5 is between two values
        ([2], [-1.0], -0.1, -0.15),  # x > 0.1 where 0.2 is next
        ([0, 0], [2.0, 4.0], 6.0, 5.0),  # a sum that moves in steps of two
        ([0, 0], [1 / 3, 2 / 3], 1.0, 5 / 6),  # a mean of whole numbers moves in thirds
        ([0, 1], [1.0, 1.0], 3.0, 3.0),  # continuous: the border has no patients
        ([0, 1], [1.0, 1.0], 6.5, 4.0),  # a sum that a patient has: half-way to the next below
        ([2, 1], [0.0, 1.0], 1.5, 1.0),  # nobody is below
    ],
)
def test_a_strict_bound_moves_half_way_to_the_next_value(columns, weights, bound, expected):
    found = ColumnValues(X).strict_bound(np.array(columns), np.array(weights), bound)
    assert found == pytest.approx(expected)


def test_strict_signs_are_strict_on_values_with_decimals():
    bmi = np.array([[29.9], [30.0], [30.1], [np.nan]])
    for given in (bmi, bmi.astype(np.float32), sparse.csr_array(bmi)):
        bound = ColumnValues(given).strict_bound(np.array([0]), np.array([1.0]), 30.0)
        assert bound == pytest.approx(29.95)
    short = np.array([[1.8], [1.9], [2.0]], dtype=np.float32)  # 1.9 there is not 1.9 here
    bound = ColumnValues(short).strict_bound(np.array([0]), np.array([-1.0]), -1.9)
    assert bound == pytest.approx(-1.95)
