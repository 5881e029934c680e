"""Expressions: sums of numbers times features or functions, and the operands of a comparison."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, replace
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.ast import (
    MIRRORED,
    RATIO,
    All,
    Any,
    Condition,
    FeatureSpan,
    Name,
    Node,
    Side,
    Term,
)
from hipad.rules.functions import (
    GROUP_FUNCTIONS,
    QUANTILES,
    RULE_FUNCTIONS,
    SYNONYMS,
    find_function,
    is_function,
    is_learnt,
)
from hipad.rules.lexer import (
    LARGEST,
    RELATION_KINDS,
    RESERVED,
    VAGUE,
    Token,
    TokenStream,
    format_number,
    is_number,
    quote_name,
    read_number,
    read_quantity,
    read_quoted,
    rule_error,
    spoken,
)
from hipad.rules.units import unit_at
from hipad.utils import listed

# --------------------------------------------------------------------------------------------------
# Arithmetic with sides that were read: their value, a multiple of them, one over another.


def constant(side: Side) -> float | None:
    """Return the value of a side that names no feature, else None."""
    return sum(t.coefficient for t in side) if all(t.is_number for t in side) else None


def times(side: Side, factor: float) -> Side:
    """Return the side with every coefficient multiplied."""
    return tuple(Term(t.coefficient * factor, t.names, t.function, t.column, t.unit) for t in side)


def in_range(value: float, sign: Token) -> float:
    """Return the value, if a rule can hold it: 0, or neither too large nor too small."""
    if value and not 1 / LARGEST <= abs(value) <= LARGEST:
        raise rule_error(
            f"a number in a rule must be 0 or between {1 / LARGEST:g} and {LARGEST:g} in size, "
            f"got {value:g}: write it in another unit",
            column=sign.column,
        )
    return value


def ratio_of(side: Side, divisor: Side, sign: Token) -> Side:
    """Return each term of a side over one feature; RuleError for anything else."""
    plain = all(t.names and not t.function for t in side)
    below = divisor[0]
    if plain and len(divisor) == 1 and not below.function and below.coefficient:
        over = below.names[0]
        return tuple(
            Term(t.coefficient / below.coefficient, (t.names[0], over), RATIO, t.column)
            for t in side
        )
    raise rule_error(
        "only features over one feature can be read as a ratio: multiply the condition out where "
        "what stands below is above 0, as in a >= 2*(b + c) in place of a/(b + c) >= 2, or add the "
        "ratio to the data as a feature of its own",
        column=sign.column,
    )


# --------------------------------------------------------------------------------------------------
# Names of features as they stand in a line: alone, of several words, quoted or in brackets.


_LINKS: Final = ("of", "the", "than", "as")
NO_NAME: Final = frozenset({"worth", "patients"})
_STOPS: Final = NO_NAME | frozenset(
    spoken("from to of times lies ranges exactly than with as top ratio")
)


def plain_text(text: str) -> str:
    """Return a name without the marks that it stands in."""
    if len(text) > 2 and text[0] in "`\"'" and text[-1] == text[0]:
        return read_quoted(text)
    if len(text) > 2 and text[0] + text[-1] in ("“”", "«»", "„“", "„”", "‘’"):
        return text[1:-1].strip()
    return text


def read_name(tokens: TokenStream) -> str:
    """Return the name that comes next, of several words where these stand together."""
    first = tokens.peek()
    if first.kind in ("QUOTED", "STRING"):
        name = plain_text(tokens.take().text)
        if not name.strip():
            raise tokens.error("the name is empty: write it between backticks", first)
        return name
    count = 1
    while tokens.is_name(count) and tokens.peek(count).kind == "NAME":
        if tokens.phrase(count) is not None or tokens.peek(count).low in _STOPS:
            break
        count += 1
    if tokens.vocabulary is not None:
        count = _known_words(tokens, count)
    name = " ".join(word.text for word in tokens.words[tokens.at : tokens.at + count])
    tokens.at += count
    return name


def _known_words(tokens: TokenStream, count: int) -> int:
    """Return how many of the words make the longest known name; all of them if none does."""
    assert tokens.vocabulary is not None
    words = [word.text for word in tokens.words[tokens.at : tokens.at + count]]
    for n in range(min(count, 8), 0, -1):
        if tokens.vocabulary.is_name(" ".join(words[:n])):
            return n
    return count


def bracketed_name(tokens: TokenStream, opening: Token) -> str | None:
    """Return the name between square brackets, as [blood pressure]."""
    closing = next(
        (k for k in range(tokens.at, len(tokens.words)) if tokens.words[k].kind == "CLOSE"), None
    )
    if closing is None or not all(
        word.kind in ("NAME", "QUOTED", "STRING", "NUMBER", "MINUS")
        for word in tokens.words[tokens.at : closing]
    ):
        return None
    inside = tokens.line[opening.end : tokens.words[closing].start].strip()
    tokens.at = closing + 1
    return plain_text(inside) if inside else None


def names_follow(tokens: TokenStream, ahead: int) -> bool:
    """Return whether a name, or a bracket, stands so many words ahead."""
    word = tokens.peek(ahead)
    return tokens.is_name(ahead) or (word.kind == "OPEN" and word.text == "(")


def skip_links(tokens: TokenStream) -> None:
    """Step over small words before a name, as of and the."""
    while tokens.peek().kind == "NAME" and tokens.peek().low in _LINKS and names_follow(tokens, 1):
        tokens.take()


# --------------------------------------------------------------------------------------------------
# Functions of features: `mean(K1)`, `p90(x)`, and the groups between their brackets.
#
# A new function is an entry of the table in `functions.py`.


CURVES: Final = ("log2", "log10", "ln", "exp", "sqrt")
GROUPS: Final = {"any": "any", "all": "all", "each": "all", "every": "all", "none": "none"}


def read_call(tokens: TokenStream) -> Term:
    """Return a function and what stands between its brackets, as mean(K1)."""
    word = tokens.take()
    names, number = read_group(tokens)
    return function_of(word, names, number)


def function_of(word: Token, names: list[Name], number: float | None) -> Term:
    """Return the term of a function of these names; `number` is the share of a quantile."""
    function = SYNONYMS.get(word.low, word.low)
    if function in QUANTILES:
        return _quantile(word, names, number)
    if number is not None:
        raise rule_error(
            f"name features or blocks between the brackets, as in {function}(K1)",
            column=word.column,
        )
    if is_learnt(function) and (len(names) != 1 or not isinstance(names[0], str)):
        raise rule_error(
            f"{word.text}(...) is taken of one feature over the training rows, got several: "
            f"write mean(...) of these features, or {word.text} of one",
            column=word.column,
        )
    return Term(1.0, tuple(names), function, word.column)


def _quantile(word: Token, names: list[Name], number: float | None) -> Term:
    share = None if number is None else number * QUANTILES[word.low]
    if share is None or not 0 <= share <= 100 or len(names) != 1 or not isinstance(names[0], str):
        raise rule_error("write the percentile as p90(x), of one feature", column=word.column)
    return Term(1.0, (names[0],), f"p{format_number(round(share, 6))}", word.column)


def read_group(tokens: TokenStream) -> tuple[list[Name], float | None]:
    """Return names and ranges of names between round brackets, and a number among them."""
    opening = tokens.take()
    names: list[Name] = []
    number: float | None = None
    while True:
        if is_number(tokens) and names:
            number = read_number(tokens, listing=True) / (100 if tokens.accept("PERCENT") else 1)
        else:
            names.append(read_item(tokens))
        if tokens.accept("CLOSE"):
            return names, number
        if tokens.accept("COMMA", "SEMICOLON") is None:
            raise _wrong_group(tokens, opening, names)


def read_item(tokens: TokenStream) -> Name:
    """Return one name between brackets, or a range of columns, as g1:g4."""
    if not tokens.is_name():
        raise tokens.error(
            "name features or blocks between the brackets, as in mean(K1) or mean(a, b)"
        )
    first = read_name(tokens)
    if tokens.peek().kind in ("COLON", "DOTS") or tokens.matches("to"):
        tokens.take()
        if not tokens.is_name():
            raise tokens.error("write the last feature of the range, as in g1:g4")
        return FeatureSpan(first, read_name(tokens))
    return first


def _wrong_group(tokens: TokenStream, opening: Token, names: list[Name]) -> RuleError:
    word = tokens.peek()
    if word.kind in ("PLUS", "MINUS", "TIMES", "DIVIDED"):
        return tokens.error(
            "a function takes names, not sums: write mean(a, b) for the mean of two features, or "
            "the sum outside the function"
        )
    shown = listed([quote_name(n) if isinstance(n, str) else str(n) for n in names], limit=3)
    if tokens.relation():
        return tokens.error(
            "compare outside the brackets, as in mean(K1) >= 2: close the bracket with ')' before "
            "you compare"
        )
    return tokens.error(
        f"write ',' between the names after {shown}, and put odd names between backticks"
    )


def unknown_function(word: Token) -> RuleError:
    """Return what is said of a name before a bracket that is no function, with what to write."""
    name = plain_text(word.text)
    if name.lower() in ("log", "log1p", "lg"):
        return rule_error(
            f"which logarithm {name} means is not known: write ln(x), log2(x) or log10(x)",
            column=word.column,
        )
    if name.lower() in (*CURVES, "abs", *GROUPS):
        return rule_error(
            f"{name}(...) must stand alone on its side: write {name}(a) >= 2, or add {name} of the "
            "feature to the data as a feature of its own",
            column=word.column,
        )
    if name.lower() in ("var", "variance", "square", "pow", "product", "prod"):
        return rule_error(
            f"{name}(...) is not linear: add it to the data as a feature of its own",
            column=word.column,
            expected=GROUP_FUNCTIONS,
        )
    near = difflib.get_close_matches(name.lower(), [*GROUP_FUNCTIONS, *SYNONYMS], 1)
    better = SYNONYMS.get(near[0], near[0]) if near else "mean"
    return rule_error(
        f"'{name}' is not a function here: write {better}(...), the functions are "
        f"{listed(GROUP_FUNCTIONS)}, or write '*' to multiply",
        column=word.column,
        expected=GROUP_FUNCTIONS,
        suggestion=better,
    )


# --------------------------------------------------------------------------------------------------
# What a name stands for on a side: a feature, a function of features, or a ratio in words.


def read_feature(tokens: TokenStream) -> Side:
    """Return a feature, or a function of features."""
    word, after = tokens.peek(), tokens.peek(1)
    if word.kind in ("NAME", "QUOTED") and after.kind == "OPEN" and after.text in "([":
        if word.kind == "NAME" and after.text == "(" and is_function(word.low):
            return (read_call(tokens),)
        if unit_at(tokens.line, after.end) and tokens.peek(2).kind in ("NAME", "PERCENT", "DEGREE"):
            return _with_unit_in_brackets(tokens)
        raise unknown_function(word)
    if word.kind == "NAME" and is_function(word.low) and tokens.matches("of", ahead=1):
        function, _ = tokens.take(), tokens.take()
        skip_links(tokens)
        if not tokens.is_name():
            raise tokens.error(f"name a feature or block, as in {word.low}(K1)")
        return (function_of(function, _names_after(tokens), None),)
    if _is_called(tokens):
        return (function_of(tokens.take(), [read_name(tokens)], None),)
    if word.kind == "NAME" and word.low == "ratio" and tokens.matches("of", ahead=1):
        return _spoken_ratio(tokens)
    if (own := _own_figure(tokens)) is not None:
        return (own,)
    name = read_name(tokens)
    return (Term(1.0, (name,), column=word.column),)


def _names_after(tokens: TokenStream) -> list[Name]:
    """Return the names after `mean of`: several where all that comes before the sign is names."""
    names: list[Name] = [read_name(tokens)]
    at = tokens.at
    while tokens.accept("COMMA") or tokens.matches("and"):
        tokens.accept_words("and")
        if not tokens.is_name():
            break
        names.append(read_name(tokens))
    if len(names) > 1 and tokens.relation() is not None and tokens.vocabulary is not None:
        return names
    tokens.at = at
    return names[:1]


def _is_called(tokens: TokenStream) -> bool:
    """Return whether a function stands before a block or a feature without brackets: mean IFN."""
    known, word, after = tokens.vocabulary, tokens.peek(), tokens.peek(1)
    if known is None or word.kind != "NAME" or after.kind not in ("NAME", "QUOTED"):
        return False
    if SYNONYMS.get(word.low, word.low) not in GROUP_FUNCTIONS or known.is_name(word.text):
        return False
    name = plain_text(after.text)
    return bool(known.members(name)) and not known.is_name(f"{word.text} {name}")


def _spoken_ratio(tokens: TokenStream) -> Side:
    """Read `ratio of LDL to HDL`."""
    sign, _ = tokens.take(), tokens.take()
    skip_links(tokens)
    above = read_name(tokens) if tokens.is_name() else None
    joined = tokens.accept_words("to") or tokens.accept_words("and")
    if above is None or not joined or not tokens.is_name():
        raise tokens.error("write the ratio as LDL/HDL", sign)
    return (Term(1.0, (above, read_name(tokens)), RATIO, sign.column),)


def _own_figure(tokens: TokenStream) -> Term | None:
    """Read `mean`, `median`, `sd` or `p90` alone: those of the feature that is compared."""
    word, known = tokens.peek(), tokens.vocabulary
    function = find_function(word.low)
    if tokens.own is None or known is None or function is None or function.statistic is None:
        return None
    if word.kind != "NAME" or known.is_name(word.text) or tokens.is_name(1):
        return None
    tokens.take()
    return Term(1.0, (tokens.own,), function.name, word.column)


def _with_unit_in_brackets(tokens: TokenStream) -> Side:
    """Return a feature whose unit stands in brackets after it: Glucose (mg/dL) >= 126."""
    word = tokens.take()
    tokens.unit = unit_at(tokens.line, tokens.peek().end)
    while tokens.take().kind != "CLOSE":
        pass
    return (Term(1.0, (plain_text(word.text),), column=word.column),)


# --------------------------------------------------------------------------------------------------
# The sides of a condition: sums of numbers times features, read as they are written.
#
# A side is linear, or a ratio over one feature. What is neither is refused with what to write.


_AFTER_NAME: Final = frozenset(spoken("PLUS MINUS TIMES DIVIDED GE LE GT LT EQ NE"))
_NO_FACTOR: Final = NO_NAME | frozenset(
    spoken(
        "to as with except excluding while whilst whereas without if when plus minus for during per"
    )
)
_FACTORS: Final = {"twice": 2.0, "double": 2.0, "half": 0.5, "thrice": 3.0}


def read_side(tokens: TokenStream) -> Side:
    """Return a sum: products with + and - between them."""
    terms = list(read_product(tokens))
    while (sign := tokens.peek()).kind in ("PLUS", "MINUS") or _is_sign(tokens, terms):
        tokens.take()
        product = read_product(tokens)
        minus = sign.kind == "MINUS" or sign.low == "minus"
        terms += times(product, -1.0) if minus else product
    if tokens.peek().kind == "PLUSMINUS":
        raise tokens.error("write the range as: a between 3 and 7, or a = 5 ± 2")
    if len(terms) > 1 and any(term.unit for term in terms):
        _check_units(terms, tokens)
    return tuple(terms)


def _is_sign(tokens: TokenStream, terms: list[Term]) -> bool:
    """Return whether plus or minus comes next and adds: before a number, or among the features that
    are compared.
    """
    known, word = tokens.vocabulary, tokens.peek()
    if known is None or word.low not in ("plus", "minus") or known.is_name(word.text):
        return False
    if is_number(tokens, 1):
        return not tokens.is_name(2) and tokens.own is not None
    name = plain_text(tokens.peek(1).text)
    numbers = [t for t in terms if t.names and not known.is_flag(str(t.names[0]))]
    return tokens.own is None and len(numbers) == len(terms) and not known.is_flag(name)


def _check_units(terms: list[Term], tokens: TokenStream) -> None:
    if any(term.unit == "%" for term in terms):
        raise tokens.error(
            "write the number without '%' in a sum, in the units of the data", tokens.words[0]
        )


def read_product(tokens: TokenStream) -> Side:
    """Return factors, of which at most one names features, with the signs between them."""
    side = _factor(tokens)
    number, many = 1.0, False
    while (sign := tokens.peek()).kind in ("TIMES", "DIVIDED") or tokens.matches("times"):
        tokens.take()
        factor = _factor(tokens)
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


def _factor(tokens: TokenStream) -> Side:
    word = tokens.peek()
    usual = word.kind == "NAME" and tokens.peek(1).kind in _AFTER_NAME and tokens.own is None
    if usual and word.low not in RESERVED:
        tokens.at += 1
        return (Term(1.0, (word.text,), column=word.column),)
    minus = False
    while (sign := tokens.peek()).kind in ("PLUS", "MINUS"):
        tokens.take()
        minus ^= sign.kind == "MINUS"
    side = _plain_factor(tokens)
    if tokens.peek().kind == "POWER":
        raise tokens.error(
            "a power is not linear: add it to the data as a feature of its own, or write abs(a) "
            "for a comparison of a square"
        )
    return times(side, -1.0) if minus else side


def _plain_factor(tokens: TokenStream) -> Side:
    tokens.deeper()
    side = _one_factor(tokens)
    tokens.depth -= 1
    return side


def _one_factor(tokens: TokenStream) -> Side:
    word = tokens.peek()
    if is_number(tokens):
        return _quantity(tokens)
    if word.kind == "NAME" and word.low in _FACTORS and names_follow(tokens, 1):
        tokens.take()
        skip_links(tokens)
        return times(_plain_factor(tokens), _FACTORS[word.low])
    if word.kind == "OPEN":
        return _bracket(tokens)
    if word.kind == "BAR":
        raise tokens.error("write |...| alone on its side, as in |a - b| <= 2")
    if word.kind == "NAME" and word.low == "the" and names_follow(tokens, 1):
        tokens.take()
    if tokens.is_name():
        return read_feature(tokens)
    raise tokens.error(_nothing_here(tokens))


def _nothing_here(tokens: TokenStream) -> str:
    word = tokens.peek()
    if tokens.is_over:
        return (
            "the condition has no end: write a feature, a sign and a number, as in Glucose >= 126"
        )
    if word.kind in ("COMMA", "SEMICOLON", "AND", "OR") or word.low in RESERVED:
        return f"write a feature or a number before '{word.text}', as in Glucose >= 126"
    return (
        f"'{word.text}' does not belong here: write a feature or a number, names with signs "
        "between backticks, as in `p-36=t`"
    )


def _quantity(tokens: TokenStream) -> Side:
    """Return a number with its unit, or times the feature that follows it."""
    first = tokens.peek()
    (value, unit), *more = read_quantity(tokens)
    if tokens.peek().kind == "PERCENT" and tokens.matches("of", ahead=1):
        tokens.at += 2
        skip_links(tokens)
        return times(_plain_factor(tokens), value / 100)
    if unit:
        parts = [(value, unit), *more]
        return tuple(Term(each, column=first.column, unit=of) for each, of in parts)
    spoken_times = tokens.matches("x") and tokens.is_name(1) and not _is_known(tokens, "x")
    if tokens.accept_words("times") or (spoken_times and tokens.accept_words("x")):
        skip_links(tokens)
        return times(_plain_factor(tokens), value)
    word = tokens.peek()
    opens = word.kind == "OPEN" and word.text == "("
    opens = opens and tokens.peek(1).low not in ("unless", "except")
    if opens or (tokens.is_name() and _is_factor(tokens)):
        if word.start > tokens.words[tokens.at - 1].end:
            tokens.implied = word
        return times(_plain_factor(tokens), value)
    return (Term(value, column=first.column),)


def _is_known(tokens: TokenStream, name: str) -> bool:
    return tokens.vocabulary is not None and tokens.vocabulary.is_name(name)


def _is_factor(tokens: TokenStream) -> bool:
    """Return whether the name after a number is a feature to multiply, not a word of the
    sentence.
    """
    word = tokens.peek()
    if word.kind == "STRING":
        return False
    spoken = word.kind == "NAME" and (
        word.low in _NO_FACTOR or tokens.phrase() is not None or tokens.matches("together", "with")
    )
    return not spoken


def _bracket(tokens: TokenStream) -> Side:
    opening = tokens.take()
    if opening.text == "[" and (name := bracketed_name(tokens, opening)) is not None:
        return (Term(1.0, (name,), column=opening.column),)
    if opening.text == "{":
        raise tokens.error("write round brackets around a sum, as in 2*(a + b)", opening)
    side = read_side(tokens)
    if tokens.accept("CLOSE") is None:
        raise tokens.error(
            "close the bracket with ')' before this, or write 'and' or a sign between the parts"
        )
    return side


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
    raise _unsupported(word.text, name or "x", word.column)


def refuse_vague_name(term: Term, tokens: TokenStream) -> None:
    """`ABL1 overexpressed`, read as a name of two words."""
    name = str(term.names[0])
    first, _, last = name.rpartition(" ")
    if first and last.lower() in VAGUE and not is_known(tokens, name):
        raise _unsupported(last, first, term.column or 1)
    after = tokens.peek()
    if after.kind == "NAME" and after.low in VAGUE:
        raise _unsupported(after.text, name, after.column)


def _unsupported(word: str, name: str, column: int) -> RuleError:
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
    readings = [f"{quoted} {low} mean({quoted}) - {size}*sd({quoted})"]
    readings.append(
        f"{quoted} {other} mean({quoted}) {'+' if low == other else '-'} {size}*sd({quoted})"
    )
    return tokens.error(
        f"'{tokens.text(start)}' can be read in two ways: write {' or '.join(readings)}",
        tokens.words[start],
        remedy=readings[0],
    )


def read_within(tokens: TokenStream, left: Operand) -> Condition | None:
    """Read `within 2 sd of the mean`, after its first word; None if something else comes."""
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
