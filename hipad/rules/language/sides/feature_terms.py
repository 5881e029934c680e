"""What a name stands for on a side: a feature, a function of features, or a ratio in words."""

from __future__ import annotations

from hipad.rules.language.sides.functions import (
    SYNONYMS,
    function_of,
    is_function,
    read_call,
    unknown_function,
)
from hipad.rules.language.sides.spelled_names import plain_text, read_name, skip_links
from hipad.rules.language.terms import FUNCTIONS, RATIO, Name, Side, Term, percentile
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.units import unit_at


def read_feature(cursor: Cursor) -> Side:
    """A feature, or a function of features."""
    word, after = cursor.peek(), cursor.peek(1)
    if word.kind in ("NAME", "QUOTED") and after.kind == "OPEN" and after.text in "([":
        if word.kind == "NAME" and after.text == "(" and is_function(word.low):
            return (read_call(cursor),)
        if unit_at(cursor.line, after.end) and cursor.peek(2).kind in ("NAME", "PERCENT", "DEGREE"):
            return _with_unit_in_brackets(cursor)
        raise unknown_function(word)
    if word.kind == "NAME" and is_function(word.low) and cursor.says("of", ahead=1):
        function, _ = cursor.take(), cursor.take()
        skip_links(cursor)
        if not cursor.is_name():
            raise cursor.error(f"name a feature or block, as in {word.low}(K1)")
        return (function_of(function, _names_after(cursor), None),)
    if _is_called(cursor):
        return (function_of(cursor.take(), [read_name(cursor)], None),)
    if word.kind == "NAME" and word.low == "ratio" and cursor.says("of", ahead=1):
        return _spoken_ratio(cursor)
    if (own := _own_figure(cursor)) is not None:
        return (own,)
    name = read_name(cursor)
    return (Term(1.0, (name,), column=word.column),)


def _names_after(cursor: Cursor) -> list[Name]:
    """The names after `mean of`: several where all that comes before the sign is names."""
    names: list[Name] = [read_name(cursor)]
    at = cursor.at
    while cursor.accept("COMMA") or cursor.says("and"):
        cursor.accept_words("and")
        if not cursor.is_name():
            break
        names.append(read_name(cursor))
    if len(names) > 1 and cursor.relation() is not None and cursor.vocabulary is not None:
        return names
    cursor.at = at
    return names[:1]


def _is_called(cursor: Cursor) -> bool:
    """Whether a function stands before a block or a feature without brackets: mean IFN."""
    known, word, after = cursor.vocabulary, cursor.peek(), cursor.peek(1)
    if known is None or word.kind != "NAME" or after.kind not in ("NAME", "QUOTED"):
        return False
    if SYNONYMS.get(word.low, word.low) not in FUNCTIONS or known.is_name(word.text):
        return False
    name = plain_text(after.text)
    return bool(known.members(name)) and not known.is_name(f"{word.text} {name}")


def _spoken_ratio(cursor: Cursor) -> Side:
    """`ratio of LDL to HDL`."""
    sign, _ = cursor.take(), cursor.take()
    skip_links(cursor)
    above = read_name(cursor) if cursor.is_name() else None
    joined = cursor.accept_words("to") or cursor.accept_words("and")
    if above is None or not joined or not cursor.is_name():
        raise cursor.error("write the ratio as LDL/HDL", sign)
    return (Term(1.0, (above, read_name(cursor)), RATIO, sign.column),)


def _own_figure(cursor: Cursor) -> Term | None:
    """`mean`, `median`, `sd` or `p90` alone: those of the feature that is compared."""
    word, known = cursor.peek(), cursor.vocabulary
    figure = SYNONYMS.get(word.low, word.low)
    if cursor.own is None or known is None:
        return None
    if figure not in ("mean", "median", "sd") and percentile(figure) is None:
        return None
    if word.kind != "NAME" or known.is_name(word.text) or cursor.is_name(1):
        return None
    cursor.take()
    return Term(1.0, (cursor.own,), figure, word.column)


def _with_unit_in_brackets(cursor: Cursor) -> Side:
    """A feature whose unit stands in brackets after it: Glucose (mg/dL) >= 126."""
    word = cursor.take()
    cursor.unit = unit_at(cursor.line, cursor.peek().end)
    while cursor.take().kind != "CLOSE":
        pass
    return (Term(1.0, (plain_text(word.text),), column=word.column),)
