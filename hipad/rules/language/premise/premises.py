"""Conditions joined by and, or, not, unless, at least k of: taken apart into rules.

A rule holds conditions that must all be met. Everything else is distributed: `a or b` makes two
rules, `at least 2 of (a, b, c)` makes three. What would make too many is refused.
"""

from __future__ import annotations

from typing import Final

from hipad.rules.language.conditions.atoms import read_atom
from hipad.rules.language.conditions.flags import flag_name
from hipad.rules.language.logic import All, Any, Node, negated
from hipad.rules.language.premise.bracketed import closing_bracket, holds_conditions
from hipad.rules.language.premise.counting import read_count
from hipad.rules.language.premise.joining import (
    JoinedPart,
    accept_and,
    accept_or,
    completed,
    joined,
    read_join,
)
from hipad.rules.language.premise.scores import read_score
from hipad.rules.language.sides.spelled_names import plain_text
from hipad.rules.language.spelling import spoken
from hipad.rules.language.words.cursor import RELATION_KINDS, Cursor
from hipad.rules.language.words.phrases import COUNT_WORDS

_LEADS: Final = frozenset(
    spoken("has have having with on taking receiving history presence evidence known documented")
)
_STARTS: Final = frozenset(
    spoken(
        "not no without neither either both any all each every none exactly only at more less "
        "fewer greater over above below under is"
    )
) | frozenset(COUNT_WORDS)


def read_premise(cursor: Cursor, *, ends: frozenset[str] = frozenset()) -> Node:
    """Read conditions up to the end of the words, or to a word of one of these kinds."""
    parts = [JoinedPart("", _unit(cursor), cursor.peek().column)]
    while not cursor.is_over and cursor.peek().kind not in ends:
        column = cursor.peek().column
        parts.append(JoinedPart(read_join(cursor), _unit(cursor), column))
    return joined(completed(parts, cursor))


def _unit(cursor: Cursor) -> Node:
    """A condition, a negation, a bracket with conditions in it, or a count."""
    cursor.deeper()
    if cursor.peek().low in _LEADS:
        _skip_lead(cursor)
    node = read_score(cursor, read_premise)
    if node is None:
        node = _special(cursor) if _is_special(cursor) else read_atom(cursor)
    cursor.depth -= 1
    return node


def _skip_lead(cursor: Cursor) -> None:
    """Step over `has`, `on` or `history of` before a name that is a condition by itself."""
    known = cursor.vocabulary
    if known is None or known.is_name(cursor.peek().text):
        return
    ahead = 1 + (cursor.peek(1).low in ("a", "an", "the", "of"))
    for n in range(4, 0, -1):
        words = [cursor.peek(ahead + k) for k in range(n)]
        if all(word.kind in ("NAME", "QUOTED") for word in words):
            name = " ".join(plain_text(word.text) for word in words)
            if known.is_flag(name) and cursor.phrase(ahead + n) is None:
                cursor.at += ahead
                return


def _unless_bracket(cursor: Cursor, end: int) -> Node | None:
    """`(unless a >= 2)`: what must not hold."""
    inner = cursor.part(cursor.at + 1, end)
    if not (inner.accept_words("unless") or inner.accept_words("except")):
        return None
    inner.accept_words("if")
    cursor.at = end + 1
    return negated(read_premise(inner))


def _is_special(cursor: Cursor) -> bool:
    """Whether the next word may begin something else than a condition."""
    word = cursor.peek()
    return word.low in _STARTS or word.kind in ("NOT", "OPEN", "NUMBER", *RELATION_KINDS)


def _special(cursor: Cursor) -> Node:
    if cursor.says("no") and (counted := read_count(cursor, _unit)) is not None:
        return counted
    if cursor.says("no") or cursor.says("without"):
        if (absent := _absent(cursor)) is not None:
            return absent
    elif cursor.accept("NOT") or cursor.accept_words("not"):
        return negated(_unit(cursor))
    if cursor.says("neither"):
        return _neither(cursor)
    for pair in ("either", "both"):
        if cursor.says(pair) and not cursor.says(pair, "of"):
            cursor.take()
            return _pair(cursor, pair)
    if (counted := read_count(cursor, _unit)) is not None:
        return counted
    return _bracket(cursor) or read_atom(cursor)


def _bracket(cursor: Cursor) -> Node | None:
    """The conditions between brackets; None if something else comes."""
    end = closing_bracket(cursor) if cursor.peek().kind == "OPEN" else None
    if end is not None and (node := _unless_bracket(cursor, end)) is not None:
        return node
    if end is None or not holds_conditions(cursor, end):
        return None
    node = read_premise(cursor.part(cursor.at + 1, end))
    cursor.at = end + 1
    return node


def _absent(cursor: Cursor) -> Node | None:
    """`no hypertension`: a name that stands alone, turned round; None if something else comes."""
    if not cursor.is_name(1) or cursor.phrase() is not None:
        return None
    word = cursor.take()
    node = _unit(cursor)
    if flag_name(node) is None:
        raise cursor.error(f"write 'not' in place of '{word.text}' before a comparison", word)
    return negated(node)


def _pair(cursor: Cursor, word: str) -> Node:
    """`either a or b`, `both a and b`: the two belong together."""
    parts = [JoinedPart("", _unit(cursor), cursor.peek().column)]
    accept = accept_or if word == "either" else accept_and
    while (comma := cursor.peek().kind == "COMMA") or not cursor.is_over:
        at = cursor.at
        if comma:
            cursor.take()
        if not accept(cursor) and not comma:
            cursor.at = at
            break
        parts.append(JoinedPart("", _unit(cursor), cursor.peek().column))
        if word == "both":
            break
    nodes = tuple(part.node for part in completed(parts, cursor))
    if len(nodes) == 1:
        return nodes[0]
    return Any(nodes) if word == "either" else All(nodes)


def _neither(cursor: Cursor) -> Node:
    cursor.take()
    parts = [JoinedPart("", _unit(cursor), cursor.peek().column)]
    while cursor.accept_words("nor"):
        parts.append(JoinedPart("", _unit(cursor), cursor.peek().column))
    return All(tuple(negated(part.node) for part in completed(parts, cursor)))
