"""Points scores against their sums, counted row by row."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import compile_rules, parse_rules

NAMES = ["age", "sbp", "crp", "chf", "stroke", "falls"]
RNG = np.random.default_rng(8)
X = np.column_stack(
    [
        RNG.integers(20, 95, 800), RNG.uniform(80, 200, 800), RNG.uniform(0, 90, 800),
        RNG.integers(0, 2, 800), RNG.integers(0, 2, 800), RNG.integers(0, 5, 800),
    ]
).astype(float)  # fmt: skip
V = dict(zip(NAMES, X.T, strict=True))


def fires(text: str) -> np.ndarray:
    found = np.zeros(len(X), dtype=bool)
    for rule in compile_rules(f"{text} => positive", feature_names=NAMES, values=X):
        found |= rule.fires(X)
    return found


@pytest.mark.parametrize("sign", [">=", ">", "<=", "<", "="])
@pytest.mark.parametrize("number", [1, 2.5, 3])
def test_compile_rules_score_is_its_sum(sign, number):
    total = (2.0 * (V["age"] >= 75) + 0.5 * (V["sbp"] > 150) - (V["crp"] > 50)
             + 1.5 * V["chf"] + V["stroke"])  # fmt: skip
    text = f"2*(age >= 75) + 0.5*(sbp > 150) - (crp > 50) + 1.5*chf + (stroke) {sign} {number}"
    compare = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less,
               "=": np.equal}[sign]  # fmt: skip
    meant = compare(total, number)
    if not meant.any():
        assert not fires(text).any()
    else:
        assert (fires(text) == meant).all()


def test_compile_rules_score_with_a_count_and_two_sides():
    meant = 2 * (V["age"] >= 75) + V["falls"] >= 3
    assert (fires("2*(age >= 75) + falls >= 3") == meant).all()
    meant = (V["age"] >= 75).astype(int) + (V["crp"] > 50) > V["chf"] + (V["sbp"] > 150)
    assert (fires("(age >= 75) + (crp > 50) > (chf) + (sbp > 150)") == meant).all()
    both = 1 * (V["age"] >= 75) + ((V["sbp"] > 150) & (V["crp"] > 20))
    assert (fires("(age >= 75) + (sbp > 150 and crp > 20) between 1 and 1") == (both == 1)).all()


def test_parse_rules_score_keeps_the_smallest_sets_only():
    text = "2*(a > 1) + (b > 1) + (c > 1) + (d > 1) >= 3 => positive"
    assert sorted(rule.premise for rule in parse_rules(text)) == [
        "a > 1 and b > 1",
        "a > 1 and c > 1",
        "a > 1 and d > 1",
        "b > 1 and c > 1 and d > 1",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2*(a > 1) + (b > 1) >= 9", "cannot be reached"),
        ("2*(a > 1) + (b > 1) >= 0", "always true"),
        ("2*(a > 1) + (b > 1)", "not compared"),
        (" + ".join(f"(x{k} > 1)" for k in range(12)) + " >= 6", "more than 64 rules"),
        (" + ".join(f"(x{k} > 1)" for k in range(30)) + " >= 1", "more than 64 rules"),
    ],
)
def test_parse_rules_score_that_cannot_be_used_is_told(text, told):
    with pytest.raises(RuleError, match=told):
        parse_rules(f"{text} => positive")
