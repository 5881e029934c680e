from __future__ import annotations

import pytest

from hipad.errors import RuleError
from hipad.rules import parse_rules

A, B, C = "a >= 1", "b >= 2", "c >= 3"


def premises(text: str) -> list[str]:
    return [rule.premise for rule in parse_rules(f"{text} => x")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"({A} and {B})", [f"{A} and {B}"]),
        (f"{A} & {B}", [f"{A} and {B}"]),
        (f"{A} ∧ {B} ∨ {C}", [f"{A} and {B}", C]),
        (f"{A}, {B}", [f"{A} and {B}"]),
        (f"{A}, {B} or {C}", [A, B, C]),
        (f"{A} and/or {B}", [A, B]),
        (f"{A} and ({B} or {C})", [f"{A} and {B}", f"{A} and {C}"]),
        (f"not ({A} and {B})", ["a < 1", "b < 2"]),
        (f"not {A} and {B}", [f"a < 1 and {B}"]),
        (f"{A} unless {B}", [f"{A} and b < 2"]),
        (f"{A} but not {B}", [f"{A} and b < 2"]),
        (f"either {A} or {B}", [A, B]),
        (f"both {A} and {B}", [f"{A} and {B}"]),
        (f"neither {A} nor {B}", ["a < 1 and b < 2"]),
        (f"any of ({A}, {B})", [A, B]),
        (f"all of ({A}, {B})", [f"{A} and {B}"]),
        (f"none of ({A}, {B})", ["a < 1 and b < 2"]),
        (f"at least 2 of: {A}, {B}, {C}", [f"{A} and {B}", f"{A} and {C}", f"{B} and {C}"]),
        (f"two of ({A}, {B} and {C})", [f"{A} and {B}", f"{A} and {C}", f"{B} and {C}"]),
        (f"at most 1 of ({A}, {B})", ["a < 1", "b < 2"]),
        (f"exactly 1 of ({A}, {B})", [f"{A} and b < 2", f"{B} and a < 1"]),
        ("more than 1 of (p, q, r)", ["at least 2 of (p, q, r)"]),
        ("fewer than 2 of (p, q, r)", ["at most 1 of (p, q, r)"]),
        ("none of (p, q)", ["at most 0 of (p, q)"]),
        ("all of (p, q)", ["p and q"]),
        ("any of (p, q) >= 2", ["max(p, q) >= 2"]),
        ("all of (p, q) >= 2", ["min(p, q) >= 2"]),
        ("not p", ["not p"]),
    ],
)
def test_joined_conditions_become_rules(text, expected):
    assert premises(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{A} or {B}, {C}", "write brackets"),
        (f"{A}; {B}", "in place of ';'"),
        (f"{A} xor {B}", "one rule for each case"),
        (f"{A} {B}", "'and' or 'or' between conditions"),
        (f"at least 3 of ({A}, {B})", "write another number"),
        ("a >= 1 ~ 2", "does not belong here"),
        (" and ".join([f"({A} or {B})"] * 7), "more than 64 rules"),
        ("not " * 5_000 + A, "inside each other"),
    ],
)
def test_what_is_not_clear_is_refused(text, words):
    with pytest.raises(RuleError, match=words.replace("(", r"\(")):
        premises(text)
