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


def read_comparison(tokens: TokenStream, left: Operand) -> Node:
    """Return what follows a side: a range, signs with further sides, a number, or nothing."""
    if tokens.matches("of") and (tokens.phrase(1) is not None or is_number(tokens, 1)):
        tokens.take()
    if tokens.peek().low in _EVERY:
        tokens.take()
        if tokens.relation() is None and tokens.peek().low not in _RANGES:
            tokens.at -= 1
    if tokens.peek().low in _LIMITS and is_number(tokens, 1) and lone_feature(left) is not None:
        return compare(left, _LIMITS[tokens.take().low], read_operand(tokens))
    start = tokens.at
    if tokens.peek().low in _BE:
        tokens.take()
    ranged = tokens.peek().low in _RANGES or tokens.peek().kind in ("IN", "NOTIN")
    if ranged and (node := read_ranged(tokens, left)) is not None:
        return node
    tokens.at = start
    found = tokens.relation()
    if found is None:
        return _uncompared(tokens, left)
    operands: list[Operand] = [left]
    relations: list[str] = []
    signs: list[Token] = []
    while (found := tokens.relation()) is not None:
        if tokens.peek().low in ("is", "are") and tokens.peek(1).kind in RELATION_KINDS:
            tokens.take()
            continue
        signs.append(tokens.peek())
        tokens.at += found[1]
        refuse_vague(tokens, left)
        relations.append(found[0])
        if len(relations) == 1 and (node := read_right_range(tokens, left, found[0])) is not None:
            return node
        tokens.implied = None
        operands.append(_right(tokens, left, found[0]))
        if (node := _further_than(tokens, operands, relations)) is not None:
            return node
        if tokens.implied is not None and tokens.relation() is not None:
            raise tokens.error(
                "write 'and' or 'or' between conditions, or * between a number and a feature",
                tokens.implied,
            )
    tokens.asked = relations[-1]
    return _chain(operands, relations, signs, tokens)


def _further_than(
    tokens: TokenStream, operands: list[Operand], relations: list[str]
) -> Node | None:
    """`a at least 40 more than b`: by how much two features differ."""
    left, amount = operands[0], operands[-1]
    if tokens.matches("by") and len(relations) == 1:
        return _by_how_much(tokens, left, amount, relations[0])
    phrase = tokens.phrase()
    if len(relations) > 1 or phrase is None or phrase[0] not in (">", "<"):
        return None
    if not isinstance(left, tuple) or not isinstance(amount, tuple) or constant(amount) is None:
        return None
    start = tokens.at
    tokens.at += phrase[1]
    if constant(left) is None and tokens.is_name():
        other = read_operand(tokens)
        if isinstance(other, tuple) and constant(other) is None:
            gap = (*left, *times(other, -1.0))
            return compare(gap if phrase[0] == ">" else times(gap, -1.0), relations[0], amount)
    tokens.at = start
    return None


def _by_how_much(tokens: TokenStream, left: Operand, right: Operand, relation: str) -> Node | None:
    """`a exceeds b by more than 10`, `a differs from b by at least 10`."""
    if not isinstance(left, tuple) or not isinstance(right, tuple) or relation == "=":
        return None
    start = tokens.at
    tokens.take()
    found = tokens.relation()
    sign = found[0] if found is not None else ">="
    tokens.at += found[1] if found is not None else 0
    if is_number(tokens) and sign not in ("=", "!="):
        amount = read_operand(tokens)
        gap = (*left, *times(right, -1.0))
        if relation == "!=":
            return compare(AbsoluteValue(gap), sign, amount)
        return compare(gap if relation[0] == ">" else times(gap, -1.0), sign, amount)
    tokens.at = start
    return None


def _right(tokens: TokenStream, left: Operand, relation: str) -> Operand:
    """Return the side after a sign; mean, median and sd alone are those of the left side's
    feature.
    """
    name = lone_feature(left)
    known = tokens.vocabulary
    if (border := _nth_percentile(tokens, name)) is not None:
        return border
    if (border := read_deviations(tokens, left, relation)) is not None:
        return border
    if (number := _number_word(tokens)) is not None:
        return number
    if tokens.is_name(1):
        tokens.accept_words("its")
    tokens.own = name if known is not None else None
    right = read_operand(tokens)
    tokens.own = None
    return right


def _number_word(tokens: TokenStream) -> Side | None:
    """`zero` to `ten`, where no feature is called so."""
    word, known = tokens.peek(), tokens.vocabulary
    value = 0 if word.low == "zero" else COUNT_WORDS.get(word.low)
    if value is None or tokens.is_name(1) or known is None or known.is_name(word.text):
        return None
    tokens.take()
    return (Term(float(value), column=word.column),)


