"""A condition alone, read and written back: what tests of the language ask for."""

from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import parse_rules
from hipad.rules.lexer import TokenStream, words_of


def premises(text: str) -> list[str]:
    """The premise of each rule that a condition makes."""
    return [rule.premise for rule in parse_rules(f"{text} => x")]


def refused(text: str) -> RuleError:
    """The error of a condition that cannot be read."""
    with pytest.raises(RuleError) as caught:
        parse_rules(f"{text} => x")
    assert caught.value.column is not None
    return caught.value


def told(line: str) -> str:
    """What is said of a line that cannot be read; it names a place in it."""
    with pytest.raises(RuleError) as caught:
        parse_rules(line)
    assert (caught.value.line, caught.value.column is not None) == (1, True)
    return str(caught.value)


def at_start(text: str) -> TokenStream:
    """A cursor at the first word of a text."""
    return TokenStream(text, words_of(text))
