from __future__ import annotations

import pytest

from tests.rules.reading import premises, refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > the 90th percentile", ["x > p90(x)"]),
        ("a > b > c > d", ["a > b and b > c and c > d"]),
        ("3 <= a < 5", ["3 <= a < 5"]),
        ("BMI of at least 30", ["BMI >= 30"]),
        ("Age 18-25", ["Age between 18 and 25"]),
        ("BMI 30 or more", ["BMI >= 30"]),
        ("BMI 30 or less", ["BMI <= 30"]),
        ("BMI is 30 or lower", ["BMI <= 30"]),
    ],
)
def test_what_may_follow_a_side(text, expected):
    assert premises(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5 <= a <= 3", "write a between 3 and 5"),
        ("5 <= a >= 3", "point the same way"),
        ("BP 140/90", "write a sign before the number"),
        ("2*a + b", "is not compared"),
        ("|a|", "compare"),
        ("non-smoker", "write not smoker"),
        ("a >= 2 b >= 3", "'and' or 'or' between conditions"),
    ],
)
def test_what_cannot_follow_is_told(text, words):
    assert words in str(refused(text))
