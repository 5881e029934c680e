from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules.lexer import TokenStream, words_of


def cursor(text: str) -> TokenStream:
    return TokenStream(text, words_of(text))


@pytest.mark.parametrize(
    ("phrase", "sign"),
    [
        ("is at least", ">="),
        ("at or above", ">="),
        ("no less than", ">="),
        ("greater than or equal to", ">="),
        ("is not above", "<="),
        ("up to", "<="),
        ("exceeds", ">"),
        ("is higher than", ">"),
        ("below", "<"),
        ("is", "="),
        ("isn't", "!="),
    ],
)
def test_phrases_stand_for_signs(phrase, sign):
    words = cursor(f"{phrase} 5")
    assert words.relation() == (sign, len(words.words) - 1)


def test_a_part_ends_where_it_ends():
    part = cursor("a b c").part(0, 1)
    assert part.take().text == "a"
    assert part.is_over
    assert part.peek().kind == "END"
    assert part.error("x").column == 3


def test_too_deep_is_an_error():
    words = cursor("a")
    words.depth = 1_000
    with pytest.raises(RuleError, match="inside each other"):
        words.deeper()
