from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import parse_rules
from hipad.rules.parser import accept_off, read_title, skip_bullet
from tests.rules.reading import at_start

RULE = "Glucose >= 126 => diabetic"


@pytest.mark.parametrize("mark", ["1)", "1.", "(1)", "a)", "*", "-", "–"])
def test_the_mark_of_a_list_is_stepped_over(mark):
    cursor = at_start(f"{mark} {RULE}")
    skip_bullet(cursor)
    assert cursor.peek().text == "Glucose"
    assert str(parse_rules(f"{mark} {RULE}")) == RULE


def test_a_minus_without_a_blank_is_a_sign():
    assert str(parse_rules("-a >= 2 => x")) == "-a >= 2 => x"


@pytest.mark.parametrize(
    ("text", "off"), [("off a >= 1 => x", True), ("off: a >= 1 => x", False), ("off >= 1", False)]
)
def test_a_rule_is_switched_off_by_its_first_word(text, off):
    assert accept_off(at_start(text)) is off


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("high risk: a >= 1 => x", "high risk"),
        ("Rule 1: a >= 1 => x", "Rule 1"),
        ("R1:a >= 1 => x", "R1"),
        ("a >= 1: x", ""),
        ("at least 2 of: a >= 1, b >= 2 => x", ""),
    ],
)
def test_a_name_stands_before_a_colon(text, name):
    assert read_title(at_start(text)) == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("albumin:creatinine >= 30 => ill", "albumin/creatinine"),
        ("- a + b >= 2 => ill", "mark of a list"),
    ],
)
def test_a_beginning_with_two_meanings_is_refused(text, words):
    with pytest.raises(RuleError, match=words):
        parse_rules(text)
