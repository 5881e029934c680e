"""Arithmetic with sides that were read: their value, a multiple of them, one over another."""

from __future__ import annotations

from hipad.rules.language.spelling import LARGEST, rule_error
from hipad.rules.language.terms import RATIO, Side, Term
from hipad.rules.language.words.lexing import Word


def constant(side: Side) -> float | None:
    """The value of a side that names no feature, else None."""
    return sum(t.coefficient for t in side) if all(t.is_number for t in side) else None


def times(side: Side, factor: float) -> Side:
    """The side with every coefficient multiplied."""
    return tuple(Term(t.coefficient * factor, t.names, t.function, t.column, t.unit) for t in side)


def in_range(value: float, sign: Word) -> float:
    """The value, if a rule can hold it: 0, or neither too large nor too small."""
    if value and not 1 / LARGEST <= abs(value) <= LARGEST:
        raise rule_error(
            f"a number in a rule must be 0 or between {1 / LARGEST:g} and {LARGEST:g} in size, "
            f"got {value:g}: write it in another unit",
            column=sign.column,
        )
    return value


def ratio_of(side: Side, divisor: Side, sign: Word) -> Side:
    """Each term of a side over one feature; RuleError for anything else."""
    plain = all(t.names and not t.function for t in side)
    below = divisor[0]
    if plain and len(divisor) == 1 and not below.function and below.coefficient:
        over = below.names[0]
        return tuple(
            Term(t.coefficient / below.coefficient, (t.names[0], over), RATIO, t.column)
            for t in side
        )
    raise rule_error(
        "only features over one feature can be read as a ratio: multiply the condition out where "
        "what stands below is above 0, as in a >= 2*(b + c) in place of a/(b + c) >= 2, or add the "
        "ratio to the data as a feature of its own",
        column=sign.column,
    )
