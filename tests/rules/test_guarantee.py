from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import linprog, minimize

from hipad.rules import compile_rules, prototype, tightest_bound, worst_case
from hipad.rules.guarantees import Box, knapsack, least_norm

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
