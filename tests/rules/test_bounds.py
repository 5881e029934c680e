from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import parse_rules, rule_errors
from hipad.rules.lexer import DEEPEST, LONGEST_RULE, LONGEST_TEXT, MOST_RULES, MOST_SIGNS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#" * (LONGEST_TEXT + 1), "at most 1,048,576 characters, got 1,048,577"),
        ("a >= 1 => x\n" * (MOST_RULES + 1), "at most 2,000 rules, got 2,001"),
        (
            "a >= 1 => x\na >= 1" + " or b >= 1" * MOST_RULES + " => x",
            "line 2, .* more than 64",
        ),
        ("a >= 1 => x\n" + "a" * LONGEST_RULE + " >= 1 => x", "line 2, .* 200,000 characters"),
        ("(" * (DEEPEST + 1) + "a", f"line 1, column {DEEPEST + 1}: expected at most"),
        ("a" + "+a" * (MOST_SIGNS + 1) + " >= 1 => x", "at most 5,000 of the signs"),
    ],
)
def test_too_much_is_one_sentence(text, words):
    (error,) = rule_errors(text)
    assert len(str(error)) < 300
    with pytest.raises(RuleError, match=words):
        parse_rules(text)


def test_the_most_that_is_allowed_is_read():
    assert len(parse_rules("a >= 1 => x\n" * MOST_RULES)) == MOST_RULES
    assert len(parse_rules("a" + "+a" * MOST_SIGNS + " >= 1 => x")) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*3*a/4 >= 1 => x", "1.5*a >= 1 => x"),
        ("2/4*(a + 3*b)*2*2 >= 1 => x", "2*a + 6*b >= 1 => x"),
        ("(2*a + b)/3 >= 1 => x", "0.6666666666666666*a + 0.3333333333333333*b >= 1 => x"),
        ("-(a - b)*2 >= 1 => x", "-2*a + 2*b >= 1 => x"),
        ("(1 + 2)*a >= 1 => x", "3*a >= 1 => x"),
    ],
)
def test_chains_of_factors_are_multiplied_in_order(text, expected):
    assert str(parse_rules(text)) == expected


@pytest.mark.parametrize("text", ["2*a*3*b >= 1 => x", "a*b*2 >= 1 => x"])
def test_products_of_features_are_refused_wherever_they_stand(text):
    with pytest.raises(RuleError, match="not linear"):
        parse_rules(text)
