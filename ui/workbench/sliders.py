"""Sliders for the thresholds and weights of rules: ranges, histograms, and what they write.

A slider moves one number of the rules' text, in the unit that is written there. The range of a
threshold is that of its expression on the training patients, and some room beyond; under it lies
the histogram of the expression by class.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor, log10
from threading import Lock
from typing import Final

import numpy as np
from scipy.sparse import issparse

from hipad.estimator.problem_factory import default_weight
from hipad.exceptions import HipadError
from hipad.rules import (
    CompiledRule,
    Condition,
    Rule,
    RuleSet,
    Term,
    compile_rules,
    read_rules,
)
from hipad.rules.ast import side_text
from hipad.rules.compiled_rule import on_columns
from hipad.utils import FloatArray
from ui.dataset import Dataset
from ui.models import Request, TrainedModel
from ui.rules.rule_text import Reader, with_rule
from ui.settings import Amount

MARGIN: Final = 0.25  # beyond the values seen, as a share of their range
STEPS: Final = 100  # a slider has about so many
BINS: Final = 50  # of a histogram: two steps of the slider each

Value = float | tuple[float, float]


@dataclass
class Tuning:
    """The rules as the sliders have them, and the model last fitted to them."""

    base: str = ""  # the text that the sliders began with
    draft: str = ""  # the text with their values
    turn: int = 0  # grows whenever the sliders must be drawn anew
    model: TrainedModel | None = None  # fitted last, from which the next fit starts
    seconds: float = 0.0  # of processor time that fit took
    live_seconds: float = 0.0  # that the last fit without folds took
    shown: str = ""  # a kept model to look at in place of the sliders'
    seen: dict[str, object] | None = None  # the last move that came from the view in the browser
    moved: Counter[str] = field(default_factory=Counter)  # how often the view moved each slider
    _fitted: Request | None = field(default=None, repr=False)
    _fitting: Lock = field(default_factory=Lock, repr=False, compare=False)

    def fit(self, request: Request, reference: TrainedModel) -> TrainedModel:
        """Return the model of a request, fitted from the last one unless that is the one."""
        model = self._fit(request, reference, may_choose=True)
        assert model is not None
        return model

    def fit_without_folds(self, request: Request, reference: TrainedModel) -> TrainedModel | None:
        """Return the same, or None where values would have to be chosen by folds."""
        return self._fit(request, reference, may_choose=False)

    def _fit(
        self, request: Request, reference: TrainedModel, *, may_choose: bool
    ) -> TrainedModel | None:
        """Fit under a lock.

        The page and a slider that is being dragged may ask at the same time: one waits.
        """
        with self._fitting:
            if self.model is None or not self.is_fitted(request):
                begun = time.thread_time()
                run = request.start(self.model or reference, quick=True)
                for record in run:
                    if record.phase == 0 and not may_choose:
                        return None
                self.model = request.model(run.finish())
                self.seconds = time.thread_time() - begun
                if not may_choose:
                    self.live_seconds = self.seconds
                self._fitted = request
            return self.model

    def is_fitted(self, request: Request) -> bool:
        """Whether the last model is that of this request."""
        return self._fitted is not None and fit_key(self._fitted) == fit_key(request)


def fit_key(request: Request) -> tuple[object, ...]:
    """Return what a fit depends on."""
    return request.data, request.rules, dict(request.blocks), request.settings, request.trust


@dataclass(frozen=True, eq=False)
class ThresholdSlider:
    """The number (or both ends of a range) in one condition of one rule."""

    position: int
    condition: int
    sides: tuple[int, ...]  # which sides of the condition are the numbers
    label: str
    low: float
    high: float
    step: float
    stops: tuple[float, ...] = ()  # both values of a binary feature; else every step is one
    seen: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)  # per patient

    @property
    def name(self) -> str:
        return f"threshold_{self.position}_{self.condition}"

    def value(self, rules: RuleSet) -> Value:
        """Return where the slider stands."""
        sides = rules[self.position].conditions[self.condition].sides
        numbers = [min(max(sides[i][0].coefficient, self.low), self.high) for i in self.sides]
        return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])

    def write(self, text: str, value: Value, read: Reader = read_rules) -> str:
        """Return the rules' text with this value."""
        rule = read(text).rules[self.position]
        conditions = list(rule.conditions)
        sides = list(conditions[self.condition].sides)
        for i, number in zip(self.sides, np.atleast_1d(value), strict=True):
            now = tidy(float(number), self.step)
            if self.stops:
                now = self.stops[int(np.argmin(np.abs(np.subtract(self.stops, number))))]
            sides[i] = (Term(now, unit=sides[i][0].unit),)
        conditions[self.condition] = replace(conditions[self.condition], sides=tuple(sides))
        return with_rule(text, self.position, replace(rule, conditions=tuple(conditions)), read)

    @cached_property
    def bins(self) -> np.ndarray:
        """The bin of each training patient in the histogram over the range."""
        share = (self.seen - self.low) / (self.high - self.low)
        return np.clip((BINS * share).astype(int), 0, BINS - 1)

    def histogram(self, positive: np.ndarray) -> list[list[int]]:
        """Count training patients by bin: the negative class, then the positive one."""
        if not self.seen.size:
            return []
        return [
            np.bincount(self.bins[own], minlength=BINS).tolist() for own in (~positive, positive)
        ]


