"""The sides of a condition: sums of numbers times features, read as they are written.

A side is linear, or a ratio over one feature. What is neither is refused with what to write.
"""

from __future__ import annotations

from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.sides.arithmetic import constant, in_range, ratio_of, times
from hipad.rules.language.sides.feature_terms import read_feature
from hipad.rules.language.sides.spelled_names import (
    NO_NAME,
    bracketed_name,
    names_follow,
    plain_text,
    skip_links,
)
from hipad.rules.language.spelling import RESERVED, rule_error, spoken
from hipad.rules.language.terms import Side, Term
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.quantities import is_number, read_quantity

_AFTER_NAME: Final = frozenset(spoken("PLUS MINUS TIMES DIVIDED GE LE GT LT EQ NE"))
_NO_FACTOR: Final = NO_NAME | frozenset(
    spoken("to as except excluding while whilst whereas without if when plus minus for during per")
)
_FACTORS: Final = {"twice": 2.0, "double": 2.0, "half": 0.5, "thrice": 3.0}


def read_side(cursor: Cursor) -> Side:
    """A sum: products with + and - between them."""
    terms = list(read_product(cursor))
    while (sign := cursor.peek()).kind in ("PLUS", "MINUS") or _says_sign(cursor, terms):
        cursor.take()
        product = read_product(cursor)
        minus = sign.kind == "MINUS" or sign.low == "minus"
        terms += times(product, -1.0) if minus else product
    if cursor.peek().kind == "PLUSMINUS":
        raise cursor.error("write the range as: a between 3 and 7, or a = 5 ± 2")
    if len(terms) > 1 and any(term.unit for term in terms):
        _check_units(terms, cursor)
    return tuple(terms)


def _says_sign(cursor: Cursor, terms: list[Term]) -> bool:
    """Whether plus or minus comes next and adds: before a number, or among the features that are
    compared.
    """
    known, word = cursor.vocabulary, cursor.peek()
    if known is None or word.low not in ("plus", "minus") or known.is_name(word.text):
        return False
    if is_number(cursor, 1):
        return not cursor.is_name(2) and cursor.own is not None
    name = plain_text(cursor.peek(1).text)
    numbers = [t for t in terms if t.names and not known.is_flag(str(t.names[0]))]
    return cursor.own is None and len(numbers) == len(terms) and not known.is_flag(name)


def _check_units(terms: list[Term], cursor: Cursor) -> None:
    if any(term.unit == "%" for term in terms):
        raise cursor.error(
            "write the number without '%' in a sum, in the units of the data", cursor.words[0]
        )


def read_product(cursor: Cursor) -> Side:
    """Factors, of which at most one names features, with the signs between them."""
    side = _factor(cursor)
    number, many = 1.0, False
    while (sign := cursor.peek()).kind in ("TIMES", "DIVIDED") or cursor.says("times"):
        cursor.take()
        factor = _factor(cursor)
        value = constant(factor)
        many = True
        if value is not None and any(term.unit for term in factor):
            raise rule_error(
                "write the number without a unit where it multiplies or divides, in the units of "
                "the data",
                column=factor[0].column or sign.column,
            )
        if sign.kind == "DIVIDED":
            if value is None:
                side = ratio_of(side, factor, sign)
            elif value == 0:
                raise rule_error(
                    "a division by zero has no value: divide by another number",
                    column=sign.column,
                )
            else:
                number = in_range(number / value, sign)
        elif value is not None:
            number = in_range(number * value, sign)
        else:
            before = constant(side)
            if before is None:
                raise rule_error(
                    "a product of features is not linear: multiply a feature by a number, or add "
                    "the product to the data as a feature of its own",
                    column=sign.column,
                )
            number, side = in_range(number * before, sign), factor
    if not many:
        return side
    try:
        return times(side, number)
    except RuleError as error:
        raise rule_error(str(error), column=sign.column) from None


