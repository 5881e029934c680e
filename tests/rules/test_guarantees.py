from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import linprog, minimize

from hipad.exceptions import HipadError
from hipad.rules import compile_rules, prototype, tightest_bound, worst_case
from hipad.rules.guarantees import (
    Box,
    BoxPoint,
    knapsack,
    least_norm,
    linear_programme,
    minimise,
    some_point,
)

# --------------------------------------------------------------------------------------------------
# Guarantee.


M = 5
NUMBERS = st.integers(-24, 24).map(lambda n: n / 8)
VECTORS = hnp.arrays(np.float64, M, elements=NUMBERS)


@st.composite
def cases(draw: st.DrawFn, most: int = 3) -> tuple:
    """Rows, bounds, sign, a classifier and a box."""
    k = draw(st.integers(1, most))
    B = draw(hnp.arrays(np.float64, (k, M), elements=NUMBERS))
    d = draw(hnp.arrays(np.float64, k, elements=NUMBERS))
    lo = draw(VECTORS)
    hi = lo + np.abs(draw(VECTORS))
    sign = draw(st.sampled_from([-1.0, 1.0]))
    return B, d, sign, draw(VECTORS), draw(NUMBERS), lo, hi


def oracle(c, B, d, lo, hi) -> float:
    """The least c'x over the region, by HiGHS on the whole problem."""
    answer = linprog(c, A_ub=B, b_ub=d, bounds=np.column_stack([lo, hi]), method="highs")
    return np.inf if answer.status == 2 else answer.fun


@given(cases(most=1))
def test_the_closed_form_equals_highs(case: tuple):
    B, d, _, w, _, lo, hi = case
    expected = oracle(w, B, d, lo, hi)
    found = knapsack(w, B[0], float(d[0]), lo, hi)
    assert found.value == pytest.approx(expected, abs=1e-6)
    if found.x is not None:
        assert B[0] @ found.x <= d[0] + 1e-7
        assert (lo <= found.x).all()
        assert (found.x <= hi).all()


@given(cases())
def test_the_worst_case_is_the_least_and_its_patient_is_in_the_region(case: tuple):
    B, d, sign, w, b, lo, hi = case
    worst = worst_case(sparse.csr_array(B), d, sign, w, b, lo, hi)
    assert worst.value == pytest.approx(oracle(sign * w, B, d, lo, hi) + sign * b, abs=1e-6)
    assert worst.feasible == (worst.value < np.inf)
    if worst.feasible:
        x = worst.patient.filled(lo)
        assert (B @ x <= d + 1e-6).all()
        assert ((lo <= x) & (x <= hi)).all()
        assert sign * (w @ x + b) == pytest.approx(worst.value, abs=1e-9)


@given(cases(), st.sampled_from([0.0, 1.0]))
def test_the_tightest_bound_is_where_the_rule_begins_to_hold(case: tuple, margin: float):
    B, d, sign, w, b, lo, hi = case
    rows = sparse.csr_array(B)

    def worst(bound: float) -> float:
        return worst_case(rows, np.append(bound, d[1:]), sign, w, b, lo, hi).value

    bound = tightest_bound(rows, d, sign, w, b, lo, hi, margin=margin)
    lowest = oracle(B[0], B[1:], d[1:], lo, hi) if len(d) > 1 else oracle(B[0], None, None, lo, hi)
    if bound is None:
        assert worst(lowest + 1e-6) <= margin + 1e-3
    elif np.isinf(bound):
        assert worst(1e6) >= margin - 1e-6
    else:
        assert worst(bound - 1e-6) >= margin - 1e-5
        assert worst(bound + 1e-6) <= margin + 1e-5


@given(cases())
def test_the_prototype_is_the_nearest_patient_of_the_region(case: tuple):
    B, d, sign, w, b, mean, _ = case
    scale = np.linspace(0.5, 2, M)
    z = least_norm(sparse.csr_array(B * scale), d - B @ mean)
    free = np.full(M, 1e4)
    if z is None:
        assert oracle(np.zeros(M), B, d - 1e-4, -free, free) == np.inf
        return
    assert (B * scale @ z <= d - B @ mean + 1e-6).all()
    found = prototype(sparse.csr_array(B), d, sign, w, b, mean, scale)
    x = found.patient.filled(mean)
    assert found.margin == pytest.approx(sign * (w @ x + b), abs=1e-6)
    assert np.allclose((x - mean) / scale, _projected(found.patient.columns, z), atol=1e-6)
    start = linprog(
        np.zeros(M), A_ub=B * scale, b_ub=d - B @ mean, bounds=(None, None), method="highs"
    )
    assume(start.x is not None)
    other = minimize(
        lambda v: v @ v,
        start.x,
        jac=lambda v: 2 * v,
        constraints={
            "type": "ineq",
            "fun": lambda v: d - B @ mean - B * scale @ v,
            "jac": lambda v: -B * scale,
        },
        method="SLSQP",
    )
    if other.success:
        assert z @ z <= other.x @ other.x + 1e-4


