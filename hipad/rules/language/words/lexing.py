"""The words of one line, found in a single sweep.

Signs that look different and mean the same become one kind here. A vocabulary, where it is known,
finds names that hold blanks or signs (`blood pressure`, `IL-6`) before they fall apart.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from hipad.rules.language.bounds import (
    DEEPEST,
    LONGEST_RULE,
    MOST_SIGNS,
    MOST_WORDS,
    rule_too_long,
    too_deep,
    too_many_signs,
    too_many_words,
)
from hipad.rules.language.spelling import rule_error


class Word(NamedTuple):
    """One word: its kind, what it says, and where it begins and ends in the line."""

    kind: str
    text: str
    start: int
    end: int
    low: str = ""  # of a name, in small letters, as keywords are compared

    @property
    def column(self) -> int:
        """Where it begins in the line, counted from one, as editors do."""
        return self.start + 1


class Vocabulary(Protocol):
    """What is known of the data while a text is read."""

    def __hash__(self) -> int: ...

    @property
    def decimal(self) -> str:
        """The decimal mark of the table, a point or a comma; empty where it is not known."""

    @property
    def has_values(self) -> bool:
        """Whether the rows are known, which tell columns of 0 and 1."""

    def name_at(self, text: str, start: int) -> str | None:
        """The longest name with blanks or signs that stands in the text from `start` on."""

    def is_name(self, name: str) -> bool:
        """Whether a feature or block is called so, in any case."""

    def is_flag(self, name: str) -> bool:
        """Whether the name alone is a condition: a column of 0 and 1, or a category."""

    def is_zero_one_name(self, name: str) -> bool:
        """Whether a feature of this name holds 0 and 1 only."""

    def is_whole(self, name: str) -> bool:
        """Whether a feature of this name holds whole numbers only."""

    def category(self, name: str) -> str | None:
        """The category of this name, as the data write it; None where there is none."""

    def level_at(self, category: str, text: str, start: int) -> tuple[str, int] | None:
        """The longest value of a category that stands in the text from `start` on, and its end."""

    def level_like(self, category: str, text: str) -> str | None:
        """The value of a category that a word means: 2 for II, y for yes; None if none is."""

    def order(self, category: str) -> LevelOrder | None:
        """The order of a category's values where it is plain."""

    def members(self, block: str) -> tuple[str, ...]:
        """The features of a block; none where no block is called so."""


class LevelOrder(NamedTuple):
    """The values of a category from the lowest to the highest."""

    levels: tuple[str, ...]
    worse: str = ""  # "up" or "down" where it is known which end is worse
    ranked: bool = True  # False for letters: between is plain, above is not


_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = {closing: opening for opening, closing in _PAIRS.items()}
_SIGNS = {"PLUS", "MINUS", "TIMES", "DIVIDED"}
_FRACTIONS, _POWERS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", "²³⁰¹⁴⁵⁶⁷⁸⁹"
_MARKS = _FRACTIONS + _POWERS  # letters to Python, none of a name
_PATTERNS = {
    "QUOTED": r"`(?:[^`]++|``)++`",
    "IFF": r"<={1,2}>|<-{1,2}>|[⇔⟺↔]",
    "ARROW": r"={1,3}>|-{1,2}>|[⇒⟹→⟶↦➔➜]",
    "BACK": r"[⇐⟸←⟵]|<-{2,}",
    "PLUSMINUS": r"±|\+/[-−]|\+[-−](?=\s*+[\d.])",
    "NOTE": r"(?<!-)--++(?=\s|$)|//",  # once for a run of dashes, so that long ones take no time
    "NE": r"!=|<>|=/=|≠|≢",
    "GE": r">\s*+=(?![>=])|≥|⩾|≧|!<|≮|=>(?=\s*+=)",
    "LE": r"<\s*+=(?![>=])|=<|≤|⩽|≦|!>|≯",
    "DEFINE": r":=",
    "EQ": r"={1,3}",
    "GT": r">",
    "LT": r"<",
    "CONTRACTED": r"(?:is|are|was|does|do)n['’]t\b",
    "STRING": r"\"(?:[^\"]++|\"\")++\"|'(?:[^']++|'')++'|“[^”]++”|«[^»]++»|„[^“”]++[“”]|‘[^’]++’",
    "HEX": r"0[xX][0-9a-fA-F]+",
    "FEET": r"\d{1,2}['’′]\s?\d{1,2}(?:\.\d)?\s?(?:[\"”″]|''|’’|in(?:ch(?:es)?)?\b|(?![\w'’]))",
    "NUMBER": r"(?:\d{1,3}(?:[_'’]\d{3})++(?![\w])|\d++(?:\.(?!\.)\d*+)?|\.\d++)(?:[eE][+-]?\d++)?+"
    r"(?!_\w)",
    "NAME": rf"(?:[^\W\d{_MARKS}]|\d++(?=_\w))[^\W{_MARKS}]*+(?:\.[^\W{_MARKS}]++)*+",
    "FRACTION": rf"[{_FRACTIONS}]",
    "POWER": rf"\^|\*\*|[{_POWERS}⁻]++",
    "DOTS": r"\.{2,3}|…",
    "PLUS": r"[+＋]",
    "MINUS": r"[-−–—‐‑]",
    "TIMES": r"[*×·∙⋅•]",
    "DIVIDED": r"[/÷]",
    "AND": r"&&?|∧|⋀",
    "OR": r"\|\||∨|⋁",
    "BAR": r"\|",
    "NOT": r"[¬~!](?!=)",
    "IN": r"∈",
    "NOTIN": r"∉",
    "PERCENT": r"%",
    "DEGREE": r"°|º|℃|℉",
    "MONEY": r"[$€£¥]",
    "OPEN": r"[(\[{]",
    "CLOSE": r"[)\]}]",
    "COMMA": r",",
    "SEMICOLON": r";",
    "COLON": r":",
    "DOT": r"\.",
    "UNKNOWN": r"\S",
}  # fmt: skip
_WORD = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()))
_BLANKS = re.compile(r"\s*+")


