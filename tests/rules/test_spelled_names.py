from __future__ import annotations

import pytest

from hipad.rules import FeatureIndex
from hipad.rules.context import NameTable
from hipad.rules.expressions import plain_text, read_name, skip_links
from hipad.rules.lexer import TokenStream, words_of
from tests.rules.reading import at_start, premises, refused


@pytest.mark.parametrize("text", ["`p-36`", '"p-36"', "“p-36”", "«p-36»", "p-36"])
def test_marks_around_a_name_are_no_part_of_it(text):
    assert plain_text(text) == "p-36"


@pytest.mark.parametrize(
    ("text", "name", "left"),
    [
        ("blood pressure >= 140", "blood pressure", ">="),
        ("blood pressure is at least 140", "blood pressure", "is"),
        ("a times 3", "a", "times"),
        ("`a b` c", "a b", "c"),
    ],
)
def test_a_name_ends_where_the_sentence_goes_on(text, name, left):
    cursor = at_start(text)
    assert read_name(cursor) == name
    assert cursor.peek().text == left


def test_the_longest_known_name_is_meant():
    text = "blood pressure high"
    known = NameTable(FeatureIndex(["blood", "blood pressure"]))
    words = words_of(text)
    assert read_name(TokenStream(text, words, known)) == "blood pressure"


def test_words_that_lead_to_a_name_are_stepped_over():
    cursor = at_start("of the income")
    skip_links(cursor)
    assert cursor.peek().text == "income"


def test_a_name_may_stand_in_square_brackets():
    assert premises("[blood pressure] >= 140") == ["`blood pressure` >= 140"]
    assert "name is empty" in str(refused('" " >= 1'))
