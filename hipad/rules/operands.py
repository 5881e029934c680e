"""Operands of a comparison, and what a comparison of two of them means as conditions on sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.ast import MIRRORED, RATIO, All, Any, Condition, Name, Node, Side, Term
from hipad.rules.expressions import (
    CURVES,
    GROUPS,
    constant,
    plain_text,
    read_group,
    read_side,
    times,
)
from hipad.rules.functions import RULE_FUNCTIONS
from hipad.rules.lexer import (
    RELATION_KINDS,
    VAGUE,
    TokenStream,
    format_number,
    is_number,
    quote_name,
    read_number,
    rule_error,
    spoken,
)

# --------------------------------------------------------------------------------------------------
# What may stand on one side of a comparison: a sum, a size |a|, a curve log2(a), or any(K1).


@dataclass(frozen=True)
class AbsoluteValue:
    """|side|: its size without the sign."""

    side: Side


@dataclass(frozen=True)
class MonotoneFunction:
    """A function that rises with its side: log2(a)."""

    function: str
    side: Side


@dataclass(frozen=True)
class AnyOfGroup:
    """any(K1) or all(K1): some or every feature of a group."""

    word: str
    names: tuple[Name, ...]
    column: int


Operand = Side | AbsoluteValue | MonotoneFunction | AnyOfGroup


def read_operand(tokens: TokenStream) -> Operand:
    """Return what stands on one side of a sign: a sum, |a|, abs(a), log2(a), or any(a, b)."""
    word, after = tokens.peek(), tokens.peek(1)
    if word.kind == "BAR":
        tokens.take()
        side = read_side(tokens)
        if tokens.accept("BAR") is None:
            raise tokens.error("close |...| with a second '|', as in |a| <= 2")
        return AbsoluteValue(side)
    if word.kind == "NAME" and after.kind == "OPEN" and after.text == "(":
        if word.low == "abs" or word.low in CURVES:
            tokens.at += 2
            side = read_side(tokens)
            if tokens.accept("CLOSE") is None:
                raise tokens.error("close the bracket with ')'")
            if tokens.peek().kind in ("PLUS", "MINUS", "TIMES", "DIVIDED"):
                raise tokens.error(
                    f"{word.text}(...) must stand alone on its side: compare it with a number, or "
                    "add what you mean to the data as a feature of its own"
                )
            return AbsoluteValue(side) if word.low == "abs" else MonotoneFunction(word.low, side)
        if word.low in GROUPS:
            tokens.take()
            names, number = read_group(tokens)
            if number is not None:
                raise tokens.error("name features or blocks between the brackets", word)
            return AnyOfGroup(GROUPS[word.low], tuple(names), word.column)
    if word.kind in ("NAME", "QUOTED") and after.kind == "POWER" and (n := _square(tokens)):
        side = (Term(1.0, (plain_text(word.text),), column=word.column),)
        tokens.at += n
        return MonotoneFunction("square", side)
    side = read_side(tokens)
    if side[0].function == RATIO:
        tokens.accept_words("ratio")
    return side


def _square(tokens: TokenStream) -> int:
    """Return how many words a feature, squared and compared, takes; 0 if something else comes."""
    n = 2 if tokens.peek(1).text == "²" else 3
    squared = n == 2 or (tokens.peek(1).text in ("^", "**") and tokens.peek(2).text == "2")
    compared = tokens.peek(n).kind in RELATION_KINDS or tokens.phrase(n) is not None
    return n if squared and compared else 0


def lone_feature(operand: Operand) -> str | None:
    """Return the name of an operand that is one feature and nothing else; None for any other."""
    if isinstance(operand, tuple) and len(operand) == 1:
        term = operand[0]
        if len(term.names) == 1 and not term.function and isinstance(term.names[0], str):
            return term.names[0]
    return None


def one_feature(operand: Operand, tokens: TokenStream) -> Term:
    """Return the term of an operand that is one feature; RuleError for any other."""
    name = lone_feature(operand)
    if name is None or not isinstance(operand, tuple):
        raise tokens.error(
            "name one feature for its top or bottom share, as in top 10 % of Glucose"
        )
    return operand[0]


# --------------------------------------------------------------------------------------------------
# Two operands compared, as conditions on sums.
#
# A size without sign becomes two rows or two rules, a curve is turned back to its side, and any and
# all become the largest and the smallest.


def compare(left: Operand, relation: str, right: Operand) -> Node:
    """Return the condition that compares two operands."""
    if not isinstance(right, tuple):
        if not isinstance(left, tuple):
            raise rule_error("only one side may hold a function like this: bring it to one side")
        return compare(right, MIRRORED[relation], left)
    if isinstance(left, AbsoluteValue):
        return _sized(left.side, relation, right)
    if isinstance(left, MonotoneFunction):
        return _curved(left, relation, right)
    if isinstance(left, AnyOfGroup):
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


def _curved(curve: MonotoneFunction, relation: str, right: Side) -> Node:
    """Return a rising function compared with a number: the side compared with the number it stands
    for.
    """
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
    """Return the value of the side at which the function has this value."""
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


def _grouped(among: AnyOfGroup, relation: str, right: Side) -> Node:
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


# --------------------------------------------------------------------------------------------------
# Names that stand alone as a condition: `smoker`.


def flag_name(node: Node, *, spans: bool = False) -> Name | None:
    """Return the name that stands alone as a condition, not turned round; else None."""
    if not isinstance(node, Condition) or node.form != "flag" or not node.sides[1][0].coefficient:
        return None
    name = node.sides[0][0].names[0]
    return name if spans or isinstance(name, str) else None


def named_flag(name: Name, column: int) -> Condition:
    """Return a name that stands alone: `smoker`."""
    function = "" if isinstance(name, str) else "min"
    term = Term(1.0, (name,), function, column)
    return Condition(((term,), (Term(1.0),)), ("=",), "flag")


def with_relation(node: Node, like: Condition) -> Node:
    """Return a name that stands alone, compared as another one is."""
    name = flag_name(node)
    assert name is not None
    return replace(like, sides=((Term(1.0, (name,)),), *like.sides[1:]), written=None)


# --------------------------------------------------------------------------------------------------
# Words that do not say how much, such as high and elevated: refused with what to write.


_LOW: Final = frozenset(spoken("low decreased reduced underexpressed downregulated small young"))


def is_known(tokens: TokenStream, name: str) -> bool:
    """Return whether the data are known and have a feature or block of this name."""
    return tokens.vocabulary is not None and tokens.vocabulary.is_name(name)


def refuse_vague(tokens: TokenStream, left: Operand | None = None) -> None:
    """`high CRP`, `CRP is elevated`: how high is not said."""
    word = tokens.peek()
    if word.kind != "NAME" or word.low not in VAGUE or is_known(tokens, word.text):
        return
    if left is None and not tokens.is_name(1):
        return
    name = lone_feature(left) if left is not None else None
    if name is None and tokens.is_name(1) and tokens.peek(1).kind != "STRING":
        name = plain_text(tokens.peek(1).text)
    raise _vague(word.text, name or "x", word.column)


def refuse_vague_name(term: Term, tokens: TokenStream) -> None:
    """`ABL1 overexpressed`, read as a name of two words."""
    name = str(term.names[0])
    first, _, last = name.rpartition(" ")
    if first and last.lower() in VAGUE and not is_known(tokens, name):
        raise _vague(last, first, term.column or 1)
    after = tokens.peek()
    if after.kind == "NAME" and after.low in VAGUE:
        raise _vague(after.text, name, after.column)


def _vague(word: str, name: str, column: int) -> RuleError:
    quoted = quote_name(name)
    if word.lower() in ("normal", "abnormal"):
        where = "outside" if word.lower() == "abnormal" else "between"
        return rule_error(
            f"what is normal is not said: write its range, as in {quoted} {where} 2 and 4",
            column=column,
        )
    low = word.lower() in _LOW
    remedy = f"{quoted} <= p25({quoted})" if low else f"{quoted} >= p75({quoted})"
    share = "lowest" if low else "highest"
    return rule_error(
        f"how much '{word}' is is not said: write a number, as in {quoted} {'<=' if low else '>='} "
        f"2, or {remedy} for the {share} quarter of the training rows",
        column=column,
        suggestion=remedy,
    )


# --------------------------------------------------------------------------------------------------
# Numbers of standard deviations: `x > 2 sd`, `1.5 SDs above the mean`, `within 2 sd of it`.


_SD: Final = frozenset(spoken("sd sds std stds stdev stdevs stddev stddevs sigma sigmas"))
_MIDDLES: Final = {
    word: name for name in ("mean", "median") for word in (name, *RULE_FUNCTIONS[name].synonyms)
}
_SIDES: Final = {"above": 1.0, "over": 1.0, "below": -1.0, "under": -1.0}


def read_deviations(tokens: TokenStream, left: Operand, relation: str) -> Side | None:
    """Return the mean and so many deviations of the compared feature; None if something else comes.

    `x > 2 sd` is meant from the mean on. Which of the two borders is meant below the mean, and on
    which side of it (`more than 2 sd below the mean`), is asked.
    """
    name, start = lone_feature(left), tokens.at
    known = name is not None and tokens.vocabulary is not None  # a feature may be called sd
    number = _number_of_sd(tokens) if known else None
    if name is None or number is None:
        tokens.at = start
        return None
    side, middle = 1.0, "mean"
    if tokens.peek().low in _SIDES and (found := _middle(tokens, 1)) is not None:
        side = _SIDES[tokens.peek().low]
        middle, tokens.at = found
        if side < 0:
            raise _which_border(tokens, start, name, "<" + relation[1:], ">" + relation[1:], number)
    elif not _ends(tokens):
        tokens.at = start
        return None
    elif relation[0] == "<" and number > 0:
        raise _which_border(tokens, start, name, relation, relation, number)
    column = tokens.words[start].column
    return (
        Term(1.0, (name,), middle, column),
        Term(side * number, (name,), "sd", column),
    )


def _which_border(
    tokens: TokenStream, start: int, name: str, low: str, other: str, number: float
) -> RuleError:
    """Return the error for deviations of which it is not said where they are counted."""
    quoted, size = quote_name(name), format_number(abs(number))
    ways = [f"{quoted} {low} mean({quoted}) - {size}*sd({quoted})"]
    ways.append(
        f"{quoted} {other} mean({quoted}) {'+' if low == other else '-'} {size}*sd({quoted})"
    )
    return tokens.error(
        f"'{tokens.text(start)}' can be read in two ways: write {' or '.join(ways)}",
        tokens.words[start],
        remedy=ways[0],
    )


def read_within(tokens: TokenStream, left: Operand) -> Condition | None:
    """`within 2 sd of the mean`, after its first word; None if something else comes."""
    name, start = lone_feature(left), tokens.at
    number = _number_of_sd(tokens) if name is not None else None
    if name is None or number is None or not isinstance(left, tuple):
        tokens.at = start
        return None
    middle = "mean"
    if (found := _middle(tokens, 1)) is not None and tokens.peek().low in ("of", "from", "around"):
        middle, tokens.at = found
    centre = Term(1.0, (name,), middle, tokens.words[start].column)
    low, high = ((centre, Term(sign * number, (name,), "sd")) for sign in (-1.0, 1.0))
    return Condition((low, left, high), ("<=", "<="))


def _number_of_sd(tokens: TokenStream) -> float | None:
    """Return the number before sd, with its sign."""
    minus = tokens.peek().kind == "MINUS"
    if tokens.peek().kind in ("MINUS", "PLUS"):
        tokens.take()
    known = tokens.vocabulary
    if not is_number(tokens) or tokens.peek().kind == "FEET":
        return None
    value = read_number(tokens)
    if tokens.peek().kind == "TIMES":
        tokens.take()
    if tokens.matches("standard") and tokens.peek(1).low in ("deviation", "deviations"):
        tokens.at += 2
    elif tokens.peek().low in _SD and not (known and known.is_name(tokens.peek().text)):
        tokens.take()
    else:
        return None
    return -value if minus else value


def _middle(tokens: TokenStream, ahead: int) -> tuple[str, int] | None:
    """Return the middle that is named so many words ahead, and the place after it."""
    ahead += tokens.peek(ahead).low in ("the", "its", "their")
    middle = _MIDDLES.get(tokens.peek(ahead).low)
    is_call = tokens.peek(ahead + 1).kind == "OPEN" or tokens.matches("of", ahead=ahead + 1)
    return None if middle is None or is_call else (middle, tokens.at + ahead + 1)


def _ends(tokens: TokenStream) -> bool:
    """Return whether nothing follows that belongs to the number."""
    return tokens.peek().kind not in (
        "OPEN",
        "PLUS",
        "MINUS",
        "TIMES",
        "DIVIDED",
        "NUMBER",
        "NAME",
    ) or (tokens.peek().low in ("and", "or", "unless", "but", "then", "worth", "with", "plus"))
