from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules.lexer import words_of


def kinds(text: str) -> list[str]:
    return [word.kind for word in words_of(text)]


@pytest.mark.parametrize("sign", [">=", "≥", "⩾", "≧", "> =", "!<"])
def test_signs_that_look_different_are_one(sign):
    assert kinds(f"a {sign} 2") == ["NAME", "GE", "NUMBER"]


@pytest.mark.parametrize("arrow", ["=>", "->", "==>", "-->", "→", "⇒", "⟶"])
def test_arrows_are_one(arrow):
    assert kinds(f"a>-2{arrow}ill") == ["NAME", "GT", "MINUS", "NUMBER", "ARROW", "NAME"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1635_at", ["NAME"]),
        ("50_000", ["NUMBER"]),
        ("3a", ["NUMBER", "NAME"]),
        ("1½", ["NUMBER", "FRACTION"]),
        ("a²", ["NAME", "POWER"]),
        ("g1..g4", ["NAME", "DOTS", "NAME"]),
        ("0x10", ["HEX"]),
        ("5 +- 2", ["NUMBER", "PLUSMINUS", "NUMBER"]),
        ("isn't", ["CONTRACTED"]),
        ("1) a", ["NUMBER", "CLOSE", "NAME"]),
    ],
)
def test_words_are_told_apart(text, expected):
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "column"), [("(a", 1), ("a)", 2), ("`a", 1), ("{a)", 3), ('"a', 1)]
)
def test_what_is_open_or_closed_alone_is_told(text, column):
    with pytest.raises(RuleError) as caught:
        words_of("x " * 3 + text)
    assert caught.value.column == column + 6


class _Known:
    def name_at(self, text: str, start: int) -> str | None:
        return "IL-6" if text.startswith("IL-6", start) else None

    def is_name(self, name: str) -> bool:
        return name == "IL-6"

    def is_flag(self, name: str) -> bool:
        return False


def test_a_known_name_does_not_fall_apart():
    assert kinds("IL-6 >= 5") == ["NAME", "MINUS", "NUMBER", "GE", "NUMBER"]
    words = words_of("IL-6 >= 5", _Known())
    assert [(word.kind, word.text) for word in words[:1]] == [("QUOTED", "`IL-6`")]
