"""One condition as people write it: compared, in a range, of a size without sign, or just named."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.cursor import AFTER_NUMBER, Cursor
from hipad.rules.language.expressions import (
    CURVES,
    GROUPS,
    constant,
    plain_text,
    read_group,
    read_name,
    read_side,
    times,
)
from hipad.rules.language.lexing import Word
from hipad.rules.language.logic import All, Any, Node, negated
from hipad.rules.language.model import Condition, Written
from hipad.rules.language.quantities import is_number, read_number, read_unit
from hipad.rules.language.spelling import format_number, quote_name, rule_error, spoken
from hipad.rules.language.terms import RATIO, SET, Name, Side, Term, side_text

_MIRRORED: Final = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "=": "=", "!=": "!="}
_VAGUE: Final = frozenset(
    spoken(
        "high low elevated raised increased decreased reduced normal abnormal overexpressed "
        "underexpressed upregulated downregulated large small old young big increases "
        "decreases rises falls"
    )
)
_HIGH: Final = frozenset(spoken("low decreased reduced underexpressed downregulated small young"))
_MISSING: Final = frozenset(spoken("na nan missing null none unknown undefined"))
_SHARES: Final = {"decile": 10.0, "quartile": 25.0, "quintile": 20.0, "tertile": 100 / 3,
                  "tercile": 100 / 3, "percentile": 1.0, "half": 50.0}  # fmt: skip
_TOPS: Final = {"top": True, "highest": True, "upper": True, "bottom": False, "lowest": False,
                "lower": False}  # fmt: skip
_RANGES: Final = frozenset(spoken("not outside between from within in one"))
_BE: Final = ("is", "are", "was", "lies", "ranges")


@dataclass(frozen=True)
class _Size:
    """|side|: its size without the sign."""

    side: Side


@dataclass(frozen=True)
class _Curve:
    """A function that rises with its side: log2(a)."""

    function: str
    side: Side


@dataclass(frozen=True)
class _Among:
    """any(K1) or all(K1): some or every feature of a group."""

    word: str
    names: tuple[Name, ...]
    column: int


_Operand = Side | _Size | _Curve | _Among


def flag_name(node: Node, *, spans: bool = False) -> Name | None:
    """The name that stands alone as a condition, not turned round; else None."""
    if not isinstance(node, Condition) or node.form != "flag" or not node.sides[1][0].coefficient:
        return None
    name = node.sides[0][0].names[0]
    return name if spans or isinstance(name, str) else None


def named_flag(name: Name, column: int) -> Condition:
    """A name that stands alone: `smoker`."""
    function = "" if isinstance(name, str) else "min"
    term = Term(1.0, (name,), function, column)
    return Condition(((term,), (Term(1.0),)), ("=",), "flag")


def with_relation(node: Node, like: Condition) -> Node:
    """A name that stands alone, compared as another one is."""
    name = flag_name(node)
    assert name is not None
    return replace(like, sides=((Term(1.0, (name,)),), *like.sides[1:]), written=None)


def read_atom(cursor: Cursor) -> Node:
    """Read one condition; it keeps how it was written until the data are known."""
    start, first = cursor.at, cursor.peek()
    try:
        node = _atom(cursor)
    except RuleError as error:
        if error.column is not None:
            raise
        raise rule_error(str(error), column=first.column, suggestion=error.suggestion) from None
    if isinstance(node, Condition) and cursor.vocabulary is None:
        return replace(node, written=Written(cursor.text(start), first.column, node.sides))
    return node


def _atom(cursor: Cursor) -> Node:
    _refuse_vague(cursor)
    if (top := _top(cursor)) is not None:
        cursor.accept_words("of")
        return _ranked(_single(read_side(cursor), cursor), *top)
    given = cursor.relation()
    if given is not None and cursor.subject is not None and not cursor.says("is", "not"):
        return _compared(cursor, cursor.subject)  # a >= 2 or <= -3
    if given is not None and cursor.subject is None:
        return _counted_things(cursor, given)
    operand = _operand(cursor)
    value = constant(operand) if isinstance(operand, tuple) else None
    if value is None:
        cursor.subject = operand
    elif cursor.subject is not None and cursor.relation() is None and cursor.asked == "=":
        return _pair(cursor.subject, "=", operand)  # a = 2 or 3
    return _compared(cursor, operand)


def _counted_things(cursor: Cursor, given: tuple[str, int]) -> Node:
    """`at least 3 lymph_nodes`: the sign and the number stand before the feature."""
    start = cursor.peek()
    said = cursor.text(cursor.at, cursor.at + given[1])
    cursor.at += given[1]
    known = cursor.vocabulary is None or _known(cursor, cursor.peek(1).text.strip("`"))
    if is_number(cursor) and cursor.is_name(1) and known:
        value = Term(read_number(cursor), column=start.column)
        unit = read_unit(cursor)
        name = "" if unit else read_name(cursor)
        if name and cursor.relation() is None:
            return _pair((Term(1.0, (name,), column=start.column),), given[0], (value,))
    raise cursor.error(
        f"it is not said what is '{said}': write the feature before it, as in Age >= 45", start
    )


def _operand(cursor: Cursor) -> _Operand:
    word, after = cursor.peek(), cursor.peek(1)
    if word.kind == "BAR":
        cursor.take()
        side = read_side(cursor)
        if cursor.accept("BAR") is None:
            raise cursor.error("close |...| with a second '|', as in |a| <= 2")
        return _Size(side)
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
            return _Size(side) if word.low == "abs" else _Curve(word.low, side)
        if word.low in GROUPS:
            cursor.take()
            names, number = read_group(cursor)
            if number is not None:
                raise cursor.error("name features or blocks between the brackets", word)
            return _Among(GROUPS[word.low], tuple(names), word.column)
    side = read_side(cursor)
    if side[0].function == RATIO:
        cursor.accept_words("ratio")
    return side


def _compared(cursor: Cursor, left: _Operand) -> Node:
    """What follows a side: a range, signs with further sides, a number, or nothing."""
    if cursor.says("of") and cursor.phrase(1) is not None:
        cursor.take()
    start = cursor.at
    if cursor.peek().low in _BE:
        cursor.take()
    ranged = cursor.peek().low in _RANGES or cursor.peek().kind in ("IN", "NOTIN")
    if ranged and (node := _ranged(cursor, left)) is not None:
        return node
    cursor.at = start
    found = cursor.relation()
    if found is None:
        return _uncompared(cursor, left)
    operands: list[_Operand] = [left]
    relations: list[str] = []
    signs: list[Word] = []
    while (found := cursor.relation()) is not None:
        signs.append(cursor.peek())
        cursor.at += found[1]
        _refuse_vague(cursor, left)
        relations.append(found[0])
        if len(relations) == 1 and (node := _right_range(cursor, left, found[0])) is not None:
            return node
        cursor.implied = None
        operands.append(_right(cursor, left))
        if cursor.implied is not None and cursor.relation() is not None:
            raise cursor.error(
                "write 'and' or 'or' between conditions, or * between a number and a feature",
                cursor.implied,
            )
    cursor.asked = relations[-1]
    return _chain(operands, relations, signs, cursor)


def _right(cursor: Cursor, left: _Operand) -> _Operand:
    """The side after a sign; mean, median and sd alone are those of the left side's feature."""
    name = _name_of(left)
    known = cursor.vocabulary
    if (border := _nth_percentile(cursor, name)) is not None:
        return border
    cursor.accept_words("its")
    cursor.own = name if known is not None else None
    right = _operand(cursor)
    cursor.own = None
    return right


