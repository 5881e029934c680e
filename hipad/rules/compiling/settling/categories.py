"""Names alone, categories and sets of their values: `smoker`, `sex = male`, `stage >= II`.

Each becomes a condition on columns of 0 and 1.
"""

from __future__ import annotations

import difflib
from dataclasses import replace

from hipad.errors import RuleError
from hipad.rules.compiling.naming.names import folded
from hipad.rules.compiling.settling.ground import Ground, lone_name, own_name
from hipad.rules.language.logic import Node
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import format_number, quote_name, rule_error
from hipad.rules.language.terms import Side, Term
from hipad.wording import listed


def settle_flag(ground: Ground, condition: Condition) -> Node:
    """A name alone, as `smoker`: its column of 0 and 1 must be 1, or 0 where it is negated."""
    term, wanted = condition.sides[0][0], condition.sides[1][0].coefficient
    name = term.names[0]
    if not isinstance(name, str) or ground.lexicon.block(name) is not None:
        if isinstance(name, str):
            raise ground.lexicon.not_a_flag(name, term.column)
        return Condition(((replace(term, function="min"),), (Term(1.0),)), (">=",))
    j = ground.lexicon.flag_column(name)
    if j is None or not ground.lexicon.is_zero_one(j):
        raise ground.lexicon.not_a_flag(name, term.column)
    return column_is(ground, j, wanted, term.column)


def column_is(ground: Ground, j: int, wanted: float, column: int | None) -> Condition:
    """A column of 0 and 1 that must be 1, or 0."""
    term = Term(1.0, (ground.index.name(j),), column=column)
    return Condition(((term,), (Term(wanted),)), (">=" if wanted else "<=",))


def settle_category(ground: Ground, condition: Condition) -> Node | None:
    """`sex = male` and `stage >= II`, or None if the condition is about numbers."""
    if len(condition.sides) != 2 or condition.form != "compare":
        return None
    group, level = lone_name(condition.sides[0]), _lone_level(condition.sides[1])
    relation = condition.relations[0]
    if group is None or level is None:
        return None
    column = condition.sides[0][0].column
    j = ground.lexicon.feature(group)
    if j is not None:
        return _yes_or_no(ground, condition, j, level)
    if ground.lexicon.block(group) is not None or ground.lexicon.group(group) is None:
        return None
    found = ground.lexicon.level_column(group, level)
    if relation in ("=", "!="):
        if found is None:
            raise _no_level(ground, group, level, column)
        return column_is(ground, found, float(relation == "="), column)
    return _ranked(ground, group, level, relation, column)


def _yes_or_no(ground: Ground, condition: Condition, j: int, level: str) -> Node | None:
    """`hypertension = yes` on a column of 0 and 1."""
    relation = condition.relations[0]
    right = condition.sides[1][0]
    if right.is_number:
        if relation == "!=" and ground.lexicon.is_zero_one(j) and right.coefficient in (0.0, 1.0):
            return column_is(ground, j, 1.0 - right.coefficient, right.column)
        return None
    wanted = ground.lexicon.yes_or_no(level)
    if wanted is None or ground.lexicon.feature(level) is not None:
        return None
    if relation not in ("=", "!=") or not ground.lexicon.is_zero_one(j):
        return None
    return column_is(ground, j, wanted if relation == "=" else 1.0 - wanted, right.column)


def _ranked(ground: Ground, group: str, level: str, relation: str, column: int | None) -> Condition:
    order = ground.lexicon.order(group)
    levels = ground.lexicon.group(group) or {}
    found = ground.lexicon.level_column(group, level)
    if found is None:
        raise _no_level(ground, group, level, column)
    columns = [levels[folded(each)] for each in order.levels] if order else []
    if order is None or not order.ranked or found not in columns:
        raise _no_order(ground, group, found, columns, column)
    at = columns.index(found)
    chosen = {">=": columns[at:], ">": columns[at + 1 :], "<=": columns[: at + 1],
              "<": columns[:at]}[relation]  # fmt: skip
    if not chosen:
        raise rule_error(f"no value of {group} is {relation} {level}: write another", column=column)
    return _one_of(ground, chosen, True, column)


def _no_order(
    ground: Ground, group: str, found: int, columns: list[int], column: int | None
) -> RuleError:
    """The error for values whose order is not known, or which may be counted from either end."""
    if found in columns:
        at = columns.index(found)
        ways = [columns[at:], columns[: at + 1]]
    else:
        every = list((ground.lexicon.group(group) or {}).values())
        ways = [[found, *(j for j in every if j != found)][:2]]
    named = [", ".join(quote_name(ground.index.level_name(j)) for j in way) for way in ways]
    shown = [f"{quote_name(group)} in {{{each}}}" for each in named]
    return rule_error(
        f"the order of the values of {group} is not known: write which are meant, as in "
        f"{' or '.join(shown)}",
        column=column,
        expected=tuple(shown) if found in columns else (),
    )


def _one_of(ground: Ground, columns: list[int], wanted: bool, column: int | None) -> Condition:
    """Some columns of 0 and 1, of which one is 1 (or none)."""
    if len(columns) == 1:
        return column_is(ground, columns[0], float(wanted), column)
    term = Term(1.0, tuple(ground.index.name(j) for j in columns), "sum", column)
    sign = ">=" if wanted else "<="
    return Condition(((term,), (Term(float(wanted)),)), (sign,), "count")


def _no_level(ground: Ground, group: str, level: str, column: int | None) -> RuleError:
    levels = ground.lexicon.group(group) or {}
    own = [ground.index.level_name(j) for j in levels.values()]
    near = difflib.get_close_matches(folded(level), levels, 1, 0.6)
    best = [quote_name(ground.index.level_name(levels[each])) for each in near]
    shown = listed([quote_name(each) for each in own], "or", limit=6)
    return rule_error(
        f"{group} has no value {quote_name(level)}: write {group} = {shown}",
        column=column,
        expected=tuple(f"{quote_name(group)} = {each}" for each in best),
    )


def settle_member(ground: Ground, condition: Condition) -> Node:
    """`stage in {I, II}`: one of these values of a category; RuleError for a set of numbers."""
    group, items = str(condition.sides[0][0].names[0]), condition.sides[1][0].names
    column = condition.sides[0][0].column
    texts = [str(item) for item in items]
    if ground.lexicon.feature(group) is None and ground.lexicon.group(group) is not None:
        columns = []
        for level in texts:
            found = ground.lexicon.level_column(group, level)
            if found is None:
                raise _no_level(ground, group, level, column)
            columns.append(found)
        return _one_of(ground, sorted(set(columns)), condition.relations[0] == "=", column)
    name = quote_name(own_name(ground, group, column))
    raise rule_error(
        f"a set of numbers is not linear: write {_instead(name, texts)}",
        column=column,
        suggestion=_instead(name, texts),
    )


def _instead(name: str, texts: list[str]) -> str:
    """What says the same as a set of numbers."""
    try:
        numbers = sorted(map(float, texts))
    except ValueError:
        return f"{name} = {texts[0]}"
    neighbours = numbers == [numbers[0] + k for k in range(len(numbers))]
    if neighbours and len(numbers) > 1 and numbers[0] % 1 == 0:
        low, high = map(format_number, (numbers[0], numbers[-1]))
        return f"{name} between {low} and {high}"
    return " or ".join(f"{name} = {format_number(each)}" for each in numbers)


def _lone_level(side: Side) -> str | None:
    """What a side may be as a level of a category: a word or a whole number."""
    if len(side) == 1 and side[0].is_number:
        return format_number(side[0].coefficient)
    return lone_name(side)
