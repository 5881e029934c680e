"""One condition as people write it: compared, in a range, or just named."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.ast import All, Condition, Node, Side, Term, Written, side_text
from hipad.rules.expressions import constant, read_name, read_side, times
from hipad.rules.lexer import (
    COUNT_WORDS,
    RELATION_KINDS,
    VERBS,
    Token,
    TokenStream,
    format_number,
    is_number,
    quote_name,
    read_number,
    read_unit,
    rule_error,
    spoken,
)
from hipad.rules.operands import (
    AbsoluteValue,
    Operand,
    compare,
    is_known,
    lone_feature,
    named_flag,
    one_feature,
    read_deviations,
    read_operand,
    refuse_vague,
    refuse_vague_name,
)
from hipad.rules.ranges import (
    is_above,
    read_levels,
    read_numbers,
    read_ranged,
    read_right_range,
    read_share,
    share_condition,
)

# --------------------------------------------------------------------------------------------------
# What follows the first side of a condition: signs with further sides, a range, or nothing.


_RANGES: Final = frozenset(spoken("not outside out between strictly from within inside in one"))
_BE: Final = frozenset(("is", "are", *VERBS))
_EVERY: Final = ("both", "all", "each")
_LIMITS: Final = {"min": ">=", "minimum": ">=", "max": "<=", "maximum": "<="}


def read_comparison(cursor: TokenStream, left: Operand) -> Node:
    """What follows a side: a range, signs with further sides, a number, or nothing."""
    if cursor.says("of") and (cursor.phrase(1) is not None or is_number(cursor, 1)):
        cursor.take()
    if cursor.peek().low in _EVERY:
        cursor.take()
        if cursor.relation() is None and cursor.peek().low not in _RANGES:
            cursor.at -= 1
    if cursor.peek().low in _LIMITS and is_number(cursor, 1) and lone_feature(left) is not None:
        return compare(left, _LIMITS[cursor.take().low], read_operand(cursor))
    start = cursor.at
    if cursor.peek().low in _BE:
        cursor.take()
    ranged = cursor.peek().low in _RANGES or cursor.peek().kind in ("IN", "NOTIN")
    if ranged and (node := read_ranged(cursor, left)) is not None:
        return node
    cursor.at = start
    found = cursor.relation()
    if found is None:
        return _uncompared(cursor, left)
    operands: list[Operand] = [left]
    relations: list[str] = []
    signs: list[Token] = []
    while (found := cursor.relation()) is not None:
        if cursor.peek().low in ("is", "are") and cursor.peek(1).kind in RELATION_KINDS:
            cursor.take()
            continue
        signs.append(cursor.peek())
        cursor.at += found[1]
        refuse_vague(cursor, left)
        relations.append(found[0])
        if len(relations) == 1 and (node := read_right_range(cursor, left, found[0])) is not None:
            return node
        cursor.implied = None
        operands.append(_right(cursor, left, found[0]))
        if (node := _further_than(cursor, operands, relations)) is not None:
            return node
        if cursor.implied is not None and cursor.relation() is not None:
            raise cursor.error(
                "write 'and' or 'or' between conditions, or * between a number and a feature",
                cursor.implied,
            )
    cursor.asked = relations[-1]
    return _chain(operands, relations, signs, cursor)


def _further_than(
    cursor: TokenStream, operands: list[Operand], relations: list[str]
) -> Node | None:
    """`a at least 40 more than b`: by how much two features differ."""
    left, amount = operands[0], operands[-1]
    if cursor.says("by") and len(relations) == 1:
        return _by_how_much(cursor, left, amount, relations[0])
    phrase = cursor.phrase()
    if len(relations) > 1 or phrase is None or phrase[0] not in (">", "<"):
        return None
    if not isinstance(left, tuple) or not isinstance(amount, tuple) or constant(amount) is None:
        return None
    start = cursor.at
    cursor.at += phrase[1]
    if constant(left) is None and cursor.is_name():
        other = read_operand(cursor)
        if isinstance(other, tuple) and constant(other) is None:
            gap = (*left, *times(other, -1.0))
            return compare(gap if phrase[0] == ">" else times(gap, -1.0), relations[0], amount)
    cursor.at = start
    return None


def _by_how_much(cursor: TokenStream, left: Operand, right: Operand, relation: str) -> Node | None:
    """`a exceeds b by more than 10`, `a differs from b by at least 10`."""
    if not isinstance(left, tuple) or not isinstance(right, tuple) or relation == "=":
        return None
    start = cursor.at
    cursor.take()
    found = cursor.relation()
    sign = found[0] if found is not None else ">="
    cursor.at += found[1] if found is not None else 0
    if is_number(cursor) and sign not in ("=", "!="):
        amount = read_operand(cursor)
        gap = (*left, *times(right, -1.0))
        if relation == "!=":
            return compare(AbsoluteValue(gap), sign, amount)
        return compare(gap if relation[0] == ">" else times(gap, -1.0), sign, amount)
    cursor.at = start
    return None


def _right(cursor: TokenStream, left: Operand, relation: str) -> Operand:
    """The side after a sign; mean, median and sd alone are those of the left side's feature."""
    name = lone_feature(left)
    known = cursor.vocabulary
    if (border := _nth_percentile(cursor, name)) is not None:
        return border
    if (border := read_deviations(cursor, left, relation)) is not None:
        return border
    if (number := _number_word(cursor)) is not None:
        return number
    if cursor.is_name(1):
        cursor.accept_words("its")
    cursor.own = name if known is not None else None
    right = read_operand(cursor)
    cursor.own = None
    return right


