from __future__ import annotations

import pytest

from hipad.rules.operands import level_of
from tests.rules.reading import premises, refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abs(a) <= 2", ["-2 <= a <= 2"]),
        ("2 >= |a|", ["-2 <= a <= 2"]),
        ("|a - b| < 2", ["-2 < a - b < 2"]),
        ("|a| >= 2", ["a >= 2", "a <= -2"]),
        ("|a| <= b", ["a <= b and a >= -b"]),
        ("log2(x) > 3", ["x > 8"]),
        ("log10(x) <= -1", ["0 < x <= 0.1"]),
        ("sqrt(x) >= 2", ["x >= 4"]),
        ("sqrt(x) <= 1", ["0 <= x <= 1"]),
        ("any(K1) >= 9", ["max(K1) >= 9"]),
        ("all(K1) >= 9", ["min(K1) >= 9"]),
        ("none(K1) >= 9", ["max(K1) < 9"]),
    ],
)
def test_operands_that_are_no_sums_become_conditions_on_sums(text, expected):
    assert premises(text) == expected


@pytest.mark.parametrize(
    ("function", "value", "level"),
    [("log2", 3.0, 8.0), ("log10", -1.0, 0.1), ("sqrt", 3.0, 9.0), ("ln", 0.0, 1.0)],
)
def test_the_side_at_which_a_curve_has_a_value(function, value, level):
    assert level_of(function, value) == level


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("abs(a) >= -1", "never below 0"),
        ("exp(a) < 0", "is never 0"),
        ("log2(a) > b", "with a number only"),
        ("log10(a) > 400", "too large"),
        ("any(K1) = 2", "with >= or <="),
        ("|a| > |b|", "only one side"),
    ],
)
def test_what_has_no_one_meaning_says_what_to_write(text, words):
    assert words in str(refused(text))
