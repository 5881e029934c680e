"""The checks at every scale: columns of size 1e-9 beside columns of size 1e9, against other LPs.

The oracle solves the same problem in exact fractions: a small simplex of its own, which shares
neither floats nor tolerances with the checks.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from hipad.rules import (
    Box,
    CompiledRule,
    Rule,
    check_rules,
    compile_rules,
    tightest_bound,
    worst_case,
)
from hipad.rules.overlap import Regions

M = 3
WEIGHTS = st.integers(-3, 3)
EXPONENTS = st.lists(st.integers(-9, 9), min_size=M, max_size=M)
SHIFTS = st.sampled_from([0, 0, 1, 1000, -50])  # where a box begins, in units of its width


@st.composite
def systems(draw: st.DrawFn, n_rules: int = 2) -> tuple:
    """Rules with small whole weights, in columns of any scale; the bounds are whole as well."""
    rules = []
    for _ in range(n_rules):
        k = draw(st.integers(1, 3))
        B = [[draw(WEIGHTS) for _ in range(M)] for _ in range(k)]
        rules.append((B, [draw(st.integers(-8, 8)) for _ in range(k)]))
    scale = 2.0 ** (np.array(draw(EXPONENTS)) * 10 / 3).round()  # powers of two: no rounding
    shift = np.array([draw(SHIFTS) for _ in range(M)], dtype=float)
    return rules, scale, shift


def compiled(B: list, d: list, scale: np.ndarray, shift: np.ndarray, label: str) -> CompiledRule:
    """The rule B z <= d for z = x / scale - shift, in the units of x."""
    rows = np.array(B, dtype=float)
    premise = Rule.simple(label, {"x0": 1}, 0, "positive")
    return CompiledRule(
        premise, sparse.csr_array(rows / scale), np.array(d) + rows @ shift, 1.0, label=label
    )


LO, HI = -2, 3


def feasible(rows: list[list[int]], bounds: list[int], lo: int = LO, hi: int = HI) -> bool:
    """Whether B z <= d has a point in the box, by Fourier and Motzkin in exact fractions."""
    system = [[*map(Fraction, row), Fraction(d)] for row, d in zip(rows, bounds, strict=True)]
    for j in range(M):
        one = [Fraction(int(k == j)) for k in range(M)]
        system += [[*one, Fraction(hi)], [*(-e for e in one), Fraction(-lo)]]
    for j in range(M):
        above = [row for row in system if row[j] > 0]
        below = [row for row in system if row[j] < 0]
        rest = [row for row in system if row[j] == 0]
        pairs = [
            [a / up[j] - b / down[j] for a, b in zip(up, down, strict=True)]
            for up in above
            for down in below
        ]
        system = [list(row) for row in {tuple(row) for row in rest + pairs}]
        if any(row[-1] < 0 and not any(row[:-1]) for row in system):
            return False
    return True


def test_the_oracle_knows_a_point_when_there_is_one():
    assert feasible([[1, 1, 0]], [-4])
    assert not feasible([[1, 1, 0]], [-5])
    assert feasible([[1, 0, 0], [-1, 0, 0]], [1, -1])


@settings(max_examples=80)
@given(systems())
def test_regions_meet_just_when_exact_fractions_say_so(system: tuple):
    (one, other), scale, shift = system
    rules = [compiled(*one, scale, shift, "a"), compiled(*other, scale, shift, "b")]
    box = Box((LO + shift) * scale, (HI + shift) * scale)
    regions = Regions.of(rules, box)
    for region, (B, d) in zip(regions.regions, (one, other), strict=True):
        assert (region.point is not None) == feasible(B, d)
    both = feasible(one[0] + other[0], one[1] + other[1])
    patient = regions.meeting(0, 1)
    assert (patient is not None) == both
    if patient is not None:
        x = patient.filled(np.asarray(box.lo))
        assert all((rule.B @ x <= rule.d + 1e-13 * size(rule, box)).all() for rule in rules)


def size(rule: CompiledRule, box: Box) -> np.ndarray:
    """The parts that a row adds up, at most, in the box."""
    largest = np.maximum(np.abs(box.lo), np.abs(box.hi))
    return abs(rule.B) @ largest + np.abs(rule.d)


@settings(max_examples=50)
@given(systems(1), st.lists(WEIGHTS, min_size=M, max_size=M))
def test_the_worst_case_is_that_of_a_programme_in_small_numbers(system: tuple, goal: list[int]):
    ((B, d),), scale, shift = system
    rule = compiled(B, d, scale, shift, "a")
    w = np.array(goal, dtype=float) / scale
    ends = (LO + shift) * scale, (HI + shift) * scale
    worst = worst_case(rule.B, rule.d, 1.0, w, -float(np.array(goal) @ shift), *ends)
    plain = linprog(goal, A_ub=B, b_ub=d, bounds=(LO, HI))
    assert worst.feasible == (plain.status == 0)
    if worst.feasible:
        assert worst.value == pytest.approx(plain.fun, abs=1e-6)


@settings(max_examples=30)
@given(systems(1), st.lists(WEIGHTS, min_size=M, max_size=M), st.integers(-3, 3))
def test_the_tightest_bound_does_not_depend_on_units(system: tuple, goal: list[int], b: int):
    ((B, d),), scale, _ = system
    nowhere = np.zeros(M)
    rule = compiled(B, d, scale, nowhere, "a")
    plain = compiled(B, d, np.ones(M), nowhere, "a")
    w = np.array(goal, dtype=float)
    found = tightest_bound(rule.B, rule.d, 1.0, w / scale, b, LO * scale, HI * scale)
    same = tightest_bound(plain.B, plain.d, 1.0, w, b, float(LO), float(HI))
    assert (found is None) == (same is None)
    if found is not None and same is not None:
        assert found == pytest.approx(same, abs=1e-6)


def conflicts(text: str, lo: float, hi: float) -> int:
    rules = compile_rules(text, n_features=4)
    return len([f for f in check_rules(rules, lo, hi) if f.kind == "conflict"])


@pytest.mark.parametrize("far", [1.0, 1e3, 2e8, 1e12, np.inf])
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_borders_that_do_not_touch_are_no_conflict(unit: float, far: float):
    """However wide the box is, or if it has no end."""
    lo, hi = -10 * unit * far, 10 * unit * far
    apart = f"x0 - x1 >= {5 * unit!r} => positive\nx0 - x1 <= {2 * unit!r} => negative"
    assert conflicts(apart, lo, hi) == 0
    tied = f"x0 >= {5 * unit!r} => positive\nx0 <= x1 and x1 <= {2 * unit!r} => negative"
    assert conflicts(tied, lo, hi) == 0
    close = f"x0 >= {5 * unit!r} => positive\nx0 <= {5.1 * unit!r} and x1 >= x2 => negative"
    assert conflicts(close, lo, hi) == 1


def test_a_strict_border_does_not_meet_the_other_side():
    assert conflicts("x0 >= 126 => positive\nx0 < 126 => negative", 0.0, 200.0) == 0
    assert conflicts("x0 > 126 => positive\nx0 <= 126 => negative", 0.0, 200.0) == 0
    assert conflicts("x0 >= 126 => positive\nx0 <= 126 => negative", 0.0, 200.0) == 1
    assert conflicts("x0 - x1 > 3 => positive\n2*x0 - 2*x1 <= 6 => negative", 0.0, 200.0) == 0
    assert conflicts("1 <= x0 < 3 => positive\nx0 >= 3 => negative", 0.0, 200.0) == 0
    assert conflicts("1 <= x0 < 3 => positive\nx0 <= 1 => negative", 0.0, 200.0) == 1


def test_nobody_can_meet_it_whatever_the_units():
    for unit in (1e-9, 1.0, 1e9):
        text = f"x0 >= {3 * unit!r} and x0 <= {2 * unit!r} => positive"
        (finding,) = check_rules(compile_rules(text, n_features=1), -unit, unit)
        assert finding.kind == "empty"
        text = f"x0 >= {3 * unit!r} and x0 <= {4 * unit!r} => positive"
        (finding,) = check_rules(compile_rules(text, n_features=1), -unit, unit)
        assert finding.kind == "unseen"
