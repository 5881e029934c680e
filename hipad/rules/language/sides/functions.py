"""Functions of features: `mean(K1)`, `p90(x)`, and the groups between their brackets.

A new function gets its name in `terms.py`; other words for it go here.
"""

from __future__ import annotations

import difflib
from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.sides.spelled_names import plain_text, read_name
from hipad.rules.language.spelling import format_number, quote_name, rule_error
from hipad.rules.language.terms import (
    FUNCTIONS,
    LEARNT,
    FeatureSpan,
    Name,
    Term,
    is_learnt,
    percentile,
)
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import Word
from hipad.rules.language.words.quantities import is_number, read_number
from hipad.wording import listed

SYNONYMS: Final = {
    "avg": "mean",
    "average": "mean",
    "total": "sum",
    "minimum": "min",
    "maximum": "max",
    "std": "sd",
    "stdev": "sd",
    "stddev": "sd",
    "zscore": "z",
}
CURVES: Final = ("log2", "log10", "ln", "exp", "sqrt")
GROUPS: Final = {"any": "any", "all": "all", "each": "all", "every": "all", "none": "none"}
_QUANTILES: Final = {"quantile": 100.0, "percentile": 1.0}
_KNOWN: Final = frozenset((*FUNCTIONS, *SYNONYMS, *LEARNT, *_QUANTILES))


def is_function(name: str) -> bool:
    """Whether a name, in small letters, is that of a function: mean, p90, ..."""
    return name in _KNOWN or percentile(name) is not None


def read_call(cursor: Cursor) -> Term:
    """A function and what stands between its brackets, as mean(K1)."""
    word = cursor.take()
    names, number = read_group(cursor)
    return function_of(word, names, number)


def function_of(word: Word, names: list[Name], number: float | None) -> Term:
    """The term of a function of these names; `number` is the share of a quantile."""
    function = SYNONYMS.get(word.low, word.low)
    if function in _QUANTILES:
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


def _quantile(word: Word, names: list[Name], number: float | None) -> Term:
    share = None if number is None else number * _QUANTILES[word.low]
    if share is None or not 0 <= share <= 100 or len(names) != 1 or not isinstance(names[0], str):
        raise rule_error("write the percentile as p90(x), of one feature", column=word.column)
    return Term(1.0, (names[0],), f"p{format_number(round(share, 6))}", word.column)


def read_group(cursor: Cursor) -> tuple[list[Name], float | None]:
    """Names and ranges of names between round brackets, and a number among them."""
    opening = cursor.take()
    names: list[Name] = []
    number: float | None = None
    while True:
        if is_number(cursor) and names:
            number = read_number(cursor, listing=True) / (100 if cursor.accept("PERCENT") else 1)
        else:
            names.append(read_item(cursor))
        if cursor.accept("CLOSE"):
            return names, number
        if cursor.accept("COMMA", "SEMICOLON") is None:
            raise _wrong_group(cursor, opening, names)


def read_item(cursor: Cursor) -> Name:
    """One name between brackets, or a range of columns, as g1:g4."""
    if not cursor.is_name():
        raise cursor.error(
            "name features or blocks between the brackets, as in mean(K1) or mean(a, b)"
        )
    first = read_name(cursor)
    if cursor.peek().kind in ("COLON", "DOTS") or cursor.says("to"):
        cursor.take()
        if not cursor.is_name():
            raise cursor.error("write the last feature of the range, as in g1:g4")
        return FeatureSpan(first, read_name(cursor))
    return first


def _wrong_group(cursor: Cursor, opening: Word, names: list[Name]) -> RuleError:
    word = cursor.peek()
    if word.kind in ("PLUS", "MINUS", "TIMES", "DIVIDED"):
        return cursor.error(
            "a function takes names, not sums: write mean(a, b) for the mean of two features, or "
            "the sum outside the function"
        )
    shown = listed([quote_name(n) if isinstance(n, str) else str(n) for n in names], limit=3)
    if cursor.relation():
        return cursor.error(
            "compare outside the brackets, as in mean(K1) >= 2: close the bracket with ')' before "
            "you compare"
        )
    return cursor.error(
        f"write ',' between the names after {shown}, and put odd names between backticks"
    )


def unknown_function(word: Word) -> RuleError:
    """What is said of a name before a bracket that is no function, with what to write."""
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
            expected=FUNCTIONS,
        )
    near = difflib.get_close_matches(name.lower(), [*FUNCTIONS, *SYNONYMS], 1)
    better = SYNONYMS.get(near[0], near[0]) if near else "mean"
    return rule_error(
        f"'{name}' is not a function here: write {better}(...), the functions are "
        f"{listed(FUNCTIONS)}, or write '*' to multiply",
        column=word.column,
        expected=FUNCTIONS,
        suggestion=better,
    )