def _nth_percentile(cursor: Cursor, name: str | None) -> Side | None:
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
        if ending and cursor.accept_words("percentile") and float(number.text) <= 100:
            share = format_number(float(number.text))
            return (Term(1.0, (name,), f"p{share}", number.column),)
    cursor.at = start
    return None


def _name_of(operand: _Operand) -> str | None:
    if isinstance(operand, tuple) and len(operand) == 1:
        term = operand[0]
        if len(term.names) == 1 and not term.function and isinstance(term.names[0], str):
            return term.names[0]
    return None


def _chain(
    operands: list[_Operand], relations: list[str], signs: list[Word], cursor: Cursor
) -> Node:
    if len(relations) == 1:
        return _placed(lambda: _pair(operands[0], relations[0], operands[1]), signs[0])
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
    return All(tuple(_placed(lambda p=pair: _pair(*p), signs[0]) for pair in pairs))


def _placed(make, sign: Word) -> Node:  # type: ignore[no-untyped-def]
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
    if (first > last) if condition.relations[0][0] == "<" else (first < last):
        low, high = sorted((first, last))
        middle = side_text(condition.sides[1])
        remedy = f"{middle} between {format_number(low)} and {format_number(high)}"
        message = f"'{condition}' can never be met, its limits are exchanged: write {remedy}"
        raise rule_error(message, column=column, suggestion=remedy)


