"""Thresholds and worths of rules as dials: where they stand, how far they turn, and turning them.

A dial moves one number of the rules' text. Its range is what the condition's expression takes on
the training patients, and some room beyond.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, log10
from typing import Final

import numpy as np
from scipy.sparse import issparse

from hipad.estimator.problem_factory import default_weight
from hipad.exceptions import HipadError
from hipad.rules import Condition, Rule, RuleSet, Term, compile_rules, read_rules
from hipad.rules.ast import side_text
from hipad.rules.compiled_rule import on_columns
from ui.dataset import Dataset
from ui.rules.rule_text import Reader, with_rule
from ui.settings import Amount

ROOM: Final = 0.25  # beyond the values seen, as a share of their range
STEPS: Final = 100  # a dial has about so many

Value = float | tuple[float, float]


@dataclass(frozen=True)
class Dial:
    """The number (or both ends of a range) in one condition of one rule."""

    position: int
    condition: int
    sides: tuple[int, ...]  # which sides of the condition are the numbers
    label: str
    low: float
    high: float
    step: float

    def value(self, rules: RuleSet) -> Value:
        """Where the dial stands."""
        sides = rules[self.position].conditions[self.condition].sides
        numbers = [min(max(sides[i][0].coefficient, self.low), self.high) for i in self.sides]
        return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])

    def turned(self, text: str, value: Value, read: Reader = read_rules) -> str:
        """The rules' text with the dial at this value."""
        rule = read(text).rules[self.position]
        condition = rule.conditions[self.condition]
        sides = list(condition.sides)
        for i, number in zip(self.sides, np.atleast_1d(value), strict=True):
            sides[i] = (Term(tidy(float(number), self.step)),)
        conditions = list(rule.conditions)
        conditions[self.condition] = replace(condition, sides=tuple(sides))
        changed = replace(rule, conditions=tuple(conditions))
        return with_rule(text, self.position, changed, read)


def dials_of(text: str, data: Dataset, page: range | None = None) -> list[Dial]:
    """Every number of these rules that a dial can move, or of those on one page."""
    found = []
    rules = data.read(text).rules
    for position in page or range(len(rules)):
        rule = rules[position]
        for n, condition in enumerate(rule.conditions):
            sides = number_sides(condition)
            if sides:
                found.append(_dial(rule, position, n, sides, data))
    return found


def number_sides(condition: Condition) -> tuple[int, ...]:
    """The sides that are one number: one of two, or the outer ones of three; else none."""
    numbers = [len(side) == 1 and side[0].is_number for side in condition.sides]
    if len(numbers) == 3:
        rising = set(condition.relations) <= {"<=", "<"}
        return (0, 2) if rising and numbers == [True, False, True] else ()
    return (numbers.index(True),) if sum(numbers) == 1 else ()


def _dial(rule: Rule, position: int, n: int, sides: tuple[int, ...], data: Dataset) -> Dial:
    condition = rule.conditions[n]
    (middle,) = [i for i in range(len(condition.sides)) if i not in sides]
    expression = condition.sides[middle]
    now = [condition.sides[i][0].coefficient for i in sides]
    seen = _values_seen(expression, _at_least(condition, middle), rule, data)
    low, high = min([*now, *seen]), max([*now, *seen])
    room = ROOM * (high - low) or max(abs(low), 1.0)
    step = round_step((high - low + 2 * room) / STEPS)
    low, high = floor((low - room) / step) * step, ceil((high + room) / step) * step
    words = "between" if len(sides) == 2 else _words(condition, middle)
    label = f"{side_text(expression)} {words}"
    return Dial(position, n, sides, label, tidy(low, step), tidy(high, step), step)


def _at_least(condition: Condition, middle: int) -> bool:
    """Whether the expression must be large: `expression >= number` or `number <= expression`."""
    relation = condition.relations[0]
    return relation[0] == "<" if middle == 1 else relation[0] != "<"


def _words(condition: Condition, middle: int) -> str:
    if condition.relations[0] == "=":
        return "equal to"
    return "at least" if _at_least(condition, middle) else "at most"


def _values_seen(
    expression: tuple[Term, ...], at_least: bool, rule: Rule, data: Dataset
) -> list[float]:
    """The ends of what the expression takes on the training patients."""
    relation = ">=" if at_least else "<="
    probe = replace(rule, conditions=(Condition((expression, (Term(0.0),)), (relation,)),))
    try:
        (compiled,) = compile_rules(
            [replace(probe, enabled=True)],
            feature_names=data.index,
            blocks=data.blocks,
            classes=data.classes,
            positive_chosen=True,
            values=data.values,
        )
    except HipadError:
        return []
    sign = -1.0 if at_least else 1.0  # B x - d is the expression, or its opposite
    named = data.X_train[:, compiled.columns]
    named = named.toarray() if issparse(named) else named
    values = sign * (on_columns(compiled.B, compiled.columns) @ named.T - compiled.d[:, None])
    return [float(values.min()), float(values.max())] if values.size else []


@dataclass(frozen=True)
class WorthDial:
    """What one rule counts for, in patients."""

    position: int
    high: float
    step: float
    low: float = 0.0
    label: str = "weight (patients)"

    def value(
        self, rules: RuleSet, usual: Amount, n_patients: int, learnt: float | None = None
    ) -> float:
        """Its own worth, what was learnt, or what the settings give it."""
        own = rules[self.position].worth
        if own is None and learnt is not None:
            own = float(f"{learnt:.2g}")
        return min(default_weight(usual, n_patients) if own is None else own, self.high)

    def turned(self, text: str, value: float, read: Reader = read_rules) -> str:
        """The rules' text with this worth."""
        rule = read(text).rules[self.position]
        return with_rule(text, self.position, replace(rule, worth=tidy(value, self.step)), read)


def left_open(text: str, position: int, read: Reader = read_rules) -> str:
    """The rules' text with the weight of one rule taken away."""
    return with_rule(text, position, replace(read(text).rules[position], worth=None), read)


def worth_dials(text: str, n_patients: int, read: Reader = read_rules) -> list[WorthDial]:
    """One dial per rule, from nothing to all patients (or more, where its worth is more)."""
    usual = max(n_patients, default_weight("auto", n_patients))
    highs = [max(usual, 2 * (rule.worth or 0.0)) for rule in read(text).rules]
    return [
        WorthDial(position, float(high), round_step(high / STEPS))
        for position, high in enumerate(highs)
    ]


def switched(text: str, position: int, on: bool, read: Reader = read_rules) -> str:
    """The rules' text with one rule switched on or off."""
    return with_rule(text, position, replace(read(text).rules[position], enabled=on), read)


def round_step(size: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... (or 0.5, 0.2, 0.1, ...) that is not above `size`.

    >>> round_step(0.037), round_step(7.3), round_step(1.0)
    (0.02, 5.0, 1.0)
    """
    if not size > 0:
        return 1.0
    power = floor(log10(size))
    factor = next(f for f in (5, 2, 1) if f * 10.0**power <= size * (1 + 1e-9))
    return float(f"{factor}e{power}")


def tidy(value: float, step: float) -> float:
    """A value without the digits that its step does not have.

    >>> tidy(0.30000000000000004, 0.1)
    0.3
    """
    return round(value, max(0, -floor(log10(step)) + 1)) + 0.0
