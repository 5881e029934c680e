"""What a rule means, in plain words, as the program has understood it."""

from __future__ import annotations

from typing import Final

from hipad.rules import CompiledRule, Condition, Term
from hipad.rules.language.spelling import format_number, patients_text
from hipad.wording import count
from ui.dataset import Dataset

RELATIONS: Final = {
    ">=": "at least",
    "<=": "at most",
    ">": "above",
    "<": "below",
    "=": "exactly",
}
FORMS: Final = ("compare", "between", "count")  # those that are put in words; others speak so
KINDS: Final = {"mean": "mean of", "sum": "sum of", "min": "every one of", "max": "every one of"}


def meaning(compiled: CompiledRule, data: Dataset) -> str:
    """The rule in words: "mean of ABL1, 3 features, at least 9.5, says BCR/ABL"."""
    rule = compiled.rule
    premise = "; and ".join(_condition(each, data) for each in rule.conditions)
    outcome = data.classes[1] if compiled.sign > 0 else data.classes[0]
    worth = "" if rule.worth is None else f", worth {patients_text(rule.worth)}"
    off = "" if rule.enabled else "switched off: "
    return f"{off}{premise}, says {outcome}{worth}"


def _condition(condition: Condition, data: Dataset) -> str:
    if condition.form not in FORMS or not set(condition.relations) <= set(RELATIONS):
        return str(condition)
    sides = [_side(side, data) for side in condition.sides]
    if condition.form == "count":
        relation = RELATIONS[condition.relations[0]]
        names = ", ".join(map(str, condition.sides[0][0].names))
        return f"{relation} {sides[1]} of {names}"
    if len(sides) == 3:
        low, high = (sides[0], sides[2]) if "<" in condition.relations[0] else (sides[2], sides[0])
        return f"{sides[1]} between {low} and {high}"
    return f"{sides[0]} {RELATIONS[condition.relations[0]]} {sides[1]}"


def _side(side: tuple[Term, ...], data: Dataset) -> str:
    return " plus ".join(_term(term, data) for term in side).replace("plus minus", "minus")


def _term(term: Term, data: Dataset) -> str:
    if term.is_number:
        return format_number(term.coefficient)
    factor = {1.0: "", -1.0: "minus "}.get(term.coefficient)
    times = f"{format_number(term.coefficient)} times " if factor is None else factor
    names = ", ".join(map(str, term.names))
    if not term.function:
        return f"{times}{names}"
    sizes = [len(data.blocks[name]) for name in term.names if name in data.blocks]
    size = f", {count(sum(sizes), 'feature')}," if len(sizes) == len(term.names) else ""
    return f"{times}{KINDS.get(term.function, f'{term.function} of')} {names}{size}"
