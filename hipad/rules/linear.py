"""Conditions as linear inequalities, and a plain word on those that are not linear.

`min(K) >= c` says that every feature of K is at least c, which is one row a feature. `max(K) >= c`
says that some feature is, which is an "or" and has no place in one matrix.
"""

from __future__ import annotations

from dataclasses import replace

from hipad.rules.model import Condition, Side, Term
from hipad.rules.words import rule_error

EXTREMES = ("min", "max")


def inequalities(condition: Condition) -> list[Side]:
    """The sides s, each meaning s <= 0, that together say the same as the condition.

    >>> a, number = Term(1.0, ("a",)), Term(3.0)
    >>> for side in inequalities(Condition(((a,), (number,)), ("=",))):
    ...     print(*side)
    a -3
    -a 3
    """
    found: list[Side] = []
    steps = zip(condition.sides, condition.relations, condition.sides[1:], strict=False)
    for left, relation, right in steps:
        if relation[0] in "<=":
            found.append(left + negated(right))
        if relation[0] in ">=":
            found.append(negated(left) + right)
    for side in found:
        for term in side:
            check_linear(term, condition)
    return found


def negated(side: Side) -> Side:
    """Minus the side."""
    return tuple(replace(term, coefficient=-term.coefficient) for term in side)


def check_linear(term: Term, condition: Condition) -> None:
    """Refuse a min that must be small or a max that must be large."""
    if term.function not in EXTREMES or (term.coefficient >= 0) == (term.function == "max"):
        return
    names = term.body[4:-1]
    other = "min" if term.function == "max" else "max"
    size = "high" if term.function == "max" else "low"
    part = "half of " if "=" in condition.relations or len(condition.relations) > 1 else ""
    raise rule_error(
        f"'{condition}' is not linear, since {part}it only asks that some feature of the group is "
        f"{size}: write {other}({names}) if every feature must be, mean({names}) for their "
        f"average, or one rule for each feature",
        term.place,
        suggestion=str(condition).replace(f"{term.function}(", f"{other}("),
    )