def _pair(left: _Operand, relation: str, right: _Operand) -> Node:
    """Two operands compared."""
    if not isinstance(right, tuple):
        if not isinstance(left, tuple):
            raise rule_error("only one side may hold a function like this: bring it to one side")
        return _pair(right, _MIRRORED[relation], left)
    if isinstance(left, _Size):
        return _sized(left.side, relation, right)
    if isinstance(left, _Curve):
        return _curved(left, relation, right)
    if isinstance(left, _Among):
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
                Condition((side, minus), (_MIRRORED[relation],)),
            )
        )
    if relation == "!=":
        raise rule_error("write one rule with > and one with <")
    return Any(
        (Condition((side, right), (relation,)), Condition((side, minus), (_MIRRORED[relation],)))
    )


def _curved(curve: _Curve, relation: str, right: Side) -> Node:
    """A rising function compared with a number: the side compared with the number it stands for."""
    value = constant(right)
    if value is None:
        raise rule_error(
            f"{curve.function}(...) can be compared with a number only: add it to the data as a "
            "feature of its own"
        )
    level = (Term(_level(curve.function, value)),)
    if relation[0] == "<" and curve.function != "exp":  # there is no root or logarithm below 0
        least = "<=" if curve.function == "sqrt" else "<"
        return Condition(((Term(0.0),), curve.side, level), (least, relation))
    return Condition((curve.side, level), (relation,))


def _level(function: str, value: float) -> float:
    """The value of the side at which the function has this value."""
    if (function == "sqrt" and value < 0) or (function == "exp" and value <= 0):
        raise rule_error(
            f"{function}(...) is never {format_number(value)}: compare it with another number"
        )
    try:
        level = {
            "log2": lambda: 2.0**value,
            "log10": lambda: 10.0**value,
            "ln": lambda: math.exp(value),
            "exp": lambda: math.log(value),
            "sqrt": lambda: value * value,
        }[function]()
    except OverflowError:
        raise rule_error(f"{format_number(value)} is too large here: write a smaller one") from None
    return _tidy(level)


def _tidy(value: float) -> float:
    """10 ** -1 is 0.1."""
    short = float(f"{value:.14g}")
    return short if math.isclose(short, value, rel_tol=1e-14) else value


def _grouped(among: _Among, relation: str, right: Side) -> Node:
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


def _uncompared(cursor: Cursor, left: _Operand) -> Node:
    """A side without a sign: `Age 18-25`, `BMI 30 or more`, or a name alone."""
    word = cursor.peek()
    if not isinstance(left, tuple) or constant(left) is not None:
        raise cursor.error(
            "compare this with something, as in Glucose >= 126"
            if not cursor.is_over
            else "compare it, and end with the outcome, as in Glucose >= 126 => positive"
        )
    name = _name_of(left)
    if (name is not None and is_number(cursor)) or (word.kind == "MINUS" and is_number(cursor, 1)):
        if (node := _right_range(cursor, left, "=")) is not None and _is_settled(node):
            return node
        quoted = quote_name(name) if name else "the feature"
        raise cursor.error(f"write a sign before the number, as in {quoted} >= {word.text}", word)
    if len(left) == 1 and left[0].function == "" and left[0].coefficient == 1.0:
        _refuse_vague_name(left[0], cursor)
        return named_flag(left[0].names[0], left[0].column or 1)
    raise cursor.error(
        f"'{side_text(left)}' is not compared: write a sign and a number after it, as in "
        f"{side_text(left)} >= 2",
        None,
    )


def _is_settled(node: Node) -> bool:
    return not (isinstance(node, Condition) and node.form == "compare" and node.relations == ("=",))


def _right_range(cursor: Cursor, left: _Operand, relation: str) -> Node | None:
    """18-25, 5 ± 2, `30 or more`, `top 10 %`, a missing value: what may follow = or is."""
    word = cursor.peek()
    if word.kind == "NAME" and word.low in _MISSING and not _known(cursor, word.text):
        raise cursor.error(
            f"'{word.text}' is no value to compare with, a patient without a value meets no "
            "condition: add a column of 0 and 1 that says where the value is missing"
        )
    if relation == "=" and (top := _top(cursor)) is not None:
        return _ranked(_single(left, cursor), *top)
    start = cursor.at
    pair = _two_numbers(cursor)
    if pair is None:
        return None
    kind, low, high = pair
    if kind == "after":
        if relation != "=":
            cursor.at = start
            return None
        sign = ">=" if high else "<="
        return _pair(left, sign, (low,))
    if relation != "=":
        raise cursor.error(
            f"'{cursor.text(start)}' is a range: write = before a range, as in "
            f"a = {low}-{high}, or one number after {relation}",
            cursor.words[start],
        )
    return _between(left, low, high, cursor.words[start])


