from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from hipad.exceptions import HipadError
from hipad.rules.guarantees import Box, BoxPoint, knapsack, linear_programme, minimise

NUMBERS = st.integers(-6, 6).map(float)


@st.composite
def programmes(draw):
    """min c'x with A x <= d in a box of three columns."""
    n, m = 3, draw(st.integers(1, 3))
    A = np.array(draw(st.lists(st.lists(NUMBERS, min_size=n, max_size=n), min_size=m, max_size=m)))
    c, d = (np.array(draw(st.lists(NUMBERS, min_size=k, max_size=k))) for k in (n, m))
    lo = np.array(draw(st.lists(NUMBERS, min_size=n, max_size=n)))
    width = np.array(draw(st.lists(st.integers(0, 5).map(float), min_size=n, max_size=n)))
    return c, A, d, lo, lo + width


@given(programmes())
def test_the_minimum_is_that_of_a_linear_programme(case):
    c, A, d, lo, hi = case
    answer = linprog(c, A_ub=A, b_ub=d, bounds=np.column_stack([lo, hi]), method="highs")
    found = minimise(c, sparse.csr_array(A), d, lo, hi)
    assert found.feasible == (answer.status == 0)
    if found.feasible:
        assert found.value == pytest.approx(answer.fun, abs=1e-6)
        assert (A @ found.x <= d + 1e-6).all()


@given(programmes())
def test_one_row_needs_no_programme(case):
    c, A, d, lo, hi = case
    quick = knapsack(c, A[0], float(d[0]), lo, hi)
    slow = linear_programme(c, sparse.csr_array(A[:1]), d[:1], lo, hi)
    assert quick.feasible == slow.feasible
    assert not quick.feasible or quick.value == pytest.approx(slow.value, abs=1e-6)


def test_a_row_of_zeros_asks_for_its_bound_alone():
    zeros, none = np.zeros(3), sparse.csr_array(np.zeros((1, 3)))
    assert linear_programme(zeros, none, np.array([4.0]), zeros, zeros).feasible
    assert not linear_programme(zeros, none, np.array([-4.0]), zeros, zeros).feasible


def test_a_box_without_end_is_unbounded():
    A, d = sparse.csr_array([[1.0, -1.0]]), np.array([0.0])
    free = np.array([-np.inf, -np.inf])
    assert minimise(np.array([1.0, 0.0]), A, d, free, -free).value == -np.inf


def test_the_observed_box_passes_over_gaps_and_refuses_crossed_ends():
    box = Box.observed(np.array([[1.0, np.nan], [3.0, 5.0]]))
    assert [end.tolist() for end in box.ends(np.array([0, 1]))] == [[1.0, 5.0], [3.0, 5.0]]
    with pytest.raises(HipadError, match="lo <= hi"):
        Box(2.0, 1.0).ends(np.array([0]))


def test_a_patient_has_values_where_they_matter():
    patient = BoxPoint.of({2: 7.0})
    assert len(patient) == 1
    assert patient.filled(np.zeros(3)).tolist() == [0.0, 0.0, 7.0]
    assert patient.named() == {"x2": 7.0}
