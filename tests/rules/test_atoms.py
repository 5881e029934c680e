from __future__ import annotations

import pytest

from hipad.rules.ast import Condition
from hipad.rules.comparisons import read_atom
from tests.rules.reading import at_start, premises, refused


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
