"""Conditions joined by and and or, turned round, and taken apart into rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import rule_error
from hipad.rules.language.terms import Term

MOST_ALTERNATIVES: Final = 64  # rules that one line may make
MOST_LEAVES: Final = 20_000  # conditions of one line, after it is taken apart

MIRRORED: Final = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "=": "=", "!=": "!="}
_TURNED: Final = {">=": "<", ">": "<=", "<=": ">", "<": ">=", "=": "!=", "!=": "="}


@dataclass(frozen=True)
class All:
    """Every part must hold."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Any:
    """One part is enough."""

    parts: tuple[Node, ...]


Node = Condition | All | Any


def negated(node: Node) -> Node:
    """The opposite.

    >>> a, three = (Term(1.0, ("a",)),), (Term(3.0),)
    >>> print(negated(Condition((a, three), (">=",))))
    a < 3
    """
    if isinstance(node, All):
        return Any(tuple(map(negated, node.parts)))
    if isinstance(node, Any):
        return All(tuple(map(negated, node.parts)))
    if node.form == "flag":
        value = 1.0 - node.sides[1][0].coefficient
        return replace(node, sides=(node.sides[0], (Term(value),)), written=None)
    if node.form == "count":
        return _not_counted(node)
    if len(node.sides) == 3:
        low, middle, high = node.sides
        first, second = node.relations
        return Any(
            (
                Condition((middle, low), (_TURNED[MIRRORED[first]],)),
                Condition((middle, high), (_TURNED[second],)),
            )
        )
    relations = tuple(_TURNED[relation] for relation in node.relations)
    return replace(node, relations=relations, written=None)


def _not_counted(node: Condition) -> Node:
    counted, number = node.sides[0], node.sides[1][0]
    below = replace(number, coefficient=number.coefficient - 1)
    above = replace(number, coefficient=number.coefficient + 1)
    fewer = Condition((counted, (below,)), ("<=",), "count")
    more = Condition((counted, (above,)), (">=",), "count")
    turned: dict[str, Node] = {">=": fewer, "<=": more, "=": Any((fewer, more))}
    return turned[node.relations[0]]


def alternatives(node: Node, column: int = 1) -> list[tuple[Condition, ...]]:
    """The conditions of each rule that the premise makes."""
    found = _alternatives(node, column)
    if sum(map(len, found)) > MOST_LEAVES:
        raise too_many(column)
    if len(found) == 1:
        return found
    return _needed([tuple(dict.fromkeys(conditions)) for conditions in dict.fromkeys(found)])


def _needed(found: list[tuple[Condition, ...]]) -> list[tuple[Condition, ...]]:
    """Without those that ask for all that another one asks for, and more."""
    asked = [frozenset(conditions) for conditions in found]

    def is_needless(k: int) -> bool:
        return any(one < asked[k] or (one == asked[k] and i < k) for i, one in enumerate(asked))

    return [conditions for k, conditions in enumerate(found) if not is_needless(k)]


def _alternatives(node: Node, column: int) -> list[tuple[Condition, ...]]:
    if isinstance(node, Condition):
        return [(node,)]
    parts = [_alternatives(part, column) for part in node.parts]
    if isinstance(node, Any):
        number, found = sum(map(len, parts)), [each for part in parts for each in part]
    else:
        number = math.prod(map(len, parts))
        found = []
        if number <= MOST_ALTERNATIVES:
            found = [tuple(c for group in chosen for c in group) for chosen in product(*parts)]
    if number > MOST_ALTERNATIVES:
        raise too_many(column)
    return found


def too_many(column: int) -> RuleError:
    """The error for a premise that makes too many rules."""
    return rule_error(
        f"this makes more than {MOST_ALTERNATIVES} rules when it is taken apart: write fewer "
        "conditions with 'or', or several lines",
        column=column,
    )
