from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import linprog

from hipad.rules import (
    CompiledRule,
    Rule,
    RuleEvidence,
    RuleWeights,
    check_rules,
    compile_rules,
    rule_gradients,
)
from hipad.rules.checks import Regions
from hipad.rules.guarantees import Box, some_point

M = 5
NUMBERS = st.integers(-3, 3).map(float)


def rule_of(B: np.ndarray, d: np.ndarray, label: str, sign: float = 1.0) -> CompiledRule:
    rule = Rule.simple(label, {"x0": 1}, 0, "positive" if sign > 0 else "negative")
    return CompiledRule(rule, sparse.csr_array(B), d, sign, label=label)


ROWS = st.integers(1, 3).flatmap(
    lambda k: st.tuples(
        hnp.arrays(np.float64, (k, M), elements=NUMBERS),
        hnp.arrays(np.float64, k, elements=NUMBERS),
    )
)
"""Few different weights, so that parallel rows and groups of columns are common."""


def oracle(c, rules: list[CompiledRule], lo: float, hi: float, tighter: float = 0.0):
    """The least c'x where all the rules fire in the box, by HiGHS on the whole problem."""
    B = np.vstack([rule.B.toarray() for rule in rules])
    d = np.concatenate([rule.d for rule in rules]) - tighter
    answer = linprog(c, A_ub=B, b_ub=d, bounds=(lo, hi), method="highs")
    return None if answer.status == 2 else answer


@settings(max_examples=120)
@given(st.tuples(ROWS, ROWS, ROWS))
def test_regions_meet_and_contain_each_other_as_linear_programmes_say(rows: tuple):
    lo, hi = -2.0, 3.0
    rules = [rule_of(B, d, label) for (B, d), label in zip(rows, "abc", strict=True)]
    regions = Regions.of(rules, Box(lo, hi))
    for i, rule in enumerate(rules):
        if regions.regions[i].point is not None:
            assert in_all(regions.witness(i).filled(np.zeros(M)), [rule], lo, hi)
        else:
            assert oracle(np.zeros(M), [rule], lo, hi, 1e-5) is None
    for i, j in ((0, 1), (1, 2), (2, 0)):
        pair = [rules[i], rules[j]]
        patient = regions.meeting(i, j)
        if patient is None:
            assert oracle(np.zeros(M), pair, lo, hi, 1e-5) is None
        else:
            assert in_all(patient.filled(np.zeros(M)), pair, lo, hi)
        assert regions.inside(i, j) == highest_fits(rules[i], rules[j], lo, hi)


def in_all(x: np.ndarray, rules: list[CompiledRule], lo: float, hi: float) -> bool:
    inside = ((x >= lo - 1e-9) & (x <= hi + 1e-9)).all()
    return bool(inside) and all((rule.B @ x <= rule.d + 1e-5).all() for rule in rules)


def highest_fits(inner: CompiledRule, outer: CompiledRule, lo: float, hi: float) -> bool:
    for row, bound in zip(outer.B.toarray(), outer.d, strict=True):
        answer = oracle(-row, [inner], lo, hi)
        if answer is None:
            return True
        if -answer.fun > bound + 1e-5:
            return False
    return True


@given(
    hnp.arrays(np.float64, (4, 150), elements=NUMBERS), hnp.arrays(np.float64, 4, elements=NUMBERS)
)
@settings(max_examples=25)
def test_points_of_large_systems_agree_with_small_ones(A: np.ndarray, d: np.ndarray):
    lo, hi = np.full(150, -1.0), np.full(150, 1.0)
    x = some_point(A, d, lo, hi)
    again = some_point(sparse.csr_array(A), d, lo, hi)
    assert (x is None) == (again is None)
    if x is not None:
        assert (A @ x <= d + 1e-4).all()