def _factor(cursor: Cursor) -> Side:
    word = cursor.peek()
    usual = word.kind == "NAME" and cursor.peek(1).kind in _AFTER_NAME and cursor.own is None
    if usual and word.low not in RESERVED:
        cursor.at += 1
        return (Term(1.0, (word.text,), column=word.column),)
    minus = False
    while (sign := cursor.peek()).kind in ("PLUS", "MINUS"):
        cursor.take()
        minus ^= sign.kind == "MINUS"
    side = _plain_factor(cursor)
    if cursor.peek().kind == "POWER":
        raise cursor.error(
            "a power is not linear: add it to the data as a feature of its own, or write abs(a) "
            "for a comparison of a square"
        )
    return times(side, -1.0) if minus else side


def _plain_factor(cursor: Cursor) -> Side:
    cursor.deeper()
    side = _one_factor(cursor)
    cursor.depth -= 1
    return side


def _one_factor(cursor: Cursor) -> Side:
    word = cursor.peek()
    if is_number(cursor):
        return _quantity(cursor)
    if word.kind == "NAME" and word.low in _FACTORS and names_follow(cursor, 1):
        cursor.take()
        skip_links(cursor)
        return times(_plain_factor(cursor), _FACTORS[word.low])
    if word.kind == "OPEN":
        return _bracket(cursor)
    if word.kind == "BAR":
        raise cursor.error("write |...| alone on its side, as in |a - b| <= 2")
    if word.kind == "NAME" and word.low == "the" and names_follow(cursor, 1):
        cursor.take()
    if cursor.is_name():
        return read_feature(cursor)
    raise cursor.error(_nothing_here(cursor))


def _nothing_here(cursor: Cursor) -> str:
    word = cursor.peek()
    if cursor.is_over:
        return (
            "the condition has no end: write a feature, a sign and a number, as in Glucose >= 126"
        )
    if word.kind in ("COMMA", "SEMICOLON", "AND", "OR") or word.low in RESERVED:
        return f"write a feature or a number before '{word.text}', as in Glucose >= 126"
    return (
        f"'{word.text}' does not belong here: write a feature or a number, names with signs "
        "between backticks, as in `p-36=t`"
    )


def _quantity(cursor: Cursor) -> Side:
    """A number with its unit, or times the feature that follows it."""
    first = cursor.peek()
    (value, unit), *more = read_quantity(cursor)
    if cursor.peek().kind == "PERCENT" and cursor.says("of", ahead=1):
        cursor.at += 2
        skip_links(cursor)
        return times(_plain_factor(cursor), value / 100)
    if unit:
        parts = [(value, unit), *more]
        return tuple(Term(each, column=first.column, unit=of) for each, of in parts)
    spoken_times = cursor.says("x") and cursor.is_name(1) and not _is_known(cursor, "x")
    if cursor.accept_words("times") or (spoken_times and cursor.accept_words("x")):
        skip_links(cursor)
        return times(_plain_factor(cursor), value)
    word = cursor.peek()
    opens = word.kind == "OPEN" and word.text == "("
    opens = opens and cursor.peek(1).low not in ("unless", "except")
    if opens or (cursor.is_name() and _is_factor(cursor)):
        if word.start > cursor.words[cursor.at - 1].end:
            cursor.implied = word
        return times(_plain_factor(cursor), value)
    return (Term(value, column=first.column),)


def _is_known(cursor: Cursor, name: str) -> bool:
    return cursor.vocabulary is not None and cursor.vocabulary.is_name(name)


def _is_factor(cursor: Cursor) -> bool:
    """Whether the name after a number is a feature to multiply, not a word of the sentence."""
    word = cursor.peek()
    if word.kind == "STRING":
        return False
    spoken = word.kind == "NAME" and (
        word.low in _NO_FACTOR or cursor.phrase() is not None or cursor.says("together", "with")
    )
    return not spoken


def _bracket(cursor: Cursor) -> Side:
    opening = cursor.take()
    if opening.text == "[" and (name := bracketed_name(cursor, opening)) is not None:
        return (Term(1.0, (name,), column=opening.column),)
    if opening.text == "{":
        raise cursor.error("write round brackets around a sum, as in 2*(a + b)", opening)
    side = read_side(cursor)
    if cursor.accept("CLOSE") is None:
        raise cursor.error(
            "close the bracket with ')' before this, or write 'and' or a sign between the parts"
        )
    return side
