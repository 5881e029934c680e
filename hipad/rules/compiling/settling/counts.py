"""Counts of columns that hold 0 and 1: `at least 2 of (smoker, male)`."""

from __future__ import annotations

from dataclasses import replace

from hipad.rules.compiling.settling.ground import Ground, member_name
from hipad.rules.language.logic import Node
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import quote_name, rule_error
from hipad.rules.language.terms import FeatureSpan, Name


def settle_count(ground: Ground, condition: Condition) -> Node:
    """A count whose names are columns of 0 and 1; RuleError where one is not."""
    counted = condition.sides[0][0]
    names: list[Name] = []
    for name in counted.names:
        if isinstance(name, str) and ground.lexicon.block(name) is None:
            j = ground.lexicon.flag_column(name)
            if j is None:
                raise ground.lexicon.not_a_flag(name, counted.column)
            _check_zero_one(ground, j, counted.column)
            names.append(ground.index.name(j))
        else:
            names.append(member_name(ground, name, counted.column))
            _check_group(ground, names[-1], counted.column)
    if tuple(names) == counted.names:
        return condition
    term = replace(counted, names=tuple(dict.fromkeys(names)))
    return Condition(((term,), condition.sides[1]), condition.relations, "count")


def _check_group(ground: Ground, name: Name, column: int | None) -> None:
    if ground.values is None:
        return
    if isinstance(name, FeatureSpan):
        first, last = (ground.index.find(end) for end in (name.first, name.last))
        columns = range(first, last + 1)
    else:
        columns = ground.lexicon.blocks[name]  # type: ignore[assignment]
    for j in columns:
        _check_zero_one(ground, int(j), column)


def _check_zero_one(ground: Ground, j: int, column: int | None) -> None:
    if ground.values is not None and not ground.values.is_flag(j):
        name = quote_name(ground.index.name(j))
        raise rule_error(
            f"{name} does not hold 0 and 1 only, so it cannot be counted: compare it, as in "
            f"at least 2 of ({name} >= 1, ...)",
            column=column,
        )