def _two_numbers(cursor: Cursor) -> tuple[str, Term, Term] | None:
    """A range of two numbers, a middle with its spread, or a number with `or more`."""
    start = cursor.at
    first = _signed(cursor)
    if first is None:
        cursor.at = start
        return None
    number, word = first, cursor.peek()
    if word.kind == "PLUSMINUS":
        cursor.take()
        spread = _signed(cursor)
        if spread is None:
            raise cursor.error("write the spread after ±, as in 5 ± 2")
        low, high = number.coefficient - spread.coefficient, number.coefficient + spread.coefficient
        unit = spread.unit or number.unit
        return "range", Term(_short(low), unit=unit), Term(_short(high), unit=unit)
    after = AFTER_NUMBER.get((word.low, cursor.peek(1).low)) if word.kind == "NAME" else None
    if after and not (cursor.is_name(2) or is_number(cursor, 2)) and cursor.phrase(1) != (after, 3):
        cursor.at += 2
        return "after", number, Term(1.0 if after == ">=" else 0.0)
    if word.kind == "PLUS" and _ends_condition(cursor, 1):
        cursor.take()
        return "after", number, Term(1.0)
    if word.kind in ("MINUS", "DOTS") or cursor.says("to"):
        cursor.take()
        second = _signed(cursor)
        if second is not None and _ends_condition(cursor, 0):
            unit = second.unit or number.unit
            return "range", replace(number, unit=unit), replace(second, unit=unit)
    cursor.at = start
    return None


def _short(value: float) -> float:
    return float(f"{value:.15g}")


def _ends_condition(cursor: Cursor, ahead: int) -> bool:
    word = cursor.peek(ahead)
    return word.kind not in ("PLUS", "MINUS", "TIMES", "DIVIDED", "NUMBER", "OPEN") and not (
        cursor.is_name(ahead) and word.low not in ("with", "plus", "as")
    )


def _signed(cursor: Cursor, *, listing: bool = False) -> Term | None:
    """A number with its sign and unit, or None."""
    minus = cursor.peek().kind == "MINUS"
    if cursor.peek().kind in ("MINUS", "PLUS"):
        if not is_number(cursor, 1):
            return None
        cursor.take()
    if not is_number(cursor):
        return None
    column = cursor.peek().column
    value = read_number(cursor, listing=listing)
    return Term(-value if minus else value, column=column, unit=read_unit(cursor))


def _between(left: _Operand, low: Term, high: Term, word: Word) -> Node:
    if isinstance(left, _Curve):
        low, high = (
            replace(each, coefficient=_level(left.function, each.coefficient))
            for each in (low, high)
        )
        left = left.side
    if not isinstance(left, tuple):
        message = "a range needs a feature or a sum: write two conditions"
        raise rule_error(message, column=word.column)
    if high.unit and not low.unit:
        low = replace(low, unit=high.unit)
    if low.coefficient > high.coefficient:
        remedy = f"{side_text(left)} between {high} and {low}"
        raise rule_error(
            f"the limits of the range are exchanged, it can never be met: write {remedy}",
            column=word.column,
            suggestion=remedy,
        )
    return Condition(((low,), left, (high,)), ("<=", "<="), "between")


def _ranged(cursor: Cursor, left: _Operand) -> Node | None:
    """between, in, from, within, outside: a range or a set after its word."""
    start = cursor.at
    turned = bool(cursor.accept("NOTIN")) or cursor.accept_words("not") or _outside(cursor)
    opened = cursor.peek()
    if turned and cursor.words[cursor.at - 1].kind == "NOTIN":
        node = _set_or_range(cursor, left, opened)
    elif turned and cursor.words[cursor.at - 1].low in ("outside", "beyond"):
        cursor.accept_words("of")
        node = _range_of(cursor, left, opened)
    elif (
        cursor.accept_words("between")
        or cursor.accept_words("from")
        or cursor.accept_words("within")
    ):
        node = _range_of(cursor, left, opened)
    elif cursor.accept("IN") or cursor.accept_words("in") or cursor.accept_words("one", "of"):
        node = _set_or_range(cursor, left, opened)
    else:
        cursor.at = start
        return None
    return negated(node) if turned else node


def _outside(cursor: Cursor) -> bool:
    return cursor.accept_words("outside")


