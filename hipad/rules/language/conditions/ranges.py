"""Ranges of numbers: `between 3 and 5`, `18-25`, `5 ± 2`, `[1, 5)`, `30 or more`."""

from __future__ import annotations

from dataclasses import replace

from hipad.rules.language.conditions.operands import CurveOf, Operand
from hipad.rules.language.conditions.pairing import level_of
from hipad.rules.language.logic import Node
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import format_number, rule_error
from hipad.rules.language.terms import Term, side_text
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import Word
from hipad.rules.language.words.phrases import AFTER_NUMBER
from hipad.rules.language.words.quantities import added_up, is_number, read_quantity
from hipad.rules.units import convert, unit_of

NumbersFound = tuple[str, Term, Term]


def read_two_numbers(cursor: Cursor) -> NumbersFound | None:
    """The sign of `30 or more` with its number twice, or "range" with both limits; else None."""
    start = cursor.at
    number = read_signed(cursor)
    found = None
    if number is not None:
        found = _spread(cursor, number) or _or_more(cursor, number) or _up_to(cursor, number)
    if found is None:
        cursor.at = start
    return found


def _spread(cursor: Cursor, middle: Term) -> NumbersFound | None:
    """5 ± 2."""
    if cursor.accept("PLUSMINUS") is None:
        return None
    spread = read_signed(cursor)
    if spread is None:
        raise cursor.error("write the spread after ±, as in 5 ± 2")
    unit, width = middle.unit or spread.unit, _width(cursor, middle, spread)
    low, high = sorted(_short(middle.coefficient + side * width) for side in (-1, 1))
    return "range", Term(low, unit=unit), Term(high, unit=unit)


def _width(cursor: Cursor, middle: Term, spread: Term) -> float:
    """How far a range goes to each side, in the unit of its middle; ± 10 % is a part of that."""
    if spread.unit == "%":
        if middle.unit == "%":
            low, high = (_short(middle.coefficient + k * spread.coefficient) for k in (-1, 1))
            part = _short(abs(middle.coefficient) * spread.coefficient / 100)
            near = [_short(middle.coefficient + k * part) for k in (-1, 1)]
            raise cursor.error(
                f"± {spread} of {middle} can be read in two ways: write between "
                f"{format_number(low)} % and {format_number(high)} %, or between "
                f"{format_number(near[0])} % and {format_number(near[1])} %",
                cursor.words[cursor.at - 1],
            )
        return abs(middle.coefficient) * spread.coefficient / 100
    own, other = unit_of(middle.unit or spread.unit), unit_of(spread.unit or middle.unit)
    if own is None or other is None or own.text == other.text:
        return spread.coefficient
    width = convert(spread.coefficient, other, own, difference=True)
    if width is None:
        raise cursor.error(
            f"'{middle} ± {spread}' has units of different kinds: write both in that of the data",
            cursor.words[cursor.at - 1],
        )
    return width


def _or_more(cursor: Cursor, number: Term) -> NumbersFound | None:
    """`30 or more`, `30+`."""
    word = cursor.peek()
    after = AFTER_NUMBER.get((word.low, cursor.peek(1).low)) if word.kind == "NAME" else None
    if after and not (cursor.is_name(2) or is_number(cursor, 2)) and cursor.phrase(1) != (after, 3):
        cursor.at += 2
        return after, number, number
    if word.kind == "PLUS" and _ends_condition(cursor, 1):
        cursor.take()
        return ">=", number, number
    return None


def _up_to(cursor: Cursor, low: Term) -> NumbersFound | None:
    """18-25, 18..25, `18 to 25`."""
    if cursor.accept("MINUS", "DOTS") is None and not cursor.accept_words("to"):
        return None
    high = read_signed(cursor)
    if high is None or not _ends_condition(cursor, 0):
        return None
    unit = high.unit or low.unit
    return "range", replace(low, unit=unit), replace(high, unit=unit)


def _short(value: float) -> float:
    return float(f"{value:.15g}")


