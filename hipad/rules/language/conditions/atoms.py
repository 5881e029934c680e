"""One condition as people write it: compared, in a range, of a size without sign, or just named.

This is where a condition begins; what follows its first side is read in `comparisons.py`.
"""

from __future__ import annotations

from dataclasses import replace

from hipad.errors import RuleError
from hipad.rules.language.conditions.comparisons import read_comparison
from hipad.rules.language.conditions.levels import read_levels
from hipad.rules.language.conditions.membership import read_right_range
from hipad.rules.language.conditions.operands import one_feature, read_operand
from hipad.rules.language.conditions.pairing import compare
from hipad.rules.language.conditions.shares import read_share, share_condition
from hipad.rules.language.conditions.vague import is_known, refuse_vague
from hipad.rules.language.logic import Node
from hipad.rules.language.model import Condition, Written
from hipad.rules.language.sides.arithmetic import constant
from hipad.rules.language.sides.expressions import read_side
from hipad.rules.language.sides.spelled_names import read_name
from hipad.rules.language.spelling import rule_error
from hipad.rules.language.terms import Term
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.quantities import is_number, read_number, read_unit


def read_atom(cursor: Cursor) -> Node:
    """Read one condition; it keeps how it was written until the data are known."""
    start, first = cursor.at, cursor.peek()
    cursor.unit = ""
    try:
        node = _in_unit(_atom(cursor), cursor.unit)
    except RuleError as error:
        if error.column is not None:
            raise
        raise rule_error(str(error), column=first.column, suggestion=error.suggestion) from None
    if isinstance(node, Condition) and cursor.vocabulary is None:
        return replace(node, written=Written(cursor.text(start), first.column, node.sides))
    return node


def _in_unit(node: Node, unit: str) -> Node:
    """The condition with a unit for its numbers, that stood after the feature's name."""
    if not unit:
        return node
    if not isinstance(node, Condition):
        return type(node)(tuple(_in_unit(part, unit) for part in node.parts))
    sides = tuple(
        tuple(replace(t, unit=unit) if t.is_number and not t.unit else t for t in side)
        for side in node.sides
    )
    return replace(node, sides=sides)


def _atom(cursor: Cursor) -> Node:
    if (node := read_levels(cursor)) is not None:
        return node
    refuse_vague(cursor)
    if (top := read_share(cursor)) is not None:
        cursor.accept_words("of")
        return share_condition(one_feature(read_side(cursor), cursor), *top)
    given = cursor.relation()
    if given is not None and cursor.subject is not None and not cursor.says("is", "not"):
        return read_comparison(cursor, cursor.subject)  # a >= 2 or <= -3
    if given is not None and cursor.subject is None:
        return _counted_things(cursor, given)
    goes_on = cursor.subject is not None and cursor.asked == "=" and is_number(cursor)
    if goes_on and (node := read_right_range(cursor, cursor.subject, "=")) is not None:
        return node  # a 12-24 or 36-48
    operand = read_operand(cursor)
    value = constant(operand) if isinstance(operand, tuple) else None
    if value is None:
        cursor.subject = operand
    elif cursor.subject is not None and cursor.relation() is None and cursor.asked == "=":
        return compare(cursor.subject, "=", operand)  # a = 2 or 3
    return read_comparison(cursor, operand)


def _counted_things(cursor: Cursor, given: tuple[str, int]) -> Node:
    """`at least 3 lymph_nodes`: the sign and the number stand before the feature."""
    start = cursor.peek()
    said = cursor.text(cursor.at, cursor.at + given[1])
    cursor.at += given[1]
    known = cursor.vocabulary is None or is_known(cursor, cursor.peek(1).text.strip("`"))
    if is_number(cursor) and cursor.is_name(1) and known:
        value = Term(read_number(cursor), column=start.column)
        unit = read_unit(cursor)
        name = "" if unit else read_name(cursor)
        if name and cursor.relation() is None:
            return compare((Term(1.0, (name,), column=start.column),), given[0], (value,))
    raise cursor.error(
        f"it is not said what is '{said}': write the feature before it, as in Age >= 45", start
    )