def _range_of(cursor: Cursor, left: _Operand, opened: Word) -> Node:
    for words in (("the", "range"), ("range",), ("the", "interval"), ("of",)):
        if cursor.accept_words(*words):
            break
    bracket = cursor.accept("OPEN")
    if bracket is not None:
        return _interval(cursor, left, bracket)
    low = _signed(cursor)
    if low is None:
        raise cursor.error("write the range as: a between 1 and 3")
    joined = (
        cursor.accept_words("and")
        or cursor.accept_words("to")
        or cursor.accept("AND", "MINUS", "DOTS", "COMMA")
    )
    high = _signed(cursor) if joined else None
    if high is None:
        raise cursor.error("write the range as: a between 1 and 3")
    return _between(left, low, high, opened)


def _interval(cursor: Cursor, left: _Operand, bracket: Word) -> Node:
    """[1, 5], [1, 5) or (1, 5]."""
    low = _signed(cursor, listing=True)
    comma = cursor.accept("COMMA", "SEMICOLON", "DOTS", "MINUS") or cursor.accept_words("to")
    high = _signed(cursor, listing=True) if comma else None
    closing = cursor.accept("CLOSE")
    if low is None or high is None or closing is None:
        raise cursor.error("write the range as: a in [1, 3], or a between 1 and 3")
    node = _between(left, low, high, bracket)
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


def _set_or_range(cursor: Cursor, left: _Operand, opened: Word) -> Node:
    cursor.accept_words("the")
    if (top := _top(cursor)) is not None:
        return _ranked(_single(left, cursor), *top)
    bracket = cursor.peek()
    if bracket.kind != "OPEN":
        return _range_of(cursor, left, opened)
    numbers = is_number(cursor, 1) or (cursor.peek(1).kind in ("MINUS", "PLUS"))
    if numbers and bracket.text in "[(" and _count_commas(cursor) == 1:
        cursor.take()
        return _interval(cursor, left, bracket)
    return _member(cursor, left)


def _count_commas(cursor: Cursor) -> int:
    count, at = 0, cursor.at
    while at < len(cursor.words) and cursor.words[at].kind != "CLOSE":
        count += cursor.words[at].kind in ("COMMA", "SEMICOLON", "DOTS") or (
            cursor.words[at].low == "to"
        )
        at += 1
    return count


def _member(cursor: Cursor, left: _Operand) -> Node:
    """stage in {II, III}."""
    name = _name_of(left)
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
    return Condition(
        ((Term(1.0, (name,), column=opening.column),), (Term(1.0, unique, SET),)), ("=",), "member"
    )


def _top(cursor: Cursor) -> tuple[bool, float] | None:
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


def _single(operand: _Operand, cursor: Cursor) -> Term:
    name = _name_of(operand)
    if name is None or not isinstance(operand, tuple):
        raise cursor.error(
            "name one feature for its top or bottom share, as in top 10 % of Glucose"
        )
    return operand[0]


def _ranked(term: Term, top: bool, share: float) -> Condition:
    level = format_number(round(100 - share if top else share, 6))
    border = Term(1.0, term.names, f"p{level}", term.column)
    return Condition(((term,), (border,)), (">=" if top else "<=",))


def _known(cursor: Cursor, name: str) -> bool:
    return cursor.vocabulary is not None and cursor.vocabulary.is_name(name)


def _refuse_vague(cursor: Cursor, left: _Operand | None = None) -> None:
    """`high CRP`, `CRP is elevated`: how high is not said."""
    word = cursor.peek()
    if word.kind != "NAME" or word.low not in _VAGUE or _known(cursor, word.text):
        return
    if left is None and not cursor.is_name(1):
        return
    name = _name_of(left) if left is not None else None
    if name is None and cursor.is_name(1) and cursor.peek(1).kind != "STRING":
        name = plain_text(cursor.peek(1).text)
    raise _vague(word.text, name or "x", word.column)


def _refuse_vague_name(term: Term, cursor: Cursor) -> None:
    """`ABL1 overexpressed`, read as a name of two words."""
    name = str(term.names[0])
    first, _, last = name.rpartition(" ")
    if first and last.lower() in _VAGUE and not _known(cursor, name):
        raise _vague(last, first, term.column or 1)
    after = cursor.peek()
    if after.kind == "NAME" and after.low in _VAGUE:
        raise _vague(after.text, name, after.column)


def _vague(word: str, name: str, column: int) -> RuleError:
    low = word.lower() in _HIGH
    quoted = quote_name(name)
    remedy = f"{quoted} <= p25({quoted})" if low else f"{quoted} >= p75({quoted})"
    share = "lowest" if low else "highest"
    return rule_error(
        f"how much '{word}' is is not said: write a number, as in {quoted} {'<=' if low else '>='} "
        f"2, or {remedy} for the {share} quarter of the training rows",
        column=column,
        suggestion=remedy,
    )
