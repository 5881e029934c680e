from __future__ import annotations

import pytest

from hipad.rules.ast import Condition
from hipad.rules.comparisons import read_atom
from tests.rules.reading import at_start, premises, refused

# --------------------------------------------------------------------------------------------------
# Comparisons.


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


# --------------------------------------------------------------------------------------------------
# Atoms.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("smoker", "smoker"),
        ("at least 3 lymph_nodes", "lymph_nodes >= 3"),
        ("top 10 % of x", "x >= p90(x)"),
    ],
)
def test_one_condition_in_the_words_of_people(text, expected):
    assert premises(text) == [expected]
    assert premises(expected) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a >= 2 or <= -3", ["a >= 2", "a <= -3"]), ("a = 2 or 3", ["a = 2", "a = 3"])],
)
def test_a_later_condition_is_about_the_same_feature(text, expected):
    assert premises(text) == expected


def test_a_condition_keeps_how_it_was_written():
    node = read_atom(at_start("IL - 6  >=  5"))
    assert isinstance(node, Condition)
    assert node.written is not None
    assert (node.written.text, node.written.column) == ("IL - 6  >=  5", 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [("over 45 years", "write the feature before it"), ("3 >= 2", "names no feature")],
)
def test_a_condition_without_a_feature_is_refused(text, words):
    assert words in str(refused(text))


# --------------------------------------------------------------------------------------------------
# Membership.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stage in {II, III}", ["stage in {II, III}"]),
        ("stage not in {II, III}", ["stage not in {II, III}"]),
        ("stage is one of (II or III)", ["stage in {II, III}"]),
        ("a outside 3-5", ["a < 3", "a > 5"]),
        ("a not between 3 and 5", ["a < 3", "a > 5"]),
        ("x in the lowest quartile", ["x <= p25(x)"]),
        ("x is in the top 10 %", ["x >= p90(x)"]),
    ],
)
def test_sets_and_ranges_after_their_word(text, expected):
    assert premises(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a >= 5 ± 2", "is a range"),
        ("a >= 18-25", "is a range"),
        ("a is NA", "no value to compare with"),
        ("a >= nan", "no value to compare with"),
        ("a + b in {1, 2, 3}", "name one feature before 'in'"),
        ("stage in {II III; +}", "values with commas"),
    ],
)
def test_what_cannot_be_a_value_is_told(text, words):
    assert words in str(refused(text))
