"""Conditions as linear inequalities, and a plain word on those that are not linear.

`min(K) >= c` says that every feature of K is at least c, which is one row per feature.
`max(K) >= c` says that some feature is, which is an "or" and has no place in one matrix.
"""

from __future__ import annotations

from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import rule_error
from hipad.rules.language.terms import Term

EXTREMES = ("min", "max")

Weighted = list[tuple[float, Term]]
"""Terms with the coefficients they have on the left of `... <= 0`."""


def inequalities(condition: Condition) -> list[Weighted]:
    """The weighted terms, each list meaning sum <= 0, that together say the condition.

    >>> a, three = Term(1.0, ("a",)), Term(3.0)
    >>> for terms in inequalities(Condition(((a,), (three,)), ("=",))):
    ...     print([(weight, term.body) for weight, term in terms])
    [(1.0, 'a'), (-3.0, '')]
    [(-1.0, 'a'), (3.0, '')]
    """
    found: list[Weighted] = []
    steps = zip(condition.sides, condition.relations, condition.sides[1:], strict=False)
    for left, relation, right in steps:
        difference = [(t.coefficient, t) for t in left] + [(-t.coefficient, t) for t in right]
        if relation[0] in "<=":
            found.append(difference)
        if relation[0] in ">=":
            found.append([(-weight, term) for weight, term in difference])
    for terms in found:
        for weight, term in terms:
            if term.function in EXTREMES:
                _check_linear(weight, term, condition)
    return found


def check_linear(condition: Condition) -> None:
    """Refuse a condition that has no inequalities."""
    if any(term.function in EXTREMES for side in condition.sides for term in side):
        inequalities(condition)


def _check_linear(weight: float, term: Term, condition: Condition) -> None:
    """Refuse a min that must be small or a max that must be large."""
    if (weight >= 0) == (term.function == "max"):
        return
    names = term.body[4:-1]
    other, size = ("min", "high") if term.function == "max" else ("max", "low")
    if len(condition.relations) > 1 or "=" in condition.relations:
        remedy = f"min({names}) >= low and max({names}) <= high if all of them must lie there"
    else:
        remedy = f"{other}({names}) if every feature must be"
    raise rule_error(
        f"'{condition}' is not linear, since it asks only that some feature of the group is "
        f"{size}: write {remedy}, mean({names}) for their average, or one rule for each feature",
        column=term.column,
        suggestion=str(condition).replace(f"{term.function}(", "mean("),
    )
