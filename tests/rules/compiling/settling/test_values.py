from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.rules.compiling.settling.values import ColumnValues

X = np.array([[0.0, 1.5, 0.1], [1.0, np.nan, 0.2], [4.0, 3.5, 0.1], [4.0, 2.5, 0.2]] * 5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_figures_of_a_column(make):
    values = ColumnValues(make(X))
    known = X[np.isfinite(X[:, 1]), 1]
    assert values.figure("mean", 1) == pytest.approx(known.mean())
    assert values.figure("sd", 1) == pytest.approx(known.std())
    assert values.figure("median", 1) == np.median(known)
    assert values.figure("p90", 1) == np.percentile(known, 90)
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
        ([0, 1], [1.0, 1.0], 3.0, 3.0),  # continuous: the border has no patients
    ],
)
def test_a_strict_bound_moves_half_way_to_the_next_value(columns, weights, bound, expected):
    found = ColumnValues(X).strict_bound(np.array(columns), np.array(weights), bound)
    assert found == pytest.approx(expected)
