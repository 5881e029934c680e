from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hipad.rules import parse_rules
from hipad.rules.language.spelling import (
    format_number,
    on_line,
    quote_label,
    quote_name,
    read_quoted,
    rule_error,
)

ONE_LINE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).filter(
    lambda text: text.strip() and len(f"{text}.".splitlines()) == 1
)


@given(ONE_LINE, ONE_LINE)
def test_any_name_and_label_are_read_as_they_are_written(name, label):
    (rule,) = parse_rules(f"{quote_name(name)} >= 1 => {quote_label(label)}")
    assert rule.conditions[0].sides[0][0].names == (name,)
    assert rule.outcome == label


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_short_and_exact(value):
    assert float(format_number(value)) == value
    assert not format_number(value).endswith(".0")


@given(st.text(min_size=1))
def test_quotes_come_off(text):
    assert read_quoted("`" + text.replace("`", "``") + "`") == text


def test_an_error_learns_its_line_once():
    error = on_line(rule_error("bad", column=4, suggestion="good"), 3)
    assert str(error) == "line 3, column 4: bad"
    assert (error.line, error.suggestion) == (3, "good")
    assert on_line(error, 9) is error
