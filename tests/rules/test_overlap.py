from __future__ import annotations

import itertools
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from hipad.rules import (
    Box,
    Budget,
    CompiledRule,
    Rule,
    check_rules,
    compile_rules,
    tightest_bound,
    worst_case,
)
from hipad.rules import checks as module
from hipad.rules.checks import (
    Pairs,
    PairScreen,
    Region,
    Regions,
    RegionTable,
    largest_sums,
    row_matrix,
    touching,
)
from hipad.rules.compiled_rule import Row

# --------------------------------------------------------------------------------------------------
# One region: how rows narrow its box, and whether it is empty or the whole of it.


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


# --------------------------------------------------------------------------------------------------
# Regions.


def regions_of(text: str, lo: float = 0.0, hi: float = 10.0) -> Regions:
    blocks = {"K": np.arange(3, 9)}
    rules = compile_rules(text.replace(";", "\n"), n_features=9, blocks=blocks)
    return Regions.of(rules, Box(np.full(9, lo), np.full(9, hi)))


@pytest.mark.parametrize(
    ("text", "inside", "meet"),
    [
        ("x0 >= 5 => positive; x0 >= 3 => positive", True, True),
        ("x0 >= 3 => positive; x0 >= 5 => positive", False, True),
        ("x0 >= 5 => positive; x0 <= 3 => negative", False, False),
        ("x0 >= 5 => positive; x1 >= 5 => positive", False, True),
        ("x0 + x1 >= 18 => positive; x0 >= 8 => positive", True, True),
        ("mean(K) >= 9 => positive; sum(K) >= 50 => positive", True, True),
        ("mean(K) >= 9 => positive; x3 <= 5 => negative", False, True),
        ("mean(K) >= 9 => positive; max(K) <= 8 => negative", False, False),
    ],
)
def test_regions_lie_in_each_other_and_meet(text: str, inside: bool, meet: bool):
    regions = regions_of(text)
    assert regions.inside(0, 1) == inside
    assert (regions.meeting(0, 1) is not None) == meet


def test_columns_of_one_weight_act_as_one():
    regions = regions_of("mean(K) >= 4 => positive; x0 >= 1 => positive")
    assert len(regions.group_lo) == 2
    patient = regions.witness(0)
    assert patient.columns.tolist() == list(range(3, 9))
    assert patient.values.mean() >= 4


def test_a_strict_border_belongs_to_neither_side():
    assert regions_of("x0 < 5 => positive; x0 >= 5 => negative").meeting(0, 1) is None
    assert regions_of("x0 <= 5 => positive; x0 >= 5 => negative").meeting(0, 1) is not None


def test_a_side_without_end_lies_beyond_what_rules_compare_with():
    far = regions_of("x0 >= 500 => positive; x1 >= 3 => positive", -np.inf, np.inf)
    assert far.witness(0).values[0] >= 500
    assert far.meeting(0, 1) is not None


# --------------------------------------------------------------------------------------------------
# Pairs.


LO, HI = -2.0, 3.0


def rules_text(seed: int, n: int = 14) -> str:
    """Rules of many forms that meet, hold and miss each other."""
    rng = np.random.default_rng(seed)

    def premise() -> str:
        a, b = np.sort(rng.integers(0, 9, 2))
        c, limit = rng.integers(0, 9), round(float(rng.uniform(-1.5, 2.5)), 1)
        sign = rng.choice([">=", "<="])
        forms = (
            f"mean(x{a}:x{b}) {sign} {limit}",
            f"x{c} {sign} {limit}",
            f"x{c} {sign} {limit} and mean(x{a}:x{b}) <= {limit + 1:.1f}",
            f"sum(x{a}:x{b}) - 2*x{c} {sign} {limit} and x{a} >= 0",
            f"x{c} between {limit - 1:.1f} and {limit:.1f}",
            f"min(x{a}:x{b}) >= {limit}",
        )
        return str(rng.choice(forms))

    outcomes = rng.choice(["positive", "negative"], n)
    return "\n".join(f"{premise()} => {outcome}" for outcome in outcomes)


@pytest.mark.parametrize("seed", range(40))
def test_a_glance_says_what_each_pair_says_alone(seed):
    rules = compile_rules(rules_text(seed), n_features=9)
    pairs = Pairs(Regions.of(rules, Box(LO, HI)), Budget())
    alone = Regions.of(rules, Box(LO, HI))
    for i in pairs.alive:
        others = [j for j in pairs.alive if j != i]
        assert pairs.meeting(i, others) == [j for j in others if alone.meeting(i, j) is not None]
        assert pairs.near(i) == [
            j for j in pairs.near(i) if set(rules[i].columns) & set(rules[j].columns)
        ]
        for j in others:
            if set(rules[i].columns) & set(rules[j].columns):
                assert pairs.inside(i, j) == alone.inside(i, j)
    assert not pairs.missed


def test_a_budget_that_ends_leaves_a_word_on_what_was_not_reached():
    rules = compile_rules(rules_text(0, 40), n_features=9)
    whole = check_rules(rules, LO, HI)
    assert not [f for f in whole if f.kind == "unchecked"]
    for steps in (0, 10, 30):
        found = check_rules(rules, LO, HI, budget=Budget(steps=steps))
        (unchecked,) = [f for f in found if f.kind == "unchecked"]
        assert "of 40 rules were not compared with all others" in unchecked.sentence
        assert {str(f) for f in found if f.kind == "empty"} <= {str(f) for f in whole}


