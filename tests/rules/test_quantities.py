from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import parse_rules
from hipad.rules.lexer import TokenStream, read_number, unit_at, words_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6,5", 6.5),
        ("0,125", 0.125),
        ("50,000", 50_000),
        ("1,234,567", 1_234_567),
        ("120,000.50", 120_000.5),
        ("50 000", 50_000),
        ("50_000", 50_000),
        ("$50000", 50_000),
        ("50k", 50_000),
        ("1½", 1.5),
        ("½", 0.5),
        (".5", 0.5),
        ("2.", 2),
        ("5e-1", 0.5),
        ("10^9", 1e9),
        ("1.5 x 10^9", 1.5e9),
        ("10⁹", 1e9),
        ("２", 2),
    ],
)
def test_numbers_are_read_as_people_write_them(text, value):
    assert read_number(TokenStream(text, words_of(text))) == value


@pytest.mark.parametrize("text", ["126.000,5", "€50.000", "50.000", "1,23,4", "0x10", "1e999"])
def test_what_can_be_misread_is_refused(text):
    with pytest.raises(RuleError, match="write"):
        parse_rules(f"a >= {text} => x")


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("mg/dL and", "mg/dL"),
        ("kg/m^2", "kg/m^2"),
        ("years old", "years old"),
        ("°C", "°C"),
        ("mL/min/1.73m2", "mL/min/1.73m2"),
        ("income", ""),
        ("g3", ""),
    ],
)
def test_units_are_known(text, unit):
    assert unit_at(text, 0) == unit


def test_a_unit_is_kept_in_the_text_and_left_out_of_the_number():
    (rule,) = parse_rules("Glucose >= 126 mg/dL => ill")
    assert str(rule) == "Glucose >= 126 mg/dL => ill"
    assert rule.conditions[0].sides[1][0].coefficient == 126


def test_zeros_with_a_blank_between_them_are_two_numbers():
    text = "0 000"
    cursor = TokenStream(text, words_of(text))
    assert (read_number(cursor), cursor.at) == (0.0, 1)
