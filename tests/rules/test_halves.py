from __future__ import annotations

import pytest

from hipad.rules import parse_rules
from hipad.rules.parser import outside_brackets, read_halves
from tests.rules.reading import at_start, told

RULE = "Glucose >= 126 => diabetic"


@pytest.mark.parametrize(
    "text",
    [
        "If Glucose >= 126 then diabetic",
        "if Glucose >= 126, then diabetic",
        "If Glucose >= 126, diabetic",
        "diabetic if Glucose >= 126",
        "diabetic when Glucose >= 126",
        "Glucose >= 126: diabetic",
        "diabetic: Glucose >= 126",
        "Glucose >= 126 implies diabetic",
        "diabetic ⇐ Glucose >= 126",
        "Glucose >= 126 => diabetic",
    ],
)
def test_a_line_in_the_orders_that_people_use(text):
    premise, outcome = read_halves(at_start(text))
    assert premise.text(0, len(premise.words)) == "Glucose >= 126"
    assert outcome.text(0, len(outcome.words)) == "diabetic"
    assert str(parse_rules(text)) == RULE


def test_people_may_be_named():
    assert str(parse_rules("patients with Glucose >= 126 are diabetic")) == RULE


def test_words_in_brackets_split_nothing():
    assert outside_brackets(at_start("a (b => c) d")) == [0, 1, 6]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a >= 2", "the rule has no outcome"),
        ("always ill", "the rule has no outcome"),
        ("a => 2 => ill", "write >= in place of =>"),
        ("a >= 2 <=> ill", "in one direction"),
        ("a >= 2 := ill", "in place of ':='"),
        ("a >= 2 => ill; b >= 1 => well", "one rule per line"),
    ],
)
def test_a_line_without_one_arrow_is_told(text, words):
    assert words in told(text)