def test_a_stop_ends_the_check_at_once():
    stop = threading.Event()
    stop.set()
    rules = compile_rules(rules_text(1), n_features=9)
    (finding,) = check_rules(rules, LO, HI, budget=Budget(stop=stop))
    assert finding.kind == "unchecked"
    assert finding.sentence.startswith("14 of 14 rules")


def test_hundreds_of_rules_on_long_ranges_need_few_steps():
    rng = np.random.default_rng(0)
    starts, lengths = rng.integers(0, 9_400, 300), rng.integers(50, 500, 300)
    text = "\n".join(
        f"mean(x{a}:x{a + n}) >= {k % 7} => {('positive', 'negative')[k % 2]}"
        for k, (a, n) in enumerate(zip(starts, lengths, strict=True))
    )
    budget = Budget(steps=3_000)
    found = check_rules(compile_rules(text, n_features=10_000), 0.0, 10.0, budget=budget)
    assert not [f for f in found if f.kind == "unchecked"]
    assert len([f for f in found if f.kind == "conflict"]) == 150


def test_an_empty_set_of_rules_has_no_findings():
    assert check_rules((), 0.0, 1.0) == ()


# --------------------------------------------------------------------------------------------------
# Together.


def regions_of_together(seed: int) -> tuple[Regions, list[int]]:
    rules = compile_rules(rules_text(seed, 20), n_features=9)
    regions = Regions.of(rules, Box(LO, HI))
    return regions, [i for i, each in enumerate(regions.regions) if each.point is not None]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_seen_of_all_pairs_holds_for_each(seed):
    regions, alive = regions_of_together(seed)
    together = RegionTable(regions, [regions.regions[i] for i in alive])
    (inside, outside), steps = together.within, np.arange(len(alive))
    for a, b in itertools.permutations(range(len(alive)), 2):
        meets = regions.meeting(alive[a], alive[b]) is not None
        assert not (together.apart[a, b] and meets)
        assert meets or not together.unbound[a, b]
        assert not inside[a, b] or regions.inside(alive[a], alive[b])
        assert not (outside[a, b] and regions.inside(alive[a], alive[b]))
    for a in steps:
        met = together.met_by_steps(a, steps)
        assert not (met & together.apart[a]).any()
    assert together.apart.any()
    assert together.unbound.any()
    assert inside.any()
    assert outside.any()


def test_without_room_for_matrices_nothing_false_is_said(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 10)
    regions, alive = regions_of_together(0)
    together = RegionTable(regions, [regions.regions[i] for i in alive])
    assert together.ranges is None
    assert not together.within[0].any()
    assert not together.met_by_steps(0, np.arange(len(alive))).any()
    for a, b in itertools.permutations(range(len(alive)), 2):
        meets = regions.meeting(alive[a], alive[b]) is not None
        assert meets or not together.unbound[a, b]
        assert not (together.apart[a, b] and meets)


# --------------------------------------------------------------------------------------------------
# Glance.


SIDES = st.sampled_from(["x0", "x1", "x0 + x1", "x0 - x2", "mean(x0:x2)"])
LINES = st.builds(
    "{} {} {} => positive".format, SIDES, st.sampled_from([">=", "<="]), st.integers(0, 9)
)


@given(st.lists(LINES, min_size=2, max_size=5))
def test_what_a_glance_says_is_so(lines: list[str]):
    rules = compile_rules("\n".join(lines), n_features=3)
    regions = Regions.of(rules, Box(np.zeros(3), np.full(3, 10.0)))
    alive = [i for i, region in enumerate(regions.regions) if region.point is not None]
    if not alive:
        return
    glance = PairScreen.of(regions, alive)
    meet, outside = glance.meetings(Budget()), glance.outside(Budget())
    for a, b in itertools.permutations(range(len(alive)), 2):
        if meet[a, b]:
            assert regions.meeting(alive[a], alive[b]) is not None
        if outside[a, b]:
            assert not regions.inside(alive[a], alive[b])


def test_a_spent_budget_says_nothing():
    rules = compile_rules("x0 >= 1 => positive\nx0 >= 2 => positive", n_features=1)
    glance = PairScreen.of(Regions.of(rules, Box(np.zeros(1), np.full(1, 9.0))), [0, 1])
    assert glance.meetings(Budget()).all()
    assert not glance.meetings(Budget(steps=0)).any()


# --------------------------------------------------------------------------------------------------
# The checks at every scale: columns of size 1e-9 beside columns of size 1e9, against other LPs.
#
# The oracle solves the same problem in exact fractions: a small simplex of its own, which shares
# neither floats nor tolerances with the checks.


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


LOW, HIGH = -2, 3


def feasible(rows: list[list[int]], bounds: list[int], lo: int = LOW, hi: int = HIGH) -> bool:
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
    box = Box((LOW + shift) * scale, (HIGH + shift) * scale)
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
    ends = (LOW + shift) * scale, (HIGH + shift) * scale
    worst = worst_case(rule.B, rule.d, 1.0, w, -float(np.array(goal) @ shift), *ends)
    plain = linprog(goal, A_ub=B, b_ub=d, bounds=(LOW, HIGH))
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
    found = tightest_bound(rule.B, rule.d, 1.0, w / scale, b, LOW * scale, HIGH * scale)
    same = tightest_bound(plain.B, plain.d, 1.0, w, b, float(LOW), float(HIGH))
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
