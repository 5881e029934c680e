from __future__ import annotations

import pytest

from hipad.rules import FeatureIndex, compile_rules
from tests.rules.reading import premises, refused

A, B, C = "a >= 1", "b >= 2", "c >= 3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{A} & {B}", [f"{A} and {B}"]),
        (f"{A} as well as {B}", [f"{A} and {B}"]),
        (f"{A} together with {B}", [f"{A} and {B}"]),
        (f"{A} ∧ {B} ∨ {C}", [f"{A} and {B}", C]),
        (f"{A}, {B}", [f"{A} and {B}"]),
        (f"{A}, {B} or {C}", [A, B, C]),
        (f"{A} and/or {B}", [A, B]),
        (f"{A} unless {B}", [f"{A} and b < 2"]),
        (f"{A} but not {B}", [f"{A} and b < 2"]),
        (f"{A} unless {B} or {C}", [f"{A} and b < 2 and c < 3"]),
    ],
)
def test_words_between_conditions(text, expected):
    assert premises(text) == expected


def test_names_share_the_comparison_that_comes_after_them():
    rules = compile_rules(
        "a, b and c >= 2 => positive",
        feature_names=FeatureIndex(["a", "b", "c"]),
        values=[[1.5, 0.0, 3.0], [2.5, 1.0, 7.0]],
    )
    assert [rule.resolved_text for rule in rules] == ["a >= 2 and b >= 1 and c >= 2 => positive"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{A} or {B}, {C}", "write brackets"),
        (f"{A}; {B}", "in place of ';'"),
        (f"{A} {B}", "'and' or 'or' between conditions"),
        ("a >= 1 ? 2", "does not belong here"),
        ("a ~ 2", "write a range"),
        ("a ≫ 2", "write > and how much"),
    ],
)
def test_what_joins_nothing_is_told(text, words):
    assert words in str(refused(text))
