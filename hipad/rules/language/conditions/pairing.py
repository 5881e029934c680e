"""Two operands compared, as conditions on sums.

A size without sign becomes two rows or two rules, a curve is turned back to its side, and any and
all become the largest and the smallest.
"""

from __future__ import annotations

import math
from dataclasses import replace

from hipad.rules.language.conditions.operands import AmongGroup, CurveOf, Operand, SizeOf
from hipad.rules.language.logic import MIRRORED, All, Any, Node
from hipad.rules.language.model import Condition
from hipad.rules.language.sides.arithmetic import constant, times
from hipad.rules.language.spelling import format_number, rule_error
from hipad.rules.language.terms import Side, Term


def compare(left: Operand, relation: str, right: Operand) -> Node:
    """Two operands compared."""
    if not isinstance(right, tuple):
        if not isinstance(left, tuple):
            raise rule_error("only one side may hold a function like this: bring it to one side")
        return compare(right, MIRRORED[relation], left)
    if isinstance(left, SizeOf):
        return _sized(left.side, relation, right)
    if isinstance(left, CurveOf):
        return _curved(left, relation, right)
    if isinstance(left, AmongGroup):
        return _grouped(left, relation, right)
    return Condition((left, right), (relation,))


def _sized(side: Side, relation: str, right: Side) -> Node:
    """|side| compared: two rows for at most, two rules for at least."""
    size = constant(right)
    if size is not None and size < 0:
        raise rule_error("a size without sign is never below 0: compare it with a number above 0")
    minus = times(right, -1.0)
    if relation[0] == "<":
        if size is not None:
            return Condition((minus, side, right), (relation, relation))
        return All(
            (
                Condition((side, right), (relation,)),
                Condition((side, minus), (MIRRORED[relation],)),
            )
        )
    if relation == "!=":
        raise rule_error("write one rule with > and one with <")
    return Any(
        (Condition((side, right), (relation,)), Condition((side, minus), (MIRRORED[relation],)))
    )


def _curved(curve: CurveOf, relation: str, right: Side) -> Node:
    """A rising function compared with a number: the side compared with the number it stands for."""
    value = constant(right)
    if value is None:
        raise rule_error(
            f"{curve.function}(...) can be compared with a number only: add it to the data as a "
            "feature of its own"
        )
    level = (Term(level_of(curve.function, value)),)
    if curve.function == "square":
        return _sized(curve.side, relation, level)
    if relation[0] == "<" and curve.function != "exp":  # there is no root or logarithm below 0
        least = "<=" if curve.function == "sqrt" else "<"
        return Condition(((Term(0.0),), curve.side, level), (least, relation))
    return Condition((curve.side, level), (relation,))


def level_of(function: str, value: float) -> float:
    """The value of the side at which the function has this value."""
    if (function in ("sqrt", "square") and value < 0) or (function == "exp" and value <= 0):
        said = "a square" if function == "square" else f"{function}(...)"
        raise rule_error(f"{said} is never {format_number(value)}: compare it with another number")
    try:
        level = {
            "log2": lambda: 2.0**value,
            "log10": lambda: 10.0**value,
            "ln": lambda: math.exp(value),
            "exp": lambda: math.log(value),
            "sqrt": lambda: value * value,
            "square": lambda: math.sqrt(value),
        }[function]()
    except OverflowError:
        raise rule_error(f"{format_number(value)} is too large here: write a smaller one") from None
    return _tidy(level)


def _tidy(value: float) -> float:
    """10 ** -1 is 0.1."""
    short = float(f"{value:.14g}")
    return short if math.isclose(short, value, rel_tol=1e-14) else value


def _grouped(among: AmongGroup, relation: str, right: Side) -> Node:
    """any(K1) >= 2: the largest is; all(K1) >= 2: the smallest is; none: the largest is not."""
    if relation[0] not in "<>":
        raise rule_error(
            f"write {among.word}(...) with >= or <=: in all, min(K1) >= 2 and max(K1) <= 2"
        )
    if among.word == "none":
        relation = {">=": "<", ">": "<=", "<=": ">", "<": ">="}[relation]
        return _grouped(replace(among, word="all"), relation, right)
    large = (among.word == "any") == (relation[0] == ">")
    term = Term(1.0, among.names, "max" if large else "min", among.column)
    return Condition(((term,), right), (relation,))
