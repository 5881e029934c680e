from __future__ import annotations

import pytest

from hipad.errors import RuleError
from hipad.rules import parse_rules


def premises(text: str) -> list[str]:
    return [rule.premise for rule in parse_rules(f"{text} => x")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Age 18-25", "Age between 18 and 25"),
        ("Age = 18-25", "Age between 18 and 25"),
        ("Age 18–25", "Age between 18 and 25"),
        ("Age in [18, 25]", "Age between 18 and 25"),
        ("Age from 18 to 25", "Age between 18 and 25"),
        ("a = 5 +- 2", "a between 3 and 7"),
        ("a = 5 ± 2", "a between 3 and 7"),
        ("a in (1, 3]", "1 < a <= 3"),
        ("BMI 30 or more", "BMI >= 30"),
        ("Age 45+", "Age >= 45"),
        ("abs(a) <= 2", "-2 <= a <= 2"),
        ("|a - b| < 2", "-2 < a - b < 2"),
        ("log2(x) > 3", "x > 8"),
        ("log10(x) <= -1", "0 < x <= 0.1"),
        ("log2(x) between 1 and 3", "x between 2 and 8"),
        ("sqrt(x) >= 2", "x >= 4"),
        ("any(K1) >= 9", "max(K1) >= 9"),
        ("none(K1) >= 9", "max(K1) < 9"),
        ("top 10 % of x", "x >= p90(x)"),
        ("x in the lowest quartile", "x <= p25(x)"),
        ("stage in {II, III}", "stage in {II, III}"),
        ("stage not in {II, III}", "stage not in {II, III}"),
        ("smoker", "smoker"),
        ("at least 3 lymph_nodes", "lymph_nodes >= 3"),
        ("x > the 90th percentile", "x > p90(x)"),
    ],
)
def test_one_condition_in_the_words_of_people(text, expected):
    assert premises(text) == [expected]
    assert premises(expected) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|a| >= 2", ["a >= 2", "a <= -2"]),
        ("a outside 3-5", ["a < 3", "a > 5"]),
        ("a not between 3 and 5", ["a < 3", "a > 5"]),
        ("a >= 2 or <= -3", ["a >= 2", "a <= -3"]),
        ("a = 2 or 3", ["a = 2", "a = 3"]),
        ("a > b > c > d", ["a > b and b > c and c > d"]),
    ],
)
def test_some_conditions_are_several(text, expected):
    assert premises(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a >= 5 ± 2", "is a range"),
        ("a >= 18-25", "is a range"),
        ("a between 5 and 3", "write a between 3 and 5"),
        ("5 <= a <= 3", "write a between 3 and 5"),
        ("5 <= a >= 3", "point the same way"),
        ("a in (1, 2)", "write a between 1 and 2"),
        ("a is NA", "no value to compare with"),
        ("a >= nan", "no value to compare with"),
        ("high CRP", "CRP >= p75(CRP)"),
        ("ABL1 overexpressed", "ABL1 >= p75(ABL1)"),
        ("CRP is low", "CRP <= p25(CRP)"),
        ("over 45 years", "write the feature before it"),
        ("BP 140/90", "write a sign before the number"),
        ("abs(a) >= -1", "never below 0"),
        ("exp(a) < 0", "is never 0"),
        ("3 >= 2", "names no feature"),
    ],
)
def test_what_has_no_one_meaning_says_what_to_write(text, words):
    with pytest.raises(RuleError) as caught:
        premises(text)
    assert words in str(caught.value)
    assert caught.value.column is not None
