"""Top and bottom shares of a feature: `top 10 % of x`, `the lowest quartile`."""

from __future__ import annotations

from typing import Final

from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import format_number
from hipad.rules.language.terms import Term
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.quantities import is_number, read_number

_SHARES: Final = {"decile": 10.0, "quartile": 25.0, "quintile": 20.0, "tertile": 100 / 3,
                  "tercile": 100 / 3, "percentile": 1.0, "half": 50.0}  # fmt: skip
_TOPS: Final = {"top": True, "highest": True, "upper": True, "bottom": False, "lowest": False,
                "lower": False}  # fmt: skip


def read_share(cursor: Cursor) -> tuple[bool, float] | None:
    """`top 10 %`, `the lowest quartile`: whether it is the top, and the share in percent."""
    start = cursor.at
    if cursor.peek().low != "the" and cursor.peek().low not in _TOPS:
        return None
    cursor.accept_words("the")
    word = cursor.peek()
    if word.low not in _TOPS:
        cursor.at = start
        return None
    cursor.take()
    after = cursor.peek()
    if after.kind == "NAME" and after.low in _SHARES:
        cursor.take()
        return _TOPS[word.low], _SHARES[after.low]
    if is_number(cursor):
        share = read_number(cursor)
        if cursor.accept("PERCENT") or cursor.accept_words("percent"):
            if not 0 < share < 100:
                raise cursor.error("write a share between 0 and 100 %", after)
            return _TOPS[word.low], share
    cursor.at = start
    return None


def share_condition(term: Term, top: bool, share: float) -> Condition:
    """A feature beyond its own percentile: `top 10 % of x` is x >= p90(x)."""
    level = format_number(round(100 - share if top else share, 6))
    border = Term(1.0, term.names, f"p{level}", term.column)
    return Condition(((term,), (border,)), (">=" if top else "<=",))
