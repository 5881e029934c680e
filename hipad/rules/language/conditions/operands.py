"""What may stand on one side of a comparison: a sum, a size |a|, a curve log2(a), or any(K1)."""

from __future__ import annotations

from dataclasses import dataclass

from hipad.rules.language.sides.expressions import read_side
from hipad.rules.language.sides.functions import CURVES, GROUPS, read_group
from hipad.rules.language.sides.spelled_names import plain_text
from hipad.rules.language.terms import RATIO, Name, Side, Term
from hipad.rules.language.words.cursor import RELATION_KINDS, Cursor


@dataclass(frozen=True)
class SizeOf:
    """|side|: its size without the sign."""

    side: Side


@dataclass(frozen=True)
class CurveOf:
    """A function that rises with its side: log2(a)."""

    function: str
    side: Side


@dataclass(frozen=True)
class AmongGroup:
    """any(K1) or all(K1): some or every feature of a group."""

    word: str
    names: tuple[Name, ...]
    column: int


Operand = Side | SizeOf | CurveOf | AmongGroup


def read_operand(cursor: Cursor) -> Operand:
    """What stands on one side of a sign: a sum, |a|, abs(a), log2(a), or any(a, b)."""
    word, after = cursor.peek(), cursor.peek(1)
    if word.kind == "BAR":
        cursor.take()
        side = read_side(cursor)
        if cursor.accept("BAR") is None:
            raise cursor.error("close |...| with a second '|', as in |a| <= 2")
        return SizeOf(side)
    if word.kind == "NAME" and after.kind == "OPEN" and after.text == "(":
        if word.low == "abs" or word.low in CURVES:
            cursor.at += 2
            side = read_side(cursor)
            if cursor.accept("CLOSE") is None:
                raise cursor.error("close the bracket with ')'")
            if cursor.peek().kind in ("PLUS", "MINUS", "TIMES", "DIVIDED"):
                raise cursor.error(
                    f"{word.text}(...) must stand alone on its side: compare it with a number, or "
                    "add what you mean to the data as a feature of its own"
                )
            return SizeOf(side) if word.low == "abs" else CurveOf(word.low, side)
        if word.low in GROUPS:
            cursor.take()
            names, number = read_group(cursor)
            if number is not None:
                raise cursor.error("name features or blocks between the brackets", word)
            return AmongGroup(GROUPS[word.low], tuple(names), word.column)
    if word.kind in ("NAME", "QUOTED") and after.kind == "POWER" and (n := _square(cursor)):
        side = (Term(1.0, (plain_text(word.text),), column=word.column),)
        cursor.at += n
        return CurveOf("square", side)
    side = read_side(cursor)
    if side[0].function == RATIO:
        cursor.accept_words("ratio")
    return side


def _square(cursor: Cursor) -> int:
    """How many words a feature, squared and compared, takes; 0 if something else comes."""
    n = 2 if cursor.peek(1).text == "²" else 3
    squared = n == 2 or (cursor.peek(1).text in ("^", "**") and cursor.peek(2).text == "2")
    compared = cursor.peek(n).kind in RELATION_KINDS or cursor.phrase(n) is not None
    return n if squared and compared else 0


def lone_feature(operand: Operand) -> str | None:
    """The name of an operand that is one feature and nothing else; None for any other."""
    if isinstance(operand, tuple) and len(operand) == 1:
        term = operand[0]
        if len(term.names) == 1 and not term.function and isinstance(term.names[0], str):
            return term.names[0]
    return None


def one_feature(operand: Operand, cursor: Cursor) -> Term:
    """The term of an operand that is one feature; RuleError for any other."""
    name = lone_feature(operand)
    if name is None or not isinstance(operand, tuple):
        raise cursor.error(
            "name one feature for its top or bottom share, as in top 10 % of Glucose"
        )
    return operand[0]
