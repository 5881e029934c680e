"""How a line ends: the class label, what the rule is worth, and a note."""

from __future__ import annotations

import re
from typing import Final

from hipad.rules.language.sides.spelled_names import plain_text
from hipad.rules.language.spelling import spoken
from hipad.rules.language.words.cursor import RELATION_KINDS, Cursor
from hipad.rules.language.words.lexing import Word
from hipad.rules.language.words.quantities import is_number, read_number

_PATIENTS: Final = frozenset(spoken("patient patients cases samples rows people subjects"))
_WORTHS: Final = (("worth",), ("counts", "for"), ("counts", "as"), ("counting", "for"))
_SPOKEN: Final = re.compile(r"\s++")


def read_outcome(cursor: Cursor) -> tuple[str, int, float | None, str]:
    """The class label, its column, the worth and a note after two dashes."""
    note = ""
    for at, word in enumerate(cursor.words):
        if word.kind == "NOTE" and at:
            note = cursor.line[word.end :].strip()
            cursor = cursor.part(0, at)
            break
    start = cursor.peek()
    worth_at = _worth_at(cursor)
    worth = _worth(cursor, worth_at) if worth_at is not None else None
    end = len(cursor.words) if worth_at is None else _before_worth(cursor, worth_at)
    label = _label(cursor.part(0, end))
    return label, start.column, worth, note


def _label(cursor: Cursor) -> str:
    while len(cursor.words) > 1 and cursor.words[-1].text in (".", "!", ","):
        cursor = cursor.part(0, len(cursor.words) - 1)
    if len(cursor.words) > 1 and cursor.words[0].low in ("predict", "predicts", "expect"):
        cursor = cursor.part(1, len(cursor.words))
    if not cursor.words:
        raise cursor.error("write the class label after '=>', as in => diabetic")
    first = cursor.words[0]
    if first.kind in ("STRING", "QUOTED") and len(cursor.words) == 1:
        text = plain_text(first.text)
        if not text.strip():
            raise cursor.error("the outcome is empty: write a class label", first)
        return text
    for word in cursor.words:
        _check_label(cursor, word)
    return _SPOKEN.sub(" ", cursor.text(0, len(cursor.words))).replace("−", "-")


def _check_label(cursor: Cursor, word: Word) -> None:
    text = word.low if word.kind == "NAME" else ""
    if word.kind in ("SEMICOLON", "COMMA"):
        raise cursor.error(
            "write one rule per line, a worth as in worth 20 patients, and a note after #", word
        )
    if text in ("otherwise", "else"):
        raise cursor.error(
            f"'{word.text}' is a second rule: write it on a line of its own, with the opposite "
            "condition",
            word,
        )
    if word is cursor.words[0]:
        return
    if word.kind in RELATION_KINDS or word.kind == "STRING":
        raise cursor.error('put a class label with signs between quotes, as in => "BCR/ABL"', word)
    if text in ("and", "or") or word.kind in ("AND", "OR"):
        raise cursor.error("a rule has one outcome: write a second rule on a line of its own", word)
    if text in ("weight", "weighted", "with", "probability", "count", "counts", "value"):
        raise cursor.error(
            "say what the rule counts for, as in worth 20 patients, or put the label in quotes",
            word,
        )


def _worth_at(cursor: Cursor) -> int | None:
    for at in range(len(cursor.words)):
        cursor.at = at
        if any(cursor.says(*words) for words in _WORTHS):
            cursor.at = 0
            return at
    cursor.at = 0
    return None


def _before_worth(cursor: Cursor, at: int) -> int:
    """Where the label ends, without commas, brackets and words that lead to the worth."""
    while at > 0:
        word = cursor.words[at - 1]
        lead = word.kind == "NAME" and word.low in ("with", "a", "and", "is", "at") and at > 1
        if not lead and word.kind not in ("COMMA", "OPEN", "SEMICOLON", "MINUS"):
            break
        at -= 1
    return at


def _worth(cursor: Cursor, at: int) -> float:
    cursor.at = at
    word = cursor.take()
    if word.low != "worth":
        cursor.take()
    for filler in ("of", "about", "as", "much"):
        cursor.accept_words(filler)
    cursor.accept("COLON", "EQ")
    minus = cursor.accept("MINUS") is not None
    if not is_number(cursor):
        raise cursor.error("write the worth as a number of patients, as in worth 20 patients", word)
    number = read_number(cursor)
    if minus and number:
        raise cursor.error(
            f"a rule cannot be worth -{number:g} patients: write 0 or more, or the other outcome",
            word,
        )
    if cursor.peek().kind == "NAME" and cursor.peek().low in _PATIENTS:
        cursor.take()
    cursor.accept_words("each")
    cursor.accept("CLOSE")
    cursor.accept("DOT")
    if not cursor.is_over:
        raise cursor.error(
            "write the worth as a number of patients, as in worth 20 patients, and a note after #"
        )
    cursor.at = 0
    return number