def _number_word(cursor: TokenStream) -> Side | None:
    """`zero` to `ten`, where no feature is called so."""
    word, known = cursor.peek(), cursor.vocabulary
    value = 0 if word.low == "zero" else COUNT_WORDS.get(word.low)
    if value is None or cursor.is_name(1) or known is None or known.is_name(word.text):
        return None
    cursor.take()
    return (Term(float(value), column=word.column),)


def _nth_percentile(cursor: TokenStream, name: str | None) -> Side | None:
    """`the 90th percentile`, of the feature that is compared."""
    start = cursor.at
    if not cursor.accept_words("the"):
        cursor.accept_words("its")
    if name is not None and cursor.peek().kind == "NUMBER":
        number = cursor.take()
        ending = (
            cursor.accept_words("th")
            or cursor.accept_words("st")
            or (cursor.accept_words("nd") or cursor.accept_words("rd"))
        )
        if ending and number.text in ("1", "2", "3") and cursor.accept_words("quartile"):
            return (Term(1.0, (name,), f"p{25 * int(number.text)}", number.column),)
        if ending and cursor.accept_words("percentile") and float(number.text) <= 100:
            share = format_number(float(number.text))
            return (Term(1.0, (name,), f"p{share}", number.column),)
    cursor.at = start
    return None


def _chain(
    operands: list[Operand], relations: list[str], signs: list[Token], cursor: TokenStream
) -> Node:
    if len(relations) == 1:
        return _placed(lambda: compare(operands[0], relations[0], operands[1]), signs[0])
    ways = {relation[0] for relation in relations}
    if len(ways) > 1 or ways & {"!"}:
        message = "the signs of a chain must point the same way: write 3 <= x <= 5"
        raise rule_error(message, column=signs[-1].column)
    sides = [operand for operand in operands if isinstance(operand, tuple)]
    if len(sides) == len(operands) == 3 and "=" not in relations:
        chain = _placed(lambda: Condition(tuple(sides), tuple(relations)), signs[0])
        assert isinstance(chain, Condition)
        _check_limits(chain, signs[0].column)
        return chain
    pairs = zip(operands, relations, operands[1:], strict=False)
    return All(tuple(_placed(lambda p=pair: compare(*p), signs[0]) for pair in pairs))


def _placed(make, sign: Token) -> Node:  # type: ignore[no-untyped-def]
    """What `make` gives; its error stands at the sign."""
    try:
        node: Node = make()
    except RuleError as error:
        if error.column is not None:
            raise
        raise rule_error(str(error), column=sign.column, suggestion=error.suggestion) from None
    return node


def _check_limits(condition: Condition, column: int) -> None:
    first, last = constant(condition.sides[0]), constant(condition.sides[2])
    if first is None or last is None:
        return
    low, high = condition.sides[0][0], condition.sides[2][0]
    if is_above(low, high) if condition.relations[0][0] == "<" else is_above(high, low):
        low, high = (high, low) if is_above(low, high) else (low, high)
        remedy = f"{side_text(condition.sides[1])} between {low} and {high}"
        message = f"'{condition}' can never be met, its limits are exchanged: write {remedy}"
        raise rule_error(message, column=column, suggestion=remedy)


def _uncompared(cursor: TokenStream, left: Operand) -> Node:
    """A side without a sign: `Age 18-25`, `BMI 30 or more`, or a name alone."""
    word = cursor.peek()
    if not isinstance(left, tuple) or constant(left) is not None:
        raise cursor.error(
            "compare this with something, as in Glucose >= 126"
            if not cursor.is_over
            else "compare it, and end with the outcome, as in Glucose >= 126 => positive"
        )
    name = lone_feature(left)
    if (name is not None and is_number(cursor)) or (word.kind == "MINUS" and is_number(cursor, 1)):
        if (numbers := read_numbers(cursor, left)) is not None:
            return numbers
        if (node := read_right_range(cursor, left, "=")) is not None and _is_settled(node):
            cursor.asked = "="
            return node
        quoted = quote_name(name) if name else "the feature"
        raise cursor.error(f"write a sign before the number, as in {quoted} >= {word.text}", word)
    if len(left) == 1 and left[0].function == "" and left[0].coefficient == 1.0:
        refuse_vague_name(left[0], cursor)
        return named_flag(left[0].names[0], left[0].column or 1)
    if len(left) == 2 and left[0].names[:1] == ("non",):
        name = side_text(times(left[1:], -1.0))
        raise cursor.error(f"write not {name}, or the whole name between backticks")
    raise cursor.error(
        f"'{side_text(left)}' is not compared: write a sign and a number after it, as in "
        f"{side_text(left)} >= 2",
        None,
    )


def _is_settled(node: Node) -> bool:
    return not (isinstance(node, Condition) and node.form == "compare" and node.relations == ("=",))


# --------------------------------------------------------------------------------------------------
# One condition as people write it: compared, in a range, of a size without sign, or just named.
#
# This is where a condition begins; what follows its first side is read in `comparisons.py`.


def read_atom(cursor: TokenStream) -> Node:
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


def _atom(cursor: TokenStream) -> Node:
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


def _counted_things(cursor: TokenStream, given: tuple[str, int]) -> Node:
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
