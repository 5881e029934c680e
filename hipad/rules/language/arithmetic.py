"""Arithmetic on the sides of a condition while they are read: constants, products, quotients."""

from __future__ import annotations

from lark import Token

from hipad.errors import RuleError
from hipad.rules.language.spelling import LARGEST, rule_error
from hipad.rules.language.terms import Side, Term


def constant(side: Side) -> float | None:
    """The value of a side that names no feature, else None."""
    return sum(term.coefficient for term in side) if all(t.is_number for t in side) else None


def divisor(number: float | None, sign: Token) -> float:
    """The number to divide by; RuleError at the sign for zero and for a feature."""
    if number is None:
        message = (
            "a quotient of features is not linear: compare a >= 2*b in place of a/b >= 2, or "
            "add the quotient to the data as a feature of its own"
        )
        raise rule_error(message, column=sign_column(sign), suggestion="a >= 2*b")
    if number == 0:
        message = "a division by zero has no value: divide by another number"
        raise rule_error(message, column=sign_column(sign))
    return number


def scaled(side: Side, steps: list[tuple[Token, float]]) -> Side:
    """The side multiplied and divided step by step.

    For a sum of several terms the steps first become one factor, so that the sum is gone through
    only once.
    """
    if len(side) > 1 and len(steps) > 1:
        factor = _after(Term(1.0), steps).coefficient
        steps = [(steps[-1][0].update(type="TIMES"), factor)]
    return tuple(_after(term, steps) for term in side)


def _after(term: Term, steps: list[tuple[Token, float]]) -> Term:
    """The term multiplied and divided step by step, as it is written."""
    value = term.coefficient
    for sign, number in steps:
        value = value / number if sign.type == "DIVIDED" else value * number
        if value and not 1 / LARGEST <= abs(value) <= LARGEST:
            break
    try:
        return Term(value, term.names, term.function, term.column)
    except RuleError as error:
        raise rule_error(str(error), column=sign_column(sign)) from None


def times(side: Side, factor: float) -> Side:
    """The side with every coefficient multiplied."""
    return tuple(Term(t.coefficient * factor, t.names, t.function, t.column) for t in side)


def sign_column(token: Token) -> int:
    """Where a sign or a word stands in its line, counted from one."""
    return token.column or 1
