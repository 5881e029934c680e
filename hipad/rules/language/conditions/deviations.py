"""Numbers of standard deviations: `x > 2 sd`, `1.5 SDs above the mean`, `within 2 sd of it`."""

from __future__ import annotations

from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.conditions.operands import Operand, lone_feature
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import format_number, quote_name, spoken
from hipad.rules.language.terms import Side, Term
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.quantities import is_number, read_number

_SD: Final = frozenset(spoken("sd sds std stds stdev stdevs stddev stddevs sigma sigmas"))
_MEANS: Final = {"mean": "mean", "average": "mean", "avg": "mean", "median": "median"}
_SIDES: Final = {"above": 1.0, "over": 1.0, "below": -1.0, "under": -1.0}


def read_deviations(cursor: Cursor, left: Operand, relation: str) -> Side | None:
    """The mean and so many deviations of the compared feature; None if something else comes.

    `x > 2 sd` is meant from the mean on. Which of the two borders is meant below the mean, and on
    which side of it (`more than 2 sd below the mean`), is asked.
    """
    name, start = lone_feature(left), cursor.at
    known = name is not None and cursor.vocabulary is not None  # a feature may be called sd
    number = _number_of_sd(cursor) if known else None
    if name is None or number is None:
        cursor.at = start
        return None
    side, middle = 1.0, "mean"
    if cursor.peek().low in _SIDES and (found := _middle(cursor, 1)) is not None:
        side = _SIDES[cursor.peek().low]
        middle, cursor.at = found
        if side < 0:
            raise _which_border(cursor, start, name, "<" + relation[1:], ">" + relation[1:], number)
    elif not _ends(cursor):
        cursor.at = start
        return None
    elif relation[0] == "<" and number > 0:
        raise _which_border(cursor, start, name, relation, relation, number)
    column = cursor.words[start].column
    return (
        Term(1.0, (name,), middle, column),
        Term(side * number, (name,), "sd", column),
    )


def _which_border(
    cursor: Cursor, start: int, name: str, low: str, other: str, number: float
) -> RuleError:
    """The error for deviations of which it is not said where they are counted."""
    quoted, size = quote_name(name), format_number(abs(number))
    ways = [f"{quoted} {low} mean({quoted}) - {size}*sd({quoted})"]
    ways.append(
        f"{quoted} {other} mean({quoted}) {'+' if low == other else '-'} {size}*sd({quoted})"
    )
    return cursor.error(
        f"'{cursor.text(start)}' can be read in two ways: write {' or '.join(ways)}",
        cursor.words[start],
        remedy=ways[0],
    )


def read_within(cursor: Cursor, left: Operand) -> Condition | None:
    """`within 2 sd of the mean`, after its first word; None if something else comes."""
    name, start = lone_feature(left), cursor.at
    number = _number_of_sd(cursor) if name is not None else None
    if name is None or number is None or not isinstance(left, tuple):
        cursor.at = start
        return None
    middle = "mean"
    if (found := _middle(cursor, 1)) is not None and cursor.peek().low in ("of", "from", "around"):
        middle, cursor.at = found
    centre = Term(1.0, (name,), middle, cursor.words[start].column)
    low, high = ((centre, Term(sign * number, (name,), "sd")) for sign in (-1.0, 1.0))
    return Condition((low, left, high), ("<=", "<="))


def _number_of_sd(cursor: Cursor) -> float | None:
    """The number before sd, with its sign."""
    minus = cursor.peek().kind == "MINUS"
    if cursor.peek().kind in ("MINUS", "PLUS"):
        cursor.take()
    known = cursor.vocabulary
    if not is_number(cursor) or cursor.peek().kind == "FEET":
        return None
    value = read_number(cursor)
    if cursor.peek().kind == "TIMES":
        cursor.take()
    if cursor.says("standard") and cursor.peek(1).low in ("deviation", "deviations"):
        cursor.at += 2
    elif cursor.peek().low in _SD and not (known and known.is_name(cursor.peek().text)):
        cursor.take()
    else:
        return None
    return -value if minus else value


def _middle(cursor: Cursor, ahead: int) -> tuple[str, int] | None:
    """The middle that is named so many words ahead, and the place after it."""
    ahead += cursor.peek(ahead).low in ("the", "its", "their")
    middle = _MEANS.get(cursor.peek(ahead).low)
    is_call = cursor.peek(ahead + 1).kind == "OPEN" or cursor.says("of", ahead=ahead + 1)
    return None if middle is None or is_call else (middle, cursor.at + ahead + 1)


def _ends(cursor: Cursor) -> bool:
    """Whether nothing follows that belongs to the number."""
    return cursor.peek().kind not in (
        "OPEN",
        "PLUS",
        "MINUS",
        "TIMES",
        "DIVIDED",
        "NUMBER",
        "NAME",
    ) or (cursor.peek().low in ("and", "or", "unless", "but", "then", "worth", "with", "plus"))
