from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import ColumnValues, FeatureIndex, NameTable, parse_rules
from hipad.rules.ast import Condition, FeatureSpan, negated
from hipad.rules.comparisons import read_atom
from hipad.rules.expressions import (
    AbsoluteValue,
    AnyOfGroup,
    MonotoneFunction,
    flag_name,
    is_known,
    level_of,
    lone_feature,
    named_flag,
    one_feature,
    read_operand,
    with_relation,
)
from tests.rules.reading import at_start, premises, refused

# --------------------------------------------------------------------------------------------------
# Operands.


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


# --------------------------------------------------------------------------------------------------
# Pairing.


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


# --------------------------------------------------------------------------------------------------
# Vague.


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("high CRP", "CRP >= p75(CRP)"),
        ("ABL1 overexpressed", "ABL1 >= p75(ABL1)"),
        ("CRP is low", "CRP <= p25(CRP)"),
    ],
)
def test_a_word_without_a_number_is_refused_with_one(text, remedy):
    error = refused(text)
    assert error.suggestion == remedy
    assert remedy in str(error)
    assert premises(remedy) == [remedy]


def test_what_is_normal_is_asked_for():
    assert "write its range, as in CRP between 2 and 4" in str(refused("CRP is normal"))


def test_a_feature_may_have_such_a_name():
    assert premises("high >= 2") == ["`high` >= 2"]
    assert not is_known(at_start("high"), "high")


# --------------------------------------------------------------------------------------------------
# Flags.


def test_a_name_alone_is_a_flag_until_it_is_turned_round():
    flag = named_flag("smoker", 1)
    assert (str(flag), flag_name(flag)) == ("smoker", "smoker")
    assert flag_name(negated(flag)) is None
    assert flag_name(read_atom(at_start("a >= 2"))) is None


def test_a_range_of_columns_is_a_flag_where_it_may_be():
    span = named_flag(FeatureSpan("g1", "g4"), 1)
    assert flag_name(span) is None
    assert flag_name(span, spans=True) == FeatureSpan("g1", "g4")


def test_a_flag_takes_the_comparison_of_another():
    like = read_atom(at_start("a >= 2"))
    assert isinstance(like, Condition)
    assert str(with_relation(named_flag("b", 1), like)) == "b >= 2"


# --------------------------------------------------------------------------------------------------
# Deviations.


X = np.random.default_rng(0).normal(5, 2, (50, 2))
WORDS = NameTable(FeatureIndex(["x", "y"]), {}, ColumnValues(X))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 2 sd", "x > mean(x) + 2*sd(x)"),
        ("x >= 2 standard deviations", "x >= mean(x) + 2*sd(x)"),
        ("x is more than 1.5 SDs above its mean", "x > mean(x) + 1.5*sd(x)"),
        ("x < -2 sd", "x < mean(x) - 2*sd(x)"),
        ("x > 2 sd above the median", "x > median(x) + 2*sd(x)"),
        ("x > mean + 2 sd", "x > mean(x) + 2*sd(x)"),
        ("x > 2*sd(x)", "x > 2*sd(x)"),
        ("x within 2 sd of the mean", "mean(x) - 2*sd(x) <= x <= mean(x) + 2*sd(x)"),
        ("x > 2 sd and y > 1 sd", "x > mean(x) + 2*sd(x) and y > mean(y) + 1*sd(y)"),
    ],
)
def test_deviations_are_counted_from_the_mean(text, expected):
    rules = parse_rules(f"{text} => positive", WORDS)
    assert rules == parse_rules(f"{expected} => positive", WORDS)
    assert parse_rules(str(rules), WORDS) == rules


@pytest.mark.parametrize("text", ["x < 2 sd", "x > 2 sd below the mean", "x <= 1 sd"])
def test_which_border_is_meant_is_asked(text):
    with pytest.raises(RuleError, match="two ways") as caught:
        parse_rules(f"{text} => positive", WORDS)
    assert len(parse_rules(f"{caught.value.suggestion} => positive", WORDS)) == 1


def test_a_feature_that_is_called_sd_is_one():
    words = NameTable(FeatureIndex(["x", "sd"]), {}, ColumnValues(X))
    assert str(parse_rules("x > 2 sd => positive", words)) == "x > 2*sd => positive"
