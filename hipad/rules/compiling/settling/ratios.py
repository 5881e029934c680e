"""Ratios over a feature that is above 0: multiplied out, so that the condition is linear."""

from __future__ import annotations

from hipad.errors import RuleError
from hipad.rules.compiling.settling.ground import Ground, RowsNeeded, place_of
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import quote_name, rule_error
from hipad.rules.language.terms import RATIO, Side, Term, side_text
from hipad.wording import number


def multiplied_out(
    ground: Ground, sides: tuple[Side, ...], condition: Condition
) -> tuple[Side, ...]:
    """Ratios over one feature that is above 0, multiplied by it."""
    terms = [term for side in sides for term in side]
    below = {term.names[1] for term in terms if term.function == RATIO}
    if len(below) > 1 or any(t.names and t.function != RATIO for t in terms):
        raise rule_error(
            f"'{condition}' is not linear: write a ratio against a number only, as in a/b >= 2",
            column=place_of(condition),
        )
    (name,) = below
    if not isinstance(name, str):
        raise rule_error("name one feature below the line", column=place_of(condition))
    _check_above_zero(ground, name, condition, sides)

    def multiplied(side: Side) -> Side:
        return tuple(
            Term(t.coefficient, t.names[:1] if t.function == RATIO else (name,), column=t.column)
            for t in side
            if t.coefficient or len(side) == 1
        )

    return tuple(map(multiplied, sides))


def _check_above_zero(
    ground: Ground, name: str, condition: Condition, sides: tuple[Side, ...]
) -> None:
    low = None if ground.values is None else ground.values.lowest(ground.index.find(name))
    quoted = quote_name(name)
    if low is None or not low > 0:
        why = "is not known" if low is None else f"goes down to {number(low)}"
        failure = RowsNeeded if low is None else RuleError
        raise failure(
            f"'{condition}' can be multiplied out only where {quoted} is above 0, and its "
            f"range {why}: write {_products(sides, quoted)} if it is, or add the ratio to "
            "the data as a feature of its own",
            column=place_of(condition),
        )
    ground.remarks.append(
        f"{quoted} is above 0 in the training rows, so the ratio is multiplied out"
    )


def _products(sides: tuple[Side, ...], name: str) -> str:
    texts = []
    for side in sides:
        upper = side_text([t if t.function != RATIO else Term(t.coefficient, t.names[:1])
                           for t in side])  # fmt: skip
        texts.append(f"{upper}*{name}" if not any(t.names for t in side) else upper)
    return f"{texts[0]} >= {texts[1]}"