def threshold_sliders(text: str, data: Dataset, page: range | None = None) -> list[ThresholdSlider]:
    """Return a slider for every number of these rules that has one, or of those on one page."""
    rules = data.read(text).rules
    return [
        _threshold_slider(rules, position, n, sides, data)
        for position in page or range(len(rules))
        for n, condition in enumerate(rules[position].conditions)
        if (sides := number_sides(condition))
    ]


def number_sides(condition: Condition) -> tuple[int, ...]:
    """Return the sides that are one number: one of two, or the outer ones of three; else none.

    Both ends of a range have to be in the same unit.
    """
    numbers = [len(side) == 1 and side[0].is_number for side in condition.sides]
    if len(numbers) == 3:
        rising = set(condition.relations) <= {"<=", "<"}
        fits = rising and numbers == [True, False, True]
        return (0, 2) if fits and condition.sides[0][0].unit == condition.sides[2][0].unit else ()
    return (numbers.index(True),) if sum(numbers) == 1 else ()


def _threshold_slider(
    rules: RuleSet, position: int, n: int, sides: tuple[int, ...], data: Dataset
) -> ThresholdSlider:
    condition = rules[position].conditions[n]
    (middle,) = [i for i in range(len(condition.sides)) if i not in sides]
    # `expression >= number` or `number <= expression`: the expression must be large
    at_least = (condition.relations[0][0] == "<") == (middle == 1)
    words = "at least" if at_least else "at most"
    if len(sides) == 2 or condition.relations[0] == "=":
        words = "between" if len(sides) == 2 else "equal to"
    now = [condition.sides[i][0].coefficient for i in sides]
    unit = condition.sides[sides[0]][0].unit
    values = _values(rules, position, condition.sides[middle], at_least, data, unit)
    # of several rows, as of min(block), the one that decides
    seen = (values.min(axis=0) if at_least else values.max(axis=0)) if values.size else values[:0]
    stops = tuple(np.unique(values).tolist()) if values.size else ()
    if len(stops) == 2 and len(sides) == 1 and set(now) <= set(stops):
        low, high, step = *stops, stops[1] - stops[0]
    else:
        low, high = min([*now, *stops]), max([*now, *stops])
        margin = MARGIN * (high - low) or max(abs(low), 1.0)
        step = round_step((high - low + 2 * margin) / STEPS)
        low, high = (
            tidy(floor((low - margin) / step) * step, step),
            tidy(ceil((high + margin) / step) * step, step),
        )
        stops = ()
    expression = side_text(condition.sides[middle]).replace("`", "")
    label = f"{expression} {words}{f', in {unit}' if unit else ''}"
    return ThresholdSlider(position, n, sides, label, low, high, step, stops, seen.ravel())


