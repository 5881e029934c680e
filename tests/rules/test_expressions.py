from __future__ import annotations

import pytest

from tests.rules.reading import premises, refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3a + 2b >= 6", "3*a + 2*b >= 6"),
        ("2*(a + b) - (c - 1) >= 6", "2*a + 2*b - c + 1 >= 6"),
        ("debt > 40% of income", "debt > 0.4*income"),
        ("debt > 0.4 income", "debt > 0.4*income"),
        ("HER2 >= twice the ER", "HER2 >= 2*ER"),
        ("HER2 >= 2 times ER", "HER2 >= 2*ER"),
        ("(a + b)/c > 2", "a/c + b/c > 2"),
    ],
)
def test_sides_are_sums(text, expected):
    assert premises(text) == [expected]
    assert premises(expected) == [expected]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("a*b >= 2", 2, "a product of features is not linear"),
        ("weight/(height*height) > 30", 15, "a product of features is not linear"),
        ("a/0 >= 2", 2, "division by zero"),
        ("a^3 >= 2", 2, "a power is not linear"),
        ("a³ >= 2", 2, "a power is not linear"),
        ("a >= ", 7, "write a feature"),
        ("a >= and b", 6, "write a feature or a number before 'and'"),
        ("2*{a + b} >= 1", 3, "round brackets"),
        ("a + 5 % >= 1", 1, "without '%' in a sum"),
    ],
)
def test_what_is_not_linear_or_not_whole_says_what_to_write(text, column, words):
    error = refused(text)
    assert words in str(error)
    assert error.column == column
