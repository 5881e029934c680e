"""min and max: a max that must be large is met by one feature, so it makes one rule for each."""

from __future__ import annotations

from hipad.rules.compiling.settling.ground import Ground, members_of
from hipad.rules.compiling.settling.sums import EXTREMES
from hipad.rules.language.logic import MIRRORED, MOST_ALTERNATIVES, All, Any, Node
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import rule_error
from hipad.rules.language.terms import Term


def settle_extremes(ground: Ground, condition: Condition) -> Node:
    """A min that must be small, or a max that must be large, as one alternative per feature."""
    terms = [term for side in condition.sides for term in side if term.function in EXTREMES]
    if not terms:
        return condition
    if len(condition.sides) == 3 or condition.relations == ("=",):
        pairs = _pairs(condition)
        if any(_wrong(pair) for pair in pairs):
            return All(tuple(settle_extremes(ground, pair) for pair in pairs))
        return condition
    found = _wrong(condition)
    if found is None:
        return condition
    at, k, term = found
    names = members_of(ground, term)
    if len(names) > MOST_ALTERNATIVES:
        shown, other = term.body[4:-1], "min" if term.function == "max" else "max"
        raise rule_error(
            f"'{condition}' is met as soon as one feature is, and {len(names):,} features "
            f"would make as many rules: write mean({shown}), or {other}({shown}) if all of "
            "them must be",
            column=term.column,
        )
    return Any(tuple(settle_extremes(ground, _with(condition, at, k, name)) for name in names))


def _with(condition: Condition, at: int, k: int, name: str) -> Condition:
    sides = list(condition.sides)
    side = list(sides[at])
    side[k] = Term(side[k].coefficient, (name,), column=side[k].column)
    sides[at] = tuple(side)
    return Condition(tuple(sides), condition.relations)


def _pairs(condition: Condition) -> list[Condition]:
    if len(condition.sides) == 3:
        low, middle, high = condition.sides
        first, second = condition.relations
        return [
            Condition((middle, low), (MIRRORED[first],)),
            Condition((middle, high), (second,)),
        ]
    return [Condition(condition.sides, (sign,)) for sign in (">=", "<=")]


def _wrong(condition: Condition) -> tuple[int, int, Term] | None:
    """The first extreme that asks for some feature only: its side, its place, itself."""
    large_on_left = condition.relations[0][0] == ">"
    for at, side in enumerate(condition.sides):
        for k, term in enumerate(side):
            if term.function not in EXTREMES or not term.coefficient:
                continue
            side_is_large = large_on_left == (at == 0)
            must_be_large = side_is_large == (term.coefficient > 0)
            if must_be_large == (term.function == "max"):
                return at, k, term
    return None
