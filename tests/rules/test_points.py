from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog, minimize

from hipad.rules.guarantees import least_norm, some_point

NUMBERS = st.integers(-5, 5).map(float)
ROWS = st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=4).map(np.array)


@given(ROWS, st.data())
def test_a_point_is_found_just_when_there_is_one(A, data):
    d = np.array(data.draw(st.lists(NUMBERS, min_size=len(A), max_size=len(A))))
    lo, hi = np.full(3, -2.0), np.full(3, 3.0)
    x = some_point(A, d, lo, hi)
    answer = linprog(np.zeros(3), A_ub=A, b_ub=d, bounds=[(-2, 3)] * 3, method="highs")
    assert (x is not None) == (answer.status == 0)
    if x is not None:
        assert (A @ x <= d + 1e-4).all()
        assert ((lo <= x) & (x <= hi)).all()


@given(ROWS, st.data())
def test_the_shortest_point_is_not_longer_than_one_found_by_search(A, data):
    d = np.array(data.draw(st.lists(NUMBERS, min_size=len(A), max_size=len(A))))
    z = least_norm(sparse.csr_array(A), d)
    free = [(None, None)] * 3
    answer = linprog(np.zeros(3), A_ub=A, b_ub=d, bounds=free, method="highs")
    assert (z is not None) == (answer.status == 0)
    if z is None:
        return
    assert (A @ z <= d + 1e-6).all()
    other = minimize(
        lambda x: x @ x / 2,
        answer.x,
        jac=lambda x: x,
        constraints={"type": "ineq", "fun": lambda x: d - A @ x, "jac": lambda x: -A},
        method="SLSQP",
    )
    if other.success:
        assert np.linalg.norm(z) <= np.linalg.norm(other.x) + 1e-4


@pytest.mark.parametrize("n_rows", [30, 80])
def test_many_rows_take_the_other_ways_and_agree(n_rows):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n_rows, 70))
    inner = rng.uniform(-0.5, 0.5, 70)
    d = A @ inner + 0.1
    x = some_point(A, d, np.full(70, -1.0), np.full(70, 1.0))
    assert (A @ x <= d + 1e-4).all()
