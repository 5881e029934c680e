"""Words that do not say how much, such as high and elevated: refused with what to write."""

from __future__ import annotations

from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.conditions.operands import Operand, lone_feature
from hipad.rules.language.sides.spelled_names import plain_text
from hipad.rules.language.spelling import VAGUE, quote_name, rule_error, spoken
from hipad.rules.language.terms import Term
from hipad.rules.language.words.cursor import Cursor

_LOW: Final = frozenset(spoken("low decreased reduced underexpressed downregulated small young"))


def is_known(cursor: Cursor, name: str) -> bool:
    """Whether the data are known and have a feature or block of this name."""
    return cursor.vocabulary is not None and cursor.vocabulary.is_name(name)


def refuse_vague(cursor: Cursor, left: Operand | None = None) -> None:
    """`high CRP`, `CRP is elevated`: how high is not said."""
    word = cursor.peek()
    if word.kind != "NAME" or word.low not in VAGUE or is_known(cursor, word.text):
        return
    if left is None and not cursor.is_name(1):
        return
    name = lone_feature(left) if left is not None else None
    if name is None and cursor.is_name(1) and cursor.peek(1).kind != "STRING":
        name = plain_text(cursor.peek(1).text)
    raise _vague(word.text, name or "x", word.column)


def refuse_vague_name(term: Term, cursor: Cursor) -> None:
    """`ABL1 overexpressed`, read as a name of two words."""
    name = str(term.names[0])
    first, _, last = name.rpartition(" ")
    if first and last.lower() in VAGUE and not is_known(cursor, name):
        raise _vague(last, first, term.column or 1)
    after = cursor.peek()
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
