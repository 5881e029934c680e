"""A compiled rule in plain words: what must hold, and what it then says."""

from __future__ import annotations

from typing import Final

from hipad.rules.compiling.compiled import CompiledRule
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import patients_text, quote_label
from hipad.rules.language.terms import FeatureSpan, Name, Side, Term
from hipad.wording import count, listed, number

_SIGNS: Final = {
    ">=": "at least",
    "<=": "at most",
    ">": "above",
    "<": "below",
    "=": "exactly",
}
_FUNCTIONS: Final = {"mean": "mean", "sum": "sum", "min": "every one", "max": "every one"}
_SHOWN: Final = 4  # names that are listed


def meaning(rule: CompiledRule) -> str:
    """What a rule says, as a sentence for somebody who does not know the rule language.

    >>> from hipad.rules.compiling.compile import compile_rules
    >>> (rule,) = compile_rules("mean(K) >= 9.5 => yes", n_features=9, blocks={"K": [1, 2, 3]},
    ...                         classes=("no", "yes"))
    >>> meaning(rule)
    'mean of K, 3 features, at least 9.5, says yes'
    """
    conditions = rule.settled or rule.rule.conditions
    premise = " and ".join(_condition(each, rule) for each in conditions)
    worth = "" if rule.rule.worth is None else f", worth {patients_text(rule.rule.worth)}"
    return f"{premise}, says {quote_label(rule.outcome or rule.rule.outcome)}{worth}"


def _condition(condition: Condition, rule: CompiledRule) -> str:
    if condition.form == "count":
        counted, wanted = condition.sides[0][0], condition.sides[1][0].coefficient
        return (
            f"{_SIGNS[condition.relations[0]]} {number(wanted)} of {_names(counted.names)} being 1"
        )
    if len(condition.sides) == 3:
        return _range(condition, rule)
    left, right, relation = *condition.sides, condition.relations[0]
    if not any(term.names for term in left):
        left, right = right, left
        relation = relation.translate(str.maketrans("<>", "><"))
    if _is_flag(left, right, rule):
        return f"{_side(left, rule)} {'holds' if relation == '>=' else 'does not hold'}"
    return f"{_side(left, rule)} {_SIGNS[relation]} {_side(right, rule)}"


def _range(condition: Condition, rule: CompiledRule) -> str:
    low, middle, high = condition.sides
    first, second = condition.relations
    if first[0] == ">":
        low, high, first, second = high, low, second.replace(">", "<"), first.replace(">", "<")
    if (first, second) == ("<=", "<="):
        return f"{_side(middle, rule)} from {_side(low, rule)} to {_side(high, rule)}"
    under = _SIGNS[first.replace("<", ">")]
    return (
        f"{_side(middle, rule)} {under} {_side(low, rule)} and {_SIGNS[second]} {_side(high, rule)}"
    )


def _is_flag(left: Side, right: Side, rule: CompiledRule) -> bool:
    """A one-hot column or a name that stood alone, compared with 0 or 1."""
    alone = len(left) == 1 and left[0].coefficient == 1 and not left[0].function
    plain = len(right) == 1 and right[0].is_number and right[0].coefficient in (0.0, 1.0)
    one_hot = alone and bool(left[0].names) and "=" in str(left[0].names[0])
    return one_hot and plain


def _side(side: Side, rule: CompiledRule) -> str:
    text = ""
    for term in side:
        size = _term(term, rule)
        if not text:
            text = f"minus {size}" if term.coefficient < 0 else size
        else:
            text += f" {'minus' if term.coefficient < 0 else 'plus'} {size}"
    return text


def _term(term: Term, rule: CompiledRule) -> str:
    """A term without its sign."""
    size = abs(term.coefficient)
    if term.is_number:
        return term.converted.removeprefix("-") or f"{size:.6g}"
    times = "" if size == 1 else f"{size:.6g} times "
    if not term.function:
        return times + str(term.names[0])
    columns = _n_columns(term, rule)
    many = f", {count(columns, 'feature')}," if columns else ""
    return f"{times}{_FUNCTIONS[term.function]} of {_names(term.names)}{many}"


def _n_columns(term: Term, rule: CompiledRule) -> int:
    """How many features a group has, where that is not seen from its names."""
    if rule.features is None or all(
        isinstance(n, str) and rule.features.position(n) is not None for n in term.names
    ):
        return 0
    return len(rule.columns) if _only_group(rule) else 0


def _only_group(rule: CompiledRule) -> bool:
    conditions = rule.settled or rule.rule.conditions
    terms = [t for c in conditions for side in c.sides for t in side if t.names]
    return len(terms) == 1


def _names(names: tuple[Name, ...]) -> str:
    shown = [f"{n.first} to {n.last}" if isinstance(n, FeatureSpan) else n for n in names]
    return listed(shown, limit=_SHOWN)
