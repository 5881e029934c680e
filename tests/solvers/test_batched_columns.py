"""Columns that are kept, or read again where there is no room."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.solvers import batched as signed_columns
from hipad.solvers.batched import SignedColumns
from tests.solvers.newton_systems import small_problem


@pytest.mark.parametrize("room", [signed_columns.COLUMN_CACHE_SIZE, 45, 10])
def test_columns_are_the_same_kept_or_read_again(monkeypatch, room):
    problem = small_problem(np.random.default_rng(0), 10, 200, with_rule=False)
    monkeypatch.setattr(signed_columns, "COLUMN_CACHE_SIZE", room)
    columns = SignedColumns(problem.design, problem.y)
    for names in ([4, 1], [1, 3], [], [4, 1], np.arange(200)[::-1], [7]):
        at = np.array(names, dtype=int)
        expected = (problem.design.columns(at) * problem.y[:, None]).T
        np.testing.assert_array_equal(columns.some(at), expected)
        w = np.arange(2.0 * at.size).reshape(-1, 2)
        np.testing.assert_allclose(columns.dot(at, w), expected.T @ w, atol=1e-12)


def test_what_is_kept_is_not_read_again(monkeypatch):
    problem = small_problem(np.random.default_rng(0), 10, 6, with_rule=False)
    columns = SignedColumns(problem.design, problem.y)
    columns.some(np.array([4, 1]))
    monkeypatch.setattr(columns, "_read", None)
    assert columns.some(np.array([1, 4])).shape == (2, 10)