def _values(
    rules: RuleSet,
    position: int,
    expression: tuple[Term, ...],
    at_least: bool,
    data: Dataset,
    unit: str = "",
) -> FloatArray:
    """Return what an expression takes on the training patients, a row for each row of the rule.

    In a unit that is written, which is found by what the numbers 0 and 1 in it are compiled to.
    """
    try:
        compiled = _compared(rules[position], expression, at_least, data, Term(0.0, unit=unit))
        one = _compared(rules[position], expression, at_least, data, Term(1.0, unit=unit))
    except HipadError:
        return np.zeros((0, 0))
    size = np.abs(one.d - compiled.d)[:, None]  # of one unit, in the unit of the data
    if not np.all(size):
        return np.zeros((0, 0))
    named = data.X_train[:, compiled.columns]
    named = named.toarray() if issparse(named) else named
    # B x - d is the expression, or its opposite
    found = on_columns(compiled.B, compiled.columns) @ named.T - compiled.d[:, None]
    return np.asarray(-found if at_least else found, dtype=float) / size


def _compared(
    rule: Rule, expression: tuple[Term, ...], at_least: bool, data: Dataset, with_number: Term
) -> CompiledRule:
    """Return the rule whose only condition compares the expression with a number."""
    condition = Condition((expression, (with_number,)), (">=" if at_least else "<=",))
    (compiled,) = compile_rules(
        [replace(rule, conditions=(condition,), enabled=True)],
        feature_names=data.index,
        blocks=data.blocks,
        classes=data.classes,
        positive_chosen=True,
        values=data.values,
        asks=False,
    )
    return compiled


@dataclass(frozen=True)
class WeightSlider:
    """For how many patients one rule counts."""

    position: int
    high: float
    step: float
    low: float = 0.0
    label: str = "weight (patients)"

    @property
    def name(self) -> str:
        return f"worth_{self.position}"

    def value(
        self, rules: RuleSet, usual: Amount, n_patients: int, learnt: float | None = None
    ) -> float:
        """Return the weight that is written, was learnt, or is given by the settings."""
        own = rules[self.position].worth
        if own is None and learnt is not None:
            own = float(f"{learnt:.2g}")
        return min(default_weight(usual, n_patients) if own is None else own, self.high)

    def write(self, text: str, value: float, read: Reader = read_rules) -> str:
        """Return the rules' text with this weight."""
        rule = read(text).rules[self.position]
        return with_rule(text, self.position, replace(rule, worth=tidy(value, self.step)), read)


Slider = ThresholdSlider | WeightSlider


def weight_sliders(text: str, n_patients: int, read: Reader = read_rules) -> list[WeightSlider]:
    """Return a slider per rule, from nothing to all patients or twice the weight it has."""
    usual = max(n_patients, default_weight("auto", n_patients))
    highs = [max(usual, 2 * (rule.worth or 0.0)) for rule in read(text).rules]
    return [
        WeightSlider(position, float(high), round_step(high / STEPS))
        for position, high in enumerate(highs)
    ]


def without_weight(text: str, position: int, read: Reader = read_rules) -> str:
    """Return the rules' text with the weight of one rule taken away, so that it is learnt."""
    return with_rule(text, position, replace(read(text).rules[position], worth=None), read)


def switched(text: str, position: int, on: bool, read: Reader = read_rules) -> str:
    """Return the rules' text with one rule switched on or off."""
    return with_rule(text, position, replace(read(text).rules[position], enabled=on), read)


def round_step(size: float) -> float:
    """Return the largest of 1, 2, 5, 10, 20, ... (or 0.5, 0.2, 0.1, ...) not above `size`.

    >>> round_step(0.037), round_step(7.3), round_step(1.0)
    (0.02, 5.0, 1.0)
    """
    if not size > 0:
        return 1.0
    power = floor(log10(size))
    factor = next(f for f in (5, 2, 1) if f * 10.0**power <= size * (1 + 1e-9))
    return float(f"{factor}e{power}")


def tidy(value: float, step: float) -> float:
    """Return a value without the digits that its step does not have.

    >>> tidy(0.30000000000000004, 0.1)
    0.3
    """
    return round(value, max(0, -floor(log10(step)) + 1)) + 0.0
