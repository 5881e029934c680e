from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules.operands import (
    AbsoluteValue,
    AnyOfGroup,
    MonotoneFunction,
    lone_feature,
    one_feature,
    read_operand,
)
from tests.rules.reading import at_start, refused


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("|a - b|", AbsoluteValue),
        ("abs(a)", AbsoluteValue),
        ("log2(a)", MonotoneFunction),
        ("any(K1)", AnyOfGroup),
        ("none(K1, g1:g4)", AnyOfGroup),
        ("2*a + 1", tuple),
    ],
)
def test_the_kind_of_an_operand(text, kind):
    cursor = at_start(text)
    assert isinstance(read_operand(cursor), kind)
    assert cursor.is_over


@pytest.mark.parametrize(
    ("text", "name"), [("a", "a"), ("2*a", "a"), ("a + b", None), ("log2(a)", None), ("3", None)]
)
def test_the_feature_that_an_operand_is(text, name):
    assert lone_feature(read_operand(at_start(text))) == name


def test_a_share_is_one_of_a_single_feature():
    cursor = at_start("a + b")
    with pytest.raises(RuleError, match="name one feature"):
        one_feature(read_operand(cursor), cursor)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("|a <= 2", "close |...|"),
        ("log2(a) + 1 >= 2", "must stand alone on its side"),
        ("any(a, 3) >= 2", "name features or blocks"),
    ],
)
def test_what_is_no_operand_is_told(text, words):
    assert words in str(refused(text))
