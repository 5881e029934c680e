from __future__ import annotations

import pytest

from hipad.errors import RuleError
from hipad.rules import parse_rules
from hipad.rules.language.phrasing import read_line

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
        "patients with Glucose >= 126 are diabetic",
        "diabetic ⇐ Glucose >= 126",
        "Glucose >= 126 => diabetic.",
        "Glucose >= 126 => “diabetic”",
        "Glucose >= 126 => «diabetic»",
        "1) Glucose >= 126 => diabetic",
        "1. Glucose >= 126 => diabetic",
        "(1) Glucose >= 126 => diabetic",
        "a) Glucose >= 126 => diabetic",
        "* Glucose >= 126 => diabetic",
        "- Glucose >= 126 => diabetic",
    ],
)
def test_a_line_in_the_orders_that_people_use(text):
    assert str(parse_rules(text)) == RULE


@pytest.mark.parametrize(
    "text",
    [
        "worth 20 patients",
        ", worth 20",
        "(worth 20 patients)",
        "[worth: 20]",
        "counts for 20 cases",
    ],
)
def test_a_worth_in_the_ways_people_write_it(text):
    assert str(parse_rules(f"{RULE} {text}")) == f"{RULE} worth 20 patients"


def test_names_and_notes():
    draft = read_line("high risk: Glucose >= 126 => diabetic -- ADA")
    assert (draft.name, draft.note) == ("high risk", "ADA")
    assert read_line("Rule 1: a >= 1 => x").name == "Rule 1"
    assert read_line("R1:a >= 1 => x").name == "R1"


def test_a_minus_without_a_blank_is_a_sign():
    assert str(parse_rules("-a >= 2 => x")) == "-a >= 2 => x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a >= 2", "the rule has no outcome"),
        ("always ill", "the rule has no outcome"),
        ("=> ill", "write a condition first"),
        ("a >= 2 =>", "write the class label after '=>'"),
        ("a => 2 => ill", "write >= in place of =>"),
        ("a >= 2 <=> ill", "in one direction"),
        ("a >= 2 := ill", "in place of ':='"),
        ("a >= 2 => ill; b >= 1 => well", "one rule per line"),
        ("a >= 2 => ill and well", "one outcome"),
        ("a >= 2 => ill otherwise well", "a line of its own"),
        ("a >= 2 => ill weight 20", "worth 20 patients"),
        ("a >= 2 => ill worth 1/4 of patients", "worth 20 patients"),
        ("a >= 2 => ill worth -5 patients", "write 0 or more"),
        ("albumin:creatinine >= 30 => ill", "albumin/creatinine"),
        ("- a + b >= 2 => ill", "mark of a list"),
    ],
)
def test_a_line_that_says_less_or_more_is_told(text, words):
    with pytest.raises(RuleError) as caught:
        parse_rules(text)
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column is not None) == (1, True)
