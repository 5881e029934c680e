"""Expressions: the sides of a condition, sums of numbers times features or functions."""

from __future__ import annotations

import difflib
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.ast import (
    RATIO,
    FeatureSpan,
    Name,
    Side,
    Term,
)
from hipad.rules.functions import (
    GROUP_FUNCTIONS,
    QUANTILES,
    SYNONYMS,
    find_function,
    is_function,
    is_learnt,
)
from hipad.rules.lexer import (
    LARGEST,
    RESERVED,
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
    """`ratio of LDL to HDL`."""
    sign, _ = tokens.take(), tokens.take()
    skip_links(tokens)
    above = read_name(tokens) if tokens.is_name() else None
    joined = tokens.accept_words("to") or tokens.accept_words("and")
    if above is None or not joined or not tokens.is_name():
        raise tokens.error("write the ratio as LDL/HDL", sign)
    return (Term(1.0, (above, read_name(tokens)), RATIO, sign.column),)


def _own_figure(tokens: TokenStream) -> Term | None:
    """`mean`, `median`, `sd` or `p90` alone: those of the feature that is compared."""
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
    """Factors, of which at most one names features, with the signs between them."""
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
