"""Numbers that only the training rows tell: p90(x) and z(x)."""

from __future__ import annotations

import math

from hipad.rules.compiling.settling.ground import Ground, RowsNeeded, own_name
from hipad.rules.language.spelling import quote_name, rule_error
from hipad.rules.language.terms import Term
from hipad.wording import number


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
