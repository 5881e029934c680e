"""Numbers that only the training rows tell: p90(x), z(x), and what 50 % is in these data."""

from __future__ import annotations

import math

from hipad.rules.compiling.settling.ground import Ground, RowsNeeded, lone_name, own_name
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import format_number, quote_name, rule_error
from hipad.rules.language.terms import RATIO, Term
from hipad.wording import number


def plain_number(ground: Ground, term: Term, condition: Condition) -> Term:
    """A number without its unit; a percentage as the data have it."""
    if term.unit != "%":
        return Term(term.coefficient, column=term.column) if term.unit else term
    feature = next((n for side in condition.sides if (n := lone_name(side)) is not None), None)
    j = None if feature is None else ground.lexicon.feature(feature)
    value, share = term.coefficient, term.coefficient / 100
    if any(each.function == RATIO for side in condition.sides for each in side):
        return Term(float(f"{share:.15g}"), column=term.column)
    if j is None or ground.values is None:
        raise RowsNeeded(
            f"whether {number(value)} % is {number(share)} or {number(value)} in these data is "
            "not known: write the number without '%'",
            column=term.column,
        )
    low, high = ground.values.lowest(j), ground.values.highest(j)
    fits = [low <= each <= high for each in (share, value)]
    if high <= 1.0 and low >= 0:
        fits = [True, False]
    if fits[0] == fits[1]:
        raise rule_error(
            f"{quote_name(ground.index.name(j))} runs from {number(low)} to {number(high)}, so "
            f"{number(value)} % can be {number(share)} or {number(value)}: write the number "
            "without '%'",
            column=term.column,
        )
    meant = share if fits[0] else value
    ground.remarks.append(f"{number(value)} % is read as {format_number(meant)}")
    return Term(float(f"{meant:.15g}"), column=term.column)


def learnt_number(ground: Ground, term: Term) -> list[Term]:
    """p90(x) as its value; z(x) as (x - mean) / sd."""
    name = str(term.names[0])
    block = ground.lexicon.block(name)
    if block is not None:
        raise rule_error(
            f"{term.body} of a block is not linear: write mean({quote_name(block)}), or "
            f"{term.function} of one feature for its {term.function} over the training rows",
            column=term.column,
        )
    own = own_name(ground, name, term.column)
    j = ground.index.find(own)
    body = f"{term.function}({quote_name(own)})"
    if ground.values is None:
        raise RowsNeeded(
            f"{body} is learnt from the training rows, which are not known here: give the "
            "rows, or write the number",
            column=term.column,
        )
    if term.function == "z":
        return _z_score(ground, term, own, j)
    value = ground.values.figure(term.function, j)
    if not math.isfinite(value):
        raise rule_error(f"{own} has no values to learn from: leave it out", column=term.column)
    ground.remarks.append(f"{body} is {number(value)} on the training rows")
    return [Term(term.coefficient * value, column=term.column)]


def _z_score(ground: Ground, term: Term, name: str, j: int) -> list[Term]:
    assert ground.values is not None
    mean, sd = ground.values.figure("mean", j), ground.values.figure("sd", j)
    if not sd > 0:
        raise rule_error(f"{name} is the same in all rows: it has no z", column=term.column)
    ground.remarks.append(
        f"z({quote_name(name)}) counts from {number(mean)} in steps of {number(sd)}, the mean "
        "and sd of the training rows"
    )
    factor = term.coefficient / sd
    return [Term(factor, (name,), column=term.column), Term(-factor * mean)]
