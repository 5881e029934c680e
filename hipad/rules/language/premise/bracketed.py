"""Brackets in a premise: where they end, and whether they hold conditions or a sum."""

from __future__ import annotations

from typing import Final

from hipad.rules.language.spelling import spoken
from hipad.rules.language.words.cursor import RELATION_KINDS, Cursor

_LOGIC: Final = frozenset(spoken("and or not unless between in either neither but"))


def closing_bracket(cursor: Cursor, start: int | None = None) -> int | None:
    """Where the bracket that comes next, or stands at `start`, ends."""
    depth = 0
    for at in range(cursor.at if start is None else start, len(cursor.words)):
        kind = cursor.words[at].kind
        depth += (kind == "OPEN") - (kind == "CLOSE")
        if depth == 0:
            return at
    return None


def holds_conditions(cursor: Cursor, end: int) -> bool:
    """Whether a bracket holds conditions, and not a sum or a name."""
    if cursor.peek().text == "{":
        return False
    inner = cursor.part(cursor.at + 1, end)
    depth = 0
    while not inner.is_over:
        word = inner.peek()
        depth += (word.kind == "OPEN") - (word.kind == "CLOSE")
        if word.kind in RELATION_KINDS or word.kind in ("AND", "OR", "NOT", "IN", "NOTIN"):
            return True
        if word.kind == "NAME" and (word.low in _LOGIC or inner.phrase() is not None):
            return True
        inner.take()
    after = cursor.words[end + 1] if end + 1 < len(cursor.words) else None
    lone = after is None or after.low in _LOGIC or after.kind in ("AND", "OR", "COMMA", "CLOSE")
    return cursor.peek().text == "(" and lone
