"""Conditions as written to conditions that are linear: everything that needs the data is settled.

Categories become columns, p90(x) becomes its value on the training rows, a ratio over a feature
that is above 0 is multiplied out, and `any(K1) >= 2` becomes one alternative for each feature.
"""

from __future__ import annotations

import re
from typing import Final

from hipad.errors import RuleError
from hipad.rules.compiling.settling.categories import settle_category, settle_flag, settle_member
from hipad.rules.compiling.settling.counts import settle_count
from hipad.rules.compiling.settling.extremes import settle_extremes
from hipad.rules.compiling.settling.ground import Ground, place_of
from hipad.rules.compiling.settling.sums import settle_sides
from hipad.rules.language.conditions.atoms import read_atom
from hipad.rules.language.logic import Node
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import rule_error
from hipad.rules.language.terms import side_text
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import words_of

_HAZARD: Final = re.compile(r"[\w)\]][-+*/=.:%()]|\w\s+\w")


def settle(ground: Ground, condition: Condition) -> Node:
    """The condition in plain sums of features, or several joined by and and or."""
    again = _read_again(ground, condition)
    if not isinstance(again, Condition):
        return _settle_each(ground, again)
    condition = again
    if condition.form == "flag":
        return settle_flag(ground, condition)
    if condition.form == "member":
        return settle_member(ground, condition)
    if condition.form == "count":
        return settle_count(ground, condition)
    if (category := settle_category(ground, condition)) is not None:
        return category
    settled = settle_sides(ground, condition)
    if "!=" in condition.relations:
        raise _differs(condition)
    return settle_extremes(ground, settled)


def _settle_each(ground: Ground, node: Node) -> Node:
    """Every condition of several, joined as before."""
    if isinstance(node, Condition):
        return settle(ground, node)
    return type(node)(tuple(_settle_each(ground, part) for part in node.parts))


def _read_again(ground: Ground, condition: Condition) -> Node:
    """The condition with names that only the data tell, such as IL-6."""
    written = condition.written
    if written is None or written.sides != condition.sides:
        return condition
    if not _HAZARD.search(written.text):
        return condition
    words = words_of(written.text, ground.lexicon)
    if not any(w.kind == "QUOTED" and written.text[w.start] != "`" for w in words):
        return condition
    cursor = Cursor(written.text, words, ground.lexicon)
    try:
        node = read_atom(cursor)
    except RuleError:
        return condition
    return node if cursor.is_over else condition


def _differs(condition: Condition) -> RuleError:
    left, right = map(side_text, condition.sides[:2])
    remedy = f"{left} < {right} or {left} > {right}"
    return rule_error(
        f"'{condition}' has no one side: write {remedy}",
        column=place_of(condition),
        suggestion=remedy,
    )