def _ends_condition(cursor: Cursor, ahead: int) -> bool:
    word = cursor.peek(ahead)
    return word.kind not in ("PLUS", "MINUS", "TIMES", "DIVIDED", "NUMBER", "OPEN") and not (
        cursor.is_name(ahead) and word.low not in ("with", "plus", "as")
    )


def read_signed(cursor: Cursor, *, listing: bool = False) -> Term | None:
    """A number with its sign and unit, or None."""
    minus = cursor.peek().kind == "MINUS"
    if cursor.peek().kind in ("MINUS", "PLUS"):
        if not is_number(cursor, 1):
            return None
        cursor.take()
    if not is_number(cursor):
        return None
    column = cursor.peek().column
    parts = read_quantity(cursor, listing=listing)
    value, unit = parts[0] if len(parts) == 1 else added_up(parts)
    return Term(-value if minus else value, column=column, unit=unit)


def between(left: Operand, low: Term, high: Term, word: Word) -> Node:
    """The condition low <= left <= high; RuleError where the limits are exchanged."""
    if isinstance(left, CurveOf):
        low, high = (
            replace(each, coefficient=level_of(left.function, each.coefficient))
            for each in (low, high)
        )
        left = left.side
    if not isinstance(left, tuple):
        message = "a range needs a feature or a sum: write two conditions"
        raise rule_error(message, column=word.column)
    if high.unit and not low.unit:
        low = replace(low, unit=high.unit)
    if low.unit and not high.unit:
        high = replace(high, unit=low.unit)
    if is_above(low, high):
        remedy = f"{side_text(left)} between {high} and {low}"
        raise rule_error(
            f"the limits of the range are exchanged, it can never be met: write {remedy}",
            column=word.column,
            suggestion=remedy,
        )
    return Condition(((low,), left, (high,)), ("<=", "<="), "between")


def is_above(low: Term, high: Term) -> bool:
    """Whether the first of two numbers is the larger one, their units counted."""
    first, second = unit_of(low.unit), unit_of(high.unit)
    if low.unit != high.unit and first is not None and second is not None:
        same = convert(high.coefficient, second, first)
        return same is not None and low.coefficient > same
    return low.coefficient > high.coefficient


def read_range(cursor: Cursor, left: Operand, opened: Word) -> Node:
    """What follows `between` or `in`: two limits, or an interval between brackets."""
    for words in (("the", "range"), ("range",), ("the", "interval"), ("of",)):
        if cursor.accept_words(*words):
            break
    bracket = cursor.accept("OPEN")
    if bracket is not None:
        return read_interval(cursor, left, bracket)
    low = read_signed(cursor)
    if low is None:
        raise cursor.error("write the range as: a between 1 and 3")
    joined = (
        cursor.accept_words("and")
        or cursor.accept_words("to")
        or cursor.accept("AND", "MINUS", "DOTS", "COMMA")
    )
    high = read_signed(cursor) if joined else None
    if high is None:
        raise cursor.error("write the range as: a between 1 and 3")
    return between(left, low, high, opened)


def read_interval(cursor: Cursor, left: Operand, bracket: Word) -> Node:
    """[1, 5], [1, 5) or (1, 5]."""
    low = read_signed(cursor, listing=True)
    comma = cursor.accept("COMMA", "SEMICOLON", "DOTS", "MINUS") or cursor.accept_words("to")
    high = read_signed(cursor, listing=True) if comma else None
    closing = cursor.accept("CLOSE")
    if low is None or high is None or closing is None:
        raise cursor.error("write the range as: a in [1, 3], or a between 1 and 3")
    node = between(left, low, high, bracket)
    assert isinstance(node, Condition)
    if bracket.text == "(" and closing.text == ")":
        shown = side_text(node.sides[1])
        raise rule_error(
            f"whether ({low}, {high}) is a range with its ends is not known: write {shown} between "
            f"{low} and {high}, or {low} < {shown} < {high}",
            column=bracket.column,
        )
    if bracket.text == "(" or closing.text == ")":
        relations = ("<" if bracket.text == "(" else "<=", "<" if closing.text == ")" else "<=")
        return Condition(node.sides, relations)
    return node