def kinds(text: str, lo: float = 0.0, hi: float = 10.0, **more) -> list[tuple[str, tuple]]:
    blocks = {"K": np.arange(3, 8)}
    rules = compile_rules(text, n_features=8, blocks=blocks)
    found = check_rules(rules, lo, hi, **more)
    for finding in found:
        assert finding.sentence
        assert finding.remedy
        if finding.witness is not None:
            x = finding.witness.filled(np.full(8, 5.0))
            named = [rule for rule in rules if rule.label in finding.rules[:2]]
            if finding.kind in ("conflict", "duplicate", "always", "average"):
                assert all(rule.fires(x[None, :])[0] for rule in named)
            if finding.kind == "subsumed":
                assert all(
                    rule.fires(x[None, :])[0] for rule in rules if rule.label in finding.rules
                )
    return [(finding.kind, finding.rules) for finding in found]


def test_each_kind_of_finding():
    assert kinds("a: x0 >= 3 and x0 <= 2 => positive") == [("empty", ("a",))]
    assert kinds("a: x0 >= 11 => positive") == [("unseen", ("a",))]
    assert kinds("a: x0 + x1 >= 1 and mean(K) <= -1 => positive") == [("unseen", ("a",))]
    assert kinds("a: x0 >= 0 => positive") == [("always", ("a",))]
    twice = "a: x0 >= 2 => positive\nb: 2*x0 >= 4 => positive"
    assert kinds(twice) == [("duplicate", ("a", "b"))]
    assert kinds("a: mean(K) >= 2 and x0 >= 1 => positive\nb: sum(K) >= 5 => positive") == [
        ("subsumed", ("a", "b"))
    ]
    assert kinds("a: x0 >= 2 => positive\nb: x1 >= 2 => negative") == [("conflict", ("a", "b"))]
    assert kinds("a: x0 >= 2 => positive\nb: x0 <= 1 => negative") == []
    assert kinds("a: x0 >= 2 => positive\nb: x1 >= 2 => positive") == []


@pytest.mark.parametrize(("d", "found"), [(0.5, [("average", ("a",))]), (-0.5, [])])
def test_a_rule_that_the_middle_between_the_classes_meets(d, found):
    (rule,) = compile_rules("a: x0 >= 3 => positive", n_features=1)
    told = [dataclasses.replace(rule, d=np.array([d]))]
    assert [(f.kind, f.rules) for f in check_rules([rule], 0.0, 9.0, scaled=told)] == found


def test_a_rule_that_its_patients_contradict():
    rules = compile_rules("a: x0 >= 3 => positive\nb: x0 >= 4 => positive", n_features=1)
    evidence = [RuleEvidence(32.0, 2.0, 0.0), RuleEvidence(5.0, 4.0, 1.0)]
    found = [f for f in check_rules(rules, 0.0, 9.0, evidence=evidence) if f.kind == "contradicted"]
    assert [f.rules for f in found] == [("a",)]
    assert "30 of the 32 training patients a speaks of contradict it" in str(found[0])


def test_a_rule_that_meets_many_gets_one_finding():
    text = "a: x0 >= 2 => positive\n" + "\n".join(
        f"n{j}: x{j} >= 1 => negative" for j in range(1, 7)
    )
    assert kinds(text) == [("conflict", ("a", "n1", "n2", "n3", "n4", "n5", "n6"))]


@pytest.mark.parametrize(
    ("sigma", "rho", "words"),
    [
        (0.001, 1e6, "for its worth; make it worth more than 2 patients"),
        (10.0, 0.1, "for its stiffness; raise its stiffness above 2"),
        (1e-4, 0.1, "make it worth more than 2 patients and raise its stiffness above 2"),
    ],
)
def test_a_weak_rule_is_told_by_which_knob(sigma: float, rho: float, words: str):
    # mean of 5 features >= 4: pull min(sigma * 4, rho / 20) against 0.1
    (rule,) = compile_rules("a: mean(x0:x4) >= 4 => positive", n_features=5)
    weights = [RuleWeights(sigma, rho, n_samples=80)]
    gradients = rule_gradients([rule], weights, 0.1)
    (finding,) = check_rules([rule], -9.0, 9.0, weights=weights, gradients=gradients)
    assert finding.kind == "weak"
    assert words in str(finding)
    loud = [RuleWeights(0.03, 2.1, n_samples=80)]
    gradients = rule_gradients([rule], loud, 0.1)
    assert check_rules([rule], -9.0, 9.0, weights=loud, gradients=gradients) == ()
