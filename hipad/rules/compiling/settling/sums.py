"""The sides of a condition with the data's own names, learnt numbers and ratios worked out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hipad.errors import RuleError
from hipad.rules.compiling.settling.ground import Ground, is_feature, member_name, own_name
from hipad.rules.compiling.settling.learnt_numbers import learnt_number
from hipad.rules.compiling.settling.measures import plain_number
from hipad.rules.compiling.settling.ratios import multiplied_out
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import quote_name, rule_error
from hipad.rules.language.terms import RATIO, Name, Side, Term, is_learnt

EXTREMES: Final = ("min", "max")


def settle_sides(ground: Ground, condition: Condition) -> Condition:
    """The condition with its own names, percentages, learnt numbers and ratios worked out."""
    sides = tuple(_side(ground, side, condition) for side in condition.sides)
    if any(term.function == RATIO for side in sides for term in side):
        sides = multiplied_out(ground, sides, condition)
    if sides == condition.sides:
        return condition
    if not any(term.names for side in sides for term in side):
        raise _nothing_left(ground, condition)
    return Condition(sides, condition.relations, condition.form)


def _nothing_left(ground: Ground, condition: Condition) -> RuleError:
    learnt = next(t for side in condition.sides for t in side if t.function)
    name = name_of(learnt)
    return rule_error(
        f"{learnt.body} is one number for all patients, the figure of the column: write "
        f"{name} where the patient's own value is meant",
        column=learnt.column,
        suggestion=str(condition).replace(learnt.body, name),
    )


def _side(ground: Ground, side: Side, condition: Condition) -> Side:
    found: list[Term] = []
    for term in side:
        found += _term(ground, term, condition)
    return (
        side
        if len(found) == len(side) and all(a is b for a, b in zip(found, side, strict=True))
        else tuple(found)
    )


def _term(ground: Ground, term: Term, condition: Condition) -> list[Term]:
    if not term.names:
        return [plain_number(ground, term, condition)]
    if term.function in ("", RATIO):
        names: tuple[Name, ...] = tuple(own_name(ground, str(n), term.column) for n in term.names)
    elif is_learnt(term.function):
        return learnt_number(ground, term)
    else:
        names = tuple(member_name(ground, n, term.column) for n in term.names)
        if term.function == "mean" and is_feature(ground, names):
            return learnt_number(ground, term)
        if term.function in EXTREMES and is_feature(ground, names):
            _check_other_mentions(ground, names[0], term, condition)
    return [term if names == term.names else replace(term, names=names)]


def _check_other_mentions(ground: Ground, name: Name, term: Term, condition: Condition) -> None:
    for side in condition.sides:
        for other in side:
            if other is not term and name in other.names:
                share = "100" if term.function == "max" else "0"
                raise rule_error(
                    f"{term.body} is the patient's own {name}: write p{share}({name}) for the "
                    f"{term.function} over the training rows",
                    column=term.column,
                )


def name_of(term: Term) -> str:
    """The first name of a term, as a rule writes it."""
    first = term.names[0]
    return quote_name(first) if isinstance(first, str) else str(first)
