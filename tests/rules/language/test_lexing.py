from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark, UnexpectedCharacters

from hipad.rules.language import parsing
from hipad.rules.language.lexing import UNKNOWN, LineLexer
from tests.rules.language.test_parsing import VALID, mutated

LARK = Lark.open(
    "grammar.lark", rel_to=parsing.__file__, start="rule", parser="lalr", lexer="basic"
)
OURS = LineLexer(LARK.lexer_conf)

Word = tuple[str, str, int | None]


def words(line: str) -> list[Word]:
    """Kind, text and column of each word, up to the first character that begins none."""
    found = [(token.type, str(token), token.column) for token in OURS.lex([line])]
    kinds = [kind for kind, _, _ in found]
    return found[: kinds.index(UNKNOWN) + 1] if UNKNOWN in kinds else found


def words_by_lark(line: str) -> list[Word]:
    """The same from lark, which stops there with an error."""
    found: list[Word] = []
    try:
        found.extend((token.type, str(token), token.column) for token in LARK.lex(line))
    except UnexpectedCharacters as error:
        found.append((UNKNOWN, error.char, error.column))
    return found


@pytest.mark.parametrize("line", [*VALID, "", "  ", "at  least 2 of (a)", "ofa of (b)", "a ! b"])
def test_the_words_of_a_line_are_those_that_lark_finds(line: str):
    assert words(line) == words_by_lark(line)


@settings(max_examples=500)
@given(st.integers(0, 2**63).map(mutated) | st.text(max_size=40))
def test_the_words_of_any_line_are_those_that_lark_finds(text: str):
    for line in text.splitlines():
        assert words(line) == words_by_lark(line)
