from __future__ import annotations

import pytest

from hipad.rules import parse_rules
from hipad.rules.parser import read_outcome
from tests.rules.reading import at_start, told

RULE = "Glucose >= 126 => diabetic"


@pytest.mark.parametrize("text", ["diabetic", "diabetic.", "“diabetic”", "«diabetic»"])
def test_a_label_with_and_without_marks(text):
    assert read_outcome(at_start(text)) == ("diabetic", 1, None, "")


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
    assert read_outcome(at_start(f"diabetic {text}"))[2] == 20.0
    assert str(parse_rules(f"{RULE} {text}")) == f"{RULE} worth 20 patients"


def test_a_note_comes_after_two_dashes():
    assert read_outcome(at_start("very ill worth 3 -- see ADA")) == ("very ill", 1, 3.0, "see ADA")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a >= 2 =>", "write the class label after '=>'"),
        ("a >= 2 => ill and well", "one outcome"),
        ("a >= 2 => ill otherwise well", "a line of its own"),
        ("a >= 2 => ill weight 20", "worth 20 patients"),
        ("a >= 2 => ill worth 1/4 of patients", "worth 20 patients"),
        ("a >= 2 => ill worth -5 patients", "write 0 or more"),
        ("a >= 2 => BCR = ABL", "between quotes"),
    ],
)
def test_an_outcome_that_says_less_or_more_is_told(text, words):
    assert words in told(text)