def _nth_percentile(tokens: TokenStream, name: str | None) -> Side | None:
    """`the 90th percentile`, of the feature that is compared."""
    start = tokens.at
    if not tokens.accept_words("the"):
        tokens.accept_words("its")
    if name is not None and tokens.peek().kind == "NUMBER":
        number = tokens.take()
        ending = (
            tokens.accept_words("th")
            or tokens.accept_words("st")
            or (tokens.accept_words("nd") or tokens.accept_words("rd"))
        )
        if ending and number.text in ("1", "2", "3") and tokens.accept_words("quartile"):
            return (Term(1.0, (name,), f"p{25 * int(number.text)}", number.column),)
        if ending and tokens.accept_words("percentile") and float(number.text) <= 100:
            share = format_number(float(number.text))
            return (Term(1.0, (name,), f"p{share}", number.column),)
    tokens.at = start
    return None


def _chain(
    operands: list[Operand], relations: list[str], signs: list[Token], tokens: TokenStream
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
    """Return what `make` gives; its error stands at the sign."""
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


def _uncompared(tokens: TokenStream, left: Operand) -> Node:
    """Return a side without a sign: `Age 18-25`, `BMI 30 or more`, or a name alone."""
    word = tokens.peek()
    if not isinstance(left, tuple) or constant(left) is not None:
        raise tokens.error(
            "compare this with something, as in Glucose >= 126"
            if not tokens.is_over
            else "compare it, and end with the outcome, as in Glucose >= 126 => positive"
        )
    name = lone_feature(left)
    if (name is not None and is_number(tokens)) or (word.kind == "MINUS" and is_number(tokens, 1)):
        if (numbers := read_numbers(tokens, left)) is not None:
            return numbers
        if (node := read_right_range(tokens, left, "=")) is not None and _is_settled(node):
            tokens.asked = "="
            return node
        quoted = quote_name(name) if name else "the feature"
        raise tokens.error(f"write a sign before the number, as in {quoted} >= {word.text}", word)
    if len(left) == 1 and left[0].function == "" and left[0].coefficient == 1.0:
        refuse_vague_name(left[0], tokens)
        return named_flag(left[0].names[0], left[0].column or 1)
    if len(left) == 2 and left[0].names[:1] == ("non",):
        name = side_text(times(left[1:], -1.0))
        raise tokens.error(f"write not {name}, or the whole name between backticks")
    raise tokens.error(
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


def read_atom(tokens: TokenStream) -> Node:
    """Read one condition; it keeps how it was written until the data are known."""
    start, first = tokens.at, tokens.peek()
    tokens.unit = ""
    try:
        node = _in_unit(_atom(tokens), tokens.unit)
    except RuleError as error:
        if error.column is not None:
            raise
        raise rule_error(str(error), column=first.column, suggestion=error.suggestion) from None
    if isinstance(node, Condition) and tokens.vocabulary is None:
        return replace(node, written=Written(tokens.text(start), first.column, node.sides))
    return node


def _in_unit(node: Node, unit: str) -> Node:
    """Return the condition with a unit for its numbers, that stood after the feature's name."""
    if not unit:
        return node
    if not isinstance(node, Condition):
        return type(node)(tuple(_in_unit(part, unit) for part in node.parts))
    sides = tuple(
        tuple(replace(t, unit=unit) if t.is_number and not t.unit else t for t in side)
        for side in node.sides
    )
    return replace(node, sides=sides)


def _atom(tokens: TokenStream) -> Node:
    if (node := read_levels(tokens)) is not None:
        return node
    refuse_vague(tokens)
    if (top := read_share(tokens)) is not None:
        tokens.accept_words("of")
        return share_condition(one_feature(read_side(tokens), tokens), *top)
    given = tokens.relation()
    if given is not None and tokens.subject is not None and not tokens.matches("is", "not"):
        return read_comparison(tokens, tokens.subject)  # a >= 2 or <= -3
    if given is not None and tokens.subject is None:
        return _counted_things(tokens, given)
    goes_on = tokens.subject is not None and tokens.asked == "=" and is_number(tokens)
    if goes_on and (node := read_right_range(tokens, tokens.subject, "=")) is not None:
        return node  # a 12-24 or 36-48
    operand = read_operand(tokens)
    value = constant(operand) if isinstance(operand, tuple) else None
    if value is None:
        tokens.subject = operand
    elif tokens.subject is not None and tokens.relation() is None and tokens.asked == "=":
        return compare(tokens.subject, "=", operand)  # a = 2 or 3
    return read_comparison(tokens, operand)


def _counted_things(tokens: TokenStream, given: tuple[str, int]) -> Node:
    """`at least 3 lymph_nodes`: the sign and the number stand before the feature."""
    start = tokens.peek()
    said = tokens.text(tokens.at, tokens.at + given[1])
    tokens.at += given[1]
    known = tokens.vocabulary is None or is_known(tokens, tokens.peek(1).text.strip("`"))
    if is_number(tokens) and tokens.is_name(1) and known:
        value = Term(read_number(tokens), column=start.column)
        unit = read_unit(tokens)
        name = "" if unit else read_name(tokens)
        if name and tokens.relation() is None:
            return compare((Term(1.0, (name,), column=start.column),), given[0], (value,))
    raise tokens.error(
        f"it is not said what is '{said}': write the feature before it, as in Age >= 45", start
    )