def words_of(line: str, vocabulary: Vocabulary | None = None) -> list[Word]:
    """The words of a line; RuleError if there are too many signs or brackets, or one is open.

    >>> [word.kind for word in words_of("2*a ≥ 3 => ill")]
    ['NUMBER', 'TIMES', 'NAME', 'GE', 'NUMBER', 'ARROW', 'NAME']
    """
    line = line.rstrip()
    if len(line) > LONGEST_RULE:
        raise rule_too_long(len(line))
    words: list[Word] = []
    opened: list[Word] = []
    signs = 0
    at = _end(_BLANKS, line, 0)
    while at < len(line):
        word = _word(line, at, vocabulary, words)
        words.append(word)
        if len(words) > MOST_WORDS:
            raise too_many_words(word.column)
        if word.kind == "NOTE" and line[at - 1 : at].isspace():
            return words
        at = _end(_BLANKS, line, word.end)
        signs += word.kind in _SIGNS
        if signs > MOST_SIGNS:
            raise too_many_signs(word.column)
        if word.kind == "OPEN":
            opened.append(word)
            if len(opened) > DEEPEST:
                raise too_deep(word.column)
        elif word.kind == "CLOSE" and not _is_bullet(words):
            _close(opened, word)
    if opened:
        closing = _PAIRS[opened[-1].text]
        message = f"the bracket '{opened[-1].text}' has no end: close it with '{closing}'"
        raise rule_error(message, column=opened[-1].column)
    return words


def _word(line: str, at: int, vocabulary: Vocabulary | None, before: list[Word]) -> Word:
    joined = at > 0 and bool(before) and before[-1].end == at and line[at - 1].isalnum()
    if vocabulary is not None and line[at] not in "`\"'" and not joined:
        name = vocabulary.name_at(line, at)
        if name is not None:
            return Word("QUOTED", f"`{name.replace('`', '``')}`", at, at + len(name))
    found = _WORD.match(line, at)
    assert found is not None  # the last kind fits anything
    kind = found.lastgroup or "UNKNOWN"
    if kind == "UNKNOWN" and found[0] in '`"“«':
        raise rule_error(
            f"the mark {found[0]} has no end: close it, or leave it out", column=at + 1
        )
    low = found[0].lower().replace("’", "'") if kind in ("NAME", "CONTRACTED") else ""
    return Word(kind, found[0], at, found.end(), low)


def _is_bullet(words: list[Word]) -> bool:
    """Whether a lone ')' closes the number of a list: `1) a >= 2`."""
    return len(words) == 2 and words[0].kind in ("NUMBER", "NAME") and len(words[0].text) < 4


def _close(opened: list[Word], word: Word) -> None:
    if not opened:
        message = f"leave out this '{word.text}', or open its bracket before"
        raise rule_error(message, column=word.column)
    first = opened.pop()
    if {first.text, word.text} & {"{"} and first.text != _CLOSING[word.text]:
        message = (
            f"'{first.text}' does not go with '{word.text}': close it with {_PAIRS[first.text]}"
        )
        raise rule_error(message, column=word.column)


def _end(pattern: re.Pattern[str], line: str, at: int) -> int:
    found = pattern.match(line, at)
    return found.end() if found else at
