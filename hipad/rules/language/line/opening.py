"""How a line begins: the mark of a list, the word off, and the rule's name before a colon."""

from __future__ import annotations

import re
from typing import Final

from hipad.rules.language.line.halves import outside_brackets
from hipad.rules.language.sides.spelled_names import plain_text
from hipad.rules.language.words.cursor import RELATION_KINDS, Cursor
from hipad.rules.language.words.lexing import Word
from hipad.rules.language.words.quantities import is_number

_SPLITS: Final = ("ARROW", "IFF", "BACK", "COMMA", "SEMICOLON")


def accept_off(cursor: Cursor) -> bool:
    """Step over the word off, which switches a rule off; not where off is a feature's name."""
    if cursor.says("off") and cursor.peek(1).kind not in (*RELATION_KINDS, "COLON", "ARROW"):
        cursor.take()
        return True
    return False


def skip_bullet(cursor: Cursor) -> None:
    """Step over the mark of a list: 1) or 1. or (1) or * or a dash with a blank after it."""
    first, second, third = cursor.peek(), cursor.peek(1), cursor.peek(2)
    blank = second.start > first.end
    starts = second.kind in ("NAME", "QUOTED", "NUMBER", "OPEN", "STRING", "BAR", "NOT")
    if first.kind == "TIMES" and blank:
        cursor.at = 1
    elif (first.kind in ("NUMBER", "NAME") and second.kind == "CLOSE") or (
        re.fullmatch(r"(?:r|rule)\d{1,4}", first.low) and second.kind == "DOT"
    ):
        cursor.at = 2
    elif first.kind == "NUMBER" and first.text.endswith(".") and blank and starts:
        cursor.at = 1
    elif first.kind == "OPEN" and second.kind in ("NUMBER", "NAME") and third.kind == "CLOSE":
        if len(second.text) <= 3 and cursor.peek(3).kind in ("NAME", "QUOTED", "STRING"):
            cursor.at = 3
    elif first.kind in ("MINUS", "NOTE") and blank and starts:
        _check_dash(cursor)
        cursor.at = 1


def _check_dash(cursor: Cursor) -> None:
    """A dash before a sum may be its sign: refuse to guess."""
    for word in cursor.words[1:]:
        if word.kind in RELATION_KINDS or word.kind == "ARROW" or word.low in ("and", "or", "if"):
            return
        if word.kind in ("PLUS", "MINUS", "TIMES", "DIVIDED"):
            raise cursor.error(
                "a dash before a sum may be its sign or the mark of a list: write * for a list, or "
                "the sign without a blank after it"
            )


def read_title(cursor: Cursor) -> str:
    """The name before a colon, if what follows is a rule."""
    places = outside_brackets(cursor)
    colon = next((at for at in places if cursor.words[at].kind == "COLON"), None)
    if colon is None or colon == cursor.at:
        return ""
    before = cursor.words[cursor.at : colon]
    if any(word.kind in RELATION_KINDS or word.kind in _SPLITS for word in before):
        return ""
    if any(word.low in ("of", "if") and word.kind == "NAME" for word in before):
        return ""
    later = [at for at in places if at > colon]
    if not any(_splits(cursor, at) for at in later):
        return ""
    after = cursor.words[colon + 1] if colon + 1 < len(cursor.words) else None
    if after is not None and after.start == cursor.words[colon].end and not _is_label(before):
        name, other = cursor.text(cursor.at, colon), after.text
        raise cursor.error(
            f"'{name}:{other}' can be a rule's name or a ratio: write {name}/{other} for the "
            "ratio, or a blank after the colon of a rule's name",
            cursor.words[colon],
        )
    text = plain_text(cursor.text(cursor.at, colon).strip())
    if _is_compared(cursor, text, colon):
        del cursor.words[colon]  # SBP: 140-160
        return ""
    cursor.at = colon + 1
    return text


def _is_compared(cursor: Cursor, name: str, colon: int) -> bool:
    """Whether a feature stands before the colon, and what it is compared with after it."""
    known = cursor.vocabulary
    if known is None or not known.is_name(name):
        return False
    after = cursor.part(colon + 1, len(cursor.words))
    if after.peek().low in ("between", "from", "within", "outside") or after.relation() is not None:
        return True
    category = known.category(name)
    if category is not None:
        return known.level_at(category, cursor.line, after.peek().start) is not None
    return is_number(after) and (not after.is_name(1) or after.peek(1).low == "to")


def _is_label(before: list[Word]) -> bool:
    """Whether a name is plainly one of a rule: R1, rule 2, or between backticks."""
    if len(before) > 1 or before[0].kind == "QUOTED":
        return True
    return bool(re.fullmatch(r"(?:r|rule)_?\d+", before[0].low))


def _splits(cursor: Cursor, at: int) -> bool:
    word = cursor.words[at]
    if word.kind in ("ARROW", "IFF", "BACK", "COLON"):
        return True
    return word.kind == "NAME" and word.low in ("then", "implies", "if", "when", "means")
