from __future__ import annotations

import pytest

from hipad.errors import RuleError
from hipad.rules import parse_rules


def premise(text: str) -> str:
    (rule,) = parse_rules(f"{text} => x")
    return rule.premise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3a + 2b >= 6", "3*a + 2*b >= 6"),
        ("2*(a + b) - (c - 1) >= 6", "2*a + 2*b - c + 1 >= 6"),
        ("debt > 40% of income", "debt > 0.4*income"),
        ("debt > 0.4 income", "debt > 0.4*income"),
        ("HER2 >= twice the ER", "HER2 >= 2*ER"),
        ("HER2 >= 2 times ER", "HER2 >= 2*ER"),
        ("[blood pressure] >= 140", "`blood pressure` >= 140"),
        ("blood pressure >= 140", "`blood pressure` >= 140"),
        ("Glucose (mg/dL) >= 126", "Glucose >= 126"),
        ("mean of K1 >= 4", "mean(K1) >= 4"),
        ("average(K1) >= 4", "mean(K1) >= 4"),
        ("mean(g1..g4) >= 4", "mean(g1:g4) >= 4"),
        ("quantile(x, 0.9) <= x", "p90(x) <= x"),
        ("debt / income > 0.4", "debt/income > 0.4"),
        ("(a + b)/c > 2", "a/c + b/c > 2"),
        ("LDL/HDL ratio > 3", "LDL/HDL > 3"),
        ("ratio of LDL to HDL > 3", "LDL/HDL > 3"),
    ],
)
def test_sides_are_sums(text, expected):
    assert premise(text) == expected
    assert premise(expected) == expected


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("a*b >= 2", 2, "a product of features is not linear"),
        ("weight/(height*height) > 30", 15, "a product of features is not linear"),
        ("3/a >= 2", 2, "as a ratio"),
        ("a/0 >= 2", 2, "division by zero"),
        ("a^2 >= 2", 2, "a power is not linear"),
        ("a² >= 2", 2, "a power is not linear"),
        ("log(a) >= 2", 1, "ln(x), log2(x) or log10(x)"),
        ("meen(K1) >= 2", 1, "write mean(...)"),
        ("mean() >= 2", 6, "name features or blocks between the brackets"),
        ("mean(g1 + g2) >= 4", 9, "takes names, not sums"),
        ("mean(K1 >= 2", 5, "close it with ')'"),
        ("a >= 1 + abs(b)", 10, "must stand alone"),
        ("1e90*1e90*age >= 1", 10, "in another unit"),
        ("a >= ", 7, "write a feature"),
        ("a >= and b", 6, "write a feature or a number before 'and'"),
    ],
)
def test_what_is_not_linear_or_not_whole_says_what_to_write(text, column, words):
    with pytest.raises(RuleError) as caught:
        parse_rules(f"{text} => x")
    assert words in str(caught.value)
    assert caught.value.column == column
