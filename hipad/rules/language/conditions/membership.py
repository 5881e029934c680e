"""What may follow in, between, outside, or a sign: a range, a set of values, or a top share."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hipad.rules.language.conditions.deviations import read_within
from hipad.rules.language.conditions.operands import Operand, lone_feature, one_feature
from hipad.rules.language.conditions.pairing import compare
from hipad.rules.language.conditions.ranges import (
    between,
    read_interval,
    read_range,
    read_signed,
    read_two_numbers,
)
from hipad.rules.language.conditions.shares import read_share, share_condition
from hipad.rules.language.conditions.vague import is_known
from hipad.rules.language.logic import Any, Node, negated
from hipad.rules.language.model import Condition
from hipad.rules.language.sides.spelled_names import read_name
from hipad.rules.language.spelling import MISSING, format_number
from hipad.rules.language.terms import SET, Name, Term
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import Word
from hipad.rules.language.words.quantities import is_number, read_number

_SUM: Final = ("PLUS", "MINUS", "TIMES", "DIVIDED")


def _is_whole(cursor: Cursor, name: str) -> bool:
    return cursor.vocabulary is not None and cursor.vocabulary.is_whole(name)


def number_of(name: Name) -> float | None:
    """The number that a value is written as; None for a word."""
    try:
        return float(name) if isinstance(name, str) else None
    except ValueError:
        return None


def read_right_range(cursor: Cursor, left: Operand, relation: str) -> Node | None:
    """18-25, 5 ± 2, `30 or more`, `top 10 %`, a missing value: what may follow = or is."""
    word = cursor.peek()
    if word.kind == "NAME" and word.low in MISSING and not is_known(cursor, word.text):
        raise cursor.error(
            f"'{word.text}' is no value to compare with, a patient without a value meets no "
            "condition: add a column of 0 and 1 that says where the value is missing"
        )
    if relation == "=" and (top := read_share(cursor)) is not None:
        return share_condition(one_feature(left, cursor), *top)
    start = cursor.at
    pair = read_two_numbers(cursor)
    if pair is None:
        return None
    kind, low, high = pair
    if kind != "range":
        if relation != "=":
            cursor.at = start
            return None
        return compare(left, kind, (low,))
    if relation != "=":
        raise cursor.error(
            f"'{cursor.text(start)}' is a range: write = before a range, as in "
            f"a = {low}-{high}, or one number after {relation}",
            cursor.words[start],
        )
    return between(left, low, high, cursor.words[start])


def read_ranged(cursor: Cursor, left: Operand) -> Node | None:
    """between, in, from, within, outside: a range or a set after its word."""
    start = cursor.at
    if cursor.accept("NOTIN"):
        return negated(_set_or_range(cursor, left, cursor.peek()))
    opened = cursor.peek(1)
    if cursor.accept_words("outside"):
        cursor.accept_words("of")
        return negated(read_range(cursor, left, opened))
    if cursor.accept_words("out", "of"):
        cursor.accept_words("the")
        cursor.accept_words("range")
        return negated(read_range(cursor, left, opened))
    turned = cursor.accept_words("not")
    strict = cursor.accept_words("strictly")
    opened = cursor.peek()
    if cursor.says("within") and (near := _near_mean(cursor, left)) is not None:
        node = near
    elif any(cursor.accept_words(word) for word in ("between", "from", "within", "inside")):
        if (near := _near(cursor, left, opened)) is not None:
            return negated(near) if turned else near
        node = read_range(cursor, left, opened)
        if cursor.accept_words("exclusive") or strict:
            assert isinstance(node, Condition)
            node = Condition(node.sides, ("<", "<"))
        else:
            cursor.accept_words("inclusive")
    elif cursor.accept("IN") or cursor.accept_words("in") or cursor.accept_words("one", "of"):
        node = _set_or_range(cursor, left, opened)
    else:
        cursor.at = start
        return None
    return negated(node) if turned else node


def _near_mean(cursor: Cursor, left: Operand) -> Node | None:
    """`within 2 sd of the mean`; None, with nothing read, if something else comes."""
    word = cursor.take()
    if (node := read_within(cursor, left)) is None:
        cursor.at -= 1
        assert cursor.peek() is word
    return node


def _near(cursor: Cursor, left: Operand, opened: Word) -> Node | None:
    """`within 5 of 100`, `within ±1 of 5`: at most so far from a number; `from 65 up`."""
    start = cursor.at
    both = cursor.accept("PLUSMINUS") is not None
    spread = read_signed(cursor)
    if spread is not None and opened.low == "from":
        if any(cursor.accept_words(word) for word in ("up", "upwards", "on", "onwards")):
            return compare(left, ">=", (spread,))
    elif spread is not None and cursor.accept_words("of"):
        middle = read_signed(cursor)
        if middle is not None and (not spread.unit or (spread.unit == "%" != middle.unit)):
            size = abs(spread.coefficient)
            size *= abs(middle.coefficient) / 100 if spread.unit else 1.0
            low, high = (
                replace(middle, coefficient=middle.coefficient + way * size) for way in (-1, 1)
            )
            return between(left, low, high, opened)
    elif spread is not None and both:  # within ±5
        size = abs(spread.coefficient)
        ends = (replace(spread, coefficient=way * size) for way in (-1, 1))
        return between(left, next(ends), next(ends), opened)
    cursor.at = start
    return None


def read_numbers(cursor: Cursor, left: Operand) -> Node | None:
    """`ecog 0 or 1`, `ecog 3, 4`: several whole values of a column of whole numbers."""
    name, known, start = lone_feature(left), cursor.vocabulary, cursor.at
    if name is None or known is None or not known.is_whole(name):
        return None
    found: list[float] = []
    while is_number(cursor):
        found.append(read_number(cursor, listing=True))
        at = cursor.at
        if cursor.accept("COMMA", "OR"):
            cursor.accept_words("or")
        elif not cursor.accept_words("or"):
            break
        if not is_number(cursor) or cursor.peek(1).kind in ("MINUS", "DOTS") or cursor.is_name(1):
            cursor.at = at
            break
    if len(found) < 2 or cursor.relation() is not None or cursor.peek().kind in _SUM:
        cursor.at = start
        return None
    return one_of(left, found)


def one_of(left: Operand, values: list[float]) -> Node:
    """One of several numbers; a range where they are neighbours."""
    whole = sorted(set(values))
    if len(whole) > 1 and whole == [whole[0] + k for k in range(len(whole))] and whole[0] % 1 == 0:
        assert isinstance(left, tuple)
        return Condition(((Term(whole[0]),), left, (Term(whole[-1]),)), ("<=", "<="), "between")
    parts = tuple(compare(left, "=", (Term(value),)) for value in whole)
    return parts[0] if len(parts) == 1 else Any(parts)


def _set_or_range(cursor: Cursor, left: Operand, opened: Word) -> Node:
    cursor.accept_words("the")
    if (top := read_share(cursor)) is not None:
        return share_condition(one_feature(left, cursor), *top)
    bracket = cursor.peek()
    if bracket.kind != "OPEN":
        return read_range(cursor, left, opened)
    numbers = is_number(cursor, 1) or (cursor.peek(1).kind in ("MINUS", "PLUS"))
    if numbers and bracket.text in "[(" and _count_commas(cursor) == 1:
        cursor.take()
        return read_interval(cursor, left, bracket)
    return _member(cursor, left)


def _count_commas(cursor: Cursor) -> int:
    count, at = 0, cursor.at
    while at < len(cursor.words) and cursor.words[at].kind != "CLOSE":
        count += cursor.words[at].kind in ("COMMA", "SEMICOLON", "DOTS") or (
            cursor.words[at].low == "to"
        )
        at += 1
    return count


def _member(cursor: Cursor, left: Operand) -> Node:
    """stage in {II, III}."""
    name = lone_feature(left)
    opening = cursor.take()
    if name is None:
        raise cursor.error("name one feature before 'in', as in stage in {II, III}", opening)
    items: list[Name] = []
    while True:
        if cursor.peek().kind == "NUMBER":
            items.append(format_number(read_number(cursor, listing=True)))
        elif cursor.is_name():
            items.append(read_name(cursor))
        else:
            raise cursor.error("write values with commas between them, as in stage in {II, III}")
        if cursor.accept("CLOSE"):
            break
        if not (cursor.accept("COMMA", "SEMICOLON") or cursor.accept_words("or")):
            raise cursor.error("write ',' between the values, as in stage in {II, III}")
    unique = tuple(dict.fromkeys(items))
    if all(number_of(item) is not None for item in unique) and _is_whole(cursor, name):
        return one_of(left, [number_of(item) or 0.0 for item in unique])
    return Condition(
        ((Term(1.0, (name,), column=opening.column),), (Term(1.0, unique, SET),)), ("=",), "member"
    )