def _projected(columns: np.ndarray, z: np.ndarray) -> np.ndarray:
    row = np.zeros(M)
    row[columns] = z[columns]
    return row


def test_a_box_without_end_has_no_worst_case():
    (rule,) = compile_rules("x0 >= 1 => positive", n_features=2)
    worst = worst_case(rule.B, rule.d, 1.0, np.array([1.0, 1.0]), 0.0, -np.inf, np.inf)
    assert worst.value == -np.inf
    assert worst.feasible
    assert worst_case(rule.B, rule.d, 1.0, np.array([1.0, 0.0]), 0.0, -np.inf, np.inf).value == 1


def test_an_empty_region_holds_and_says_so():
    (rule,) = compile_rules("x0 >= 5 => positive", n_features=1)
    worst = worst_case(rule.B, rule.d, 1.0, np.array([-1.0]), 0.0, 0.0, 4.0)
    assert (worst.feasible, worst.value, worst.sentence()) == (
        False,
        np.inf,
        "nobody in the box meets the premise",
    )


def test_a_million_features_cost_no_more_than_those_that_matter():
    (rule,) = compile_rules("x5 >= 1 and x6 + x7 <= 3 => positive", n_features=1_000_000)
    w = np.zeros(1_000_000)
    w[[5, 900_000]] = 1.0, -2.0
    worst = worst_case(rule.B, rule.d, rule.sign, w, 0.5, 0.0, 2.0)
    assert worst.value == pytest.approx(1 - 4 + 0.5)
    assert set(worst.patient.columns) == {5, 6, 7, 900_000}
    assert worst.patient.named(rule.features)["x900000"] == 2.0


def test_the_observed_box_spans_the_data():
    X = np.array([[1.0, np.nan, 0.0], [3.0, 2.0, 0.0]], dtype=np.float32)
    box = Box.observed(X)
    assert np.asarray(box.lo).tolist() == [1, 2, 0]
    assert np.asarray(box.hi).tolist() == [3, 2, 0]
    thin = Box.observed(sparse.csr_matrix([[0.0, 2.0], [-1.0, 3.0]]))
    assert np.asarray(thin.lo).tolist() == [-1, 2]


# --------------------------------------------------------------------------------------------------
# Box.


REALS = st.integers(-6, 6).map(float)


@st.composite
def programmes(draw):
    """min c'x with A x <= d in a box of three columns."""
    n, m = 3, draw(st.integers(1, 3))
    A = np.array(draw(st.lists(st.lists(REALS, min_size=n, max_size=n), min_size=m, max_size=m)))
    c, d = (np.array(draw(st.lists(REALS, min_size=k, max_size=k))) for k in (n, m))
    lo = np.array(draw(st.lists(REALS, min_size=n, max_size=n)))
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


# --------------------------------------------------------------------------------------------------
# Points.


WHOLES = st.integers(-5, 5).map(float)
ROWS = st.lists(st.lists(WHOLES, min_size=3, max_size=3), min_size=1, max_size=4).map(np.array)


@given(ROWS, st.data())
def test_a_point_is_found_just_when_there_is_one(A, data):
    d = np.array(data.draw(st.lists(WHOLES, min_size=len(A), max_size=len(A))))
    lo, hi = np.full(3, -2.0), np.full(3, 3.0)
    x = some_point(A, d, lo, hi)
    answer = linprog(np.zeros(3), A_ub=A, b_ub=d, bounds=[(-2, 3)] * 3, method="highs")
    assert (x is not None) == (answer.status == 0)
    if x is not None:
        assert (A @ x <= d + 1e-4).all()
        assert ((lo <= x) & (x <= hi)).all()


@given(ROWS, st.data())
def test_the_shortest_point_is_not_longer_than_one_found_by_search(A, data):
    d = np.array(data.draw(st.lists(WHOLES, min_size=len(A), max_size=len(A))))
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
