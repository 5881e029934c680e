"""Advice on a rule, as suggestions and never as edits: a better threshold, a worth, its use.

`best_threshold` looks at the data, `holding_threshold` at a classifier, `needed_worth` at the knobs
and `leave_each_out` at whatever score the caller computes without a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from hipad.arrays import BoolArray, FloatArray
from hipad.rules.analysis.box import Box
from hipad.rules.analysis.guarantee import tightest_bound
from hipad.rules.analysis.pull import Pull
from hipad.rules.compiling.compiled import CompiledRule
from hipad.rules.compiling.rows import on_columns, rows_met
from hipad.rules.language.model import Condition, Rule, RuleSet
from hipad.rules.language.terms import Term
from hipad.wording import count

EDGE = 0.05  # share of the rows that a threshold leaves on either side of it


@dataclass(frozen=True)
class Threshold:
    """A rule with another threshold, and what it would do on the data it was found on.

    `gain` is the share of the rule's own class that fires less that of the other class.
    """

    rule: Rule
    number: float
    fires: int
    right: int
    fires_now: int
    right_now: int
    gain: float = 0.0

    def __str__(self) -> str:
        return (
            f"the data support '{self.rule.premise}' best: it fires on "
            f"{count(self.fires, 'row')} and is right on {self.right:,} "
            f"(now {self.fires_now:,} and {self.right_now:,})"
        )


def best_threshold(rule: CompiledRule, X: Any, y: Any, row: int = 0) -> Threshold | None:
    """The threshold of one row that separates the outcomes best, the other rows kept.

    Best is the largest difference between the share of the rule's own class that fires and the
    share of the other class. None if the condition has no single threshold, or if no threshold
    tells the classes apart. A threshold at the edge of the data, with hardly anybody on one of its
    sides, is none. Rows without a value that the rule names say nothing.

    >>> from hipad.rules.compiling.compile import compile_rules
    >>> (rule,) = compile_rules("x0 >= 1 => positive", n_features=1)
    >>> print(best_threshold(rule, [[1.0], [2.0], [5.0], [6.0]], [-1, -1, 1, 1]))
    the data support 'x0 >= 4' best: it fires on 2 rows and is right on 2 (now 4 and 2)
    """
    known = measured_rows(rule, X)
    X = (X if sparse.issparse(X) else np.asarray(X))[known]
    values, others, now = _row_values(rule, X, row)
    agrees = np.asarray(y, dtype=np.float64)[known] == rule.sign
    usable = np.flatnonzero(others & np.isfinite(values))
    order = usable[np.argsort(values[usable], kind="stable")]
    own, other = max(int(agrees.sum()), 1), max(int((~agrees).sum()), 1)
    right = np.cumsum(agrees[order])
    fires = np.arange(1, len(order) + 1)
    ends = np.flatnonzero(np.diff(values[order], append=np.inf) > 0)
    gain = right[ends] / own - (fires[ends] - right[ends]) / other
    least = max(1, round(EDGE * len(order)))
    inside = (fires[ends] >= least) & (len(order) - fires[ends] >= least)
    ends, gain = ends[inside], gain[inside]
    if not len(ends) or gain.max() <= 0:
        return None
    best = int(ends[np.argmax(gain)])
    after = values[order[best + 1]] if best + 1 < len(order) else values[order[best]]
    changed = with_bound(rule, row, float(values[order[best]]), float(after))
    if changed is None:
        return None
    counts = int(fires[best]), int(right[best]), int(now.sum()), int((now & agrees).sum())
    return Threshold(*changed, *counts, gain=float(gain.max()))


def measured_rows(rule: CompiledRule, X: Any) -> BoolArray:
    """The rows that have a value of every feature that the rule names."""
    part: Any = (X if sparse.issparse(X) else np.asarray(X))[:, rule.columns]
    values = part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=np.float64)
    return np.asarray(~np.isnan(values).any(axis=1))


def _row_values(rule: CompiledRule, X: Any, row: int) -> tuple[FloatArray, BoolArray, BoolArray]:
    """B_row x for every x, whether x meets all the other rows, and whether it meets all."""
    X = X if sparse.issparse(X) else np.asarray(X)
    part = X[:, rule.columns]
    named = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64).T
    B = on_columns(rule.B, rule.columns)
    met = np.asarray(rows_met(B, rule.d, named))
    values = B[[row]].toarray()[0] @ named
    others = np.asarray(np.delete(met, row, axis=0).all(axis=0))
    return values, others, np.asarray(met.all(axis=0))


def holding_threshold(
    rule: CompiledRule, w: FloatArray, b: float, lo: Any, hi: Any, *, row: int = 0
) -> Rule | None:
    """The rule with the loosest threshold for which it holds everywhere in the box, or None."""
    bound = tightest_bound(rule.B, rule.d, rule.sign, w, b, lo, hi, row=row)
    if bound is None or not np.isfinite(bound):
        return None
    start, end = rule.B.indptr[row : row + 2]
    lows, highs = Box(lo, hi).ends(rule.B.indices[start:end])
    values = rule.B.data[start:end]
    lowest = float(np.where(values > 0, lows, highs) @ values)
    changed = with_bound(rule, row, bound - 1e-3 * (bound - lowest), bound)
    return changed[0] if changed else None


def with_bound(
    rule: CompiledRule, row: int, least: float, most: float
) -> tuple[Rule, float] | None:
    """The rule with the shortest number whose bound is at least `least` and below `most`.

    None if the row's condition does not compare with one number.
    """
    position = _condition_of(rule, row)
    if position is None:
        return None
    condition = _in_data_units(rule)[position]
    side, factor = _number_side(condition) or (None, 0.0)
    if side is None:
        return None
    now = condition.sides[side][0].coefficient
    ends = sorted(now + factor * (bound - float(rule.d[row])) for bound in (least, most))
    number = short_number(*ends, from_low=factor > 0)
    sides = tuple((Term(number),) if i == side else s for i, s in enumerate(condition.sides))
    conditions = list(rule.rule.conditions)
    conditions[position] = replace(condition, sides=sides)
    return replace(rule.rule, conditions=tuple(conditions)), number


def _condition_of(rule: CompiledRule, row: int) -> int | None:
    """Which condition the row comes from, if it gives no other row."""
    source = rule.sources[row]
    if rule.sources.count(source) > 1:
        return None
    texts = [str(condition) for condition in _in_data_units(rule)]
    return texts.index(source) if source in texts else None


def _in_data_units(rule: CompiledRule) -> list[Condition]:
    """The conditions as written, but those with a unit as they were settled: in the data's."""
    written = rule.rule.conditions
    if len(rule.settled) != len(written):
        return list(written)
    return [
        done if any(term.unit for side in own.sides for term in side) else own
        for own, done in zip(written, rule.settled, strict=True)
    ]


def _number_side(condition: Condition) -> tuple[int, float] | None:
    """The side that is one number, and whether it rises (1) or falls (-1) with the row's bound."""
    if len(condition.sides) != 2 or condition.relations == ("=",):
        return None
    below = condition.relations[0][0] == "<"
    for side, factor in ((1, 1.0 if below else -1.0), (0, -1.0 if below else 1.0)):
        terms = condition.sides[side]
        if len(terms) == 1 and terms[0].is_number:
            return side, factor
    return None


def short_number(low: float, high: float, *, from_low: bool) -> float:
    """The number of fewest digits in [low, high), or in (low, high] unless `from_low`.

    >>> short_number(2.0, 5.0, from_low=False), short_number(0.1234, 0.1237, from_low=True)
    (4.0, 0.1235)
    """
    if not high > low:
        return low
    middle = (low + high) / 2
    for digits in range(1, 17):
        number = float(f"{middle:.{digits}g}")
        if low < number < high:
            return number
    return low if from_low else high


def needed_worth(pull: Pull, n_samples: float) -> float:
    """The worth, in patients, above which a feature of the rule can enter; inf if never."""
    return pull.sigma_needed * n_samples


@dataclass(frozen=True)
class LeftOut:
    """What a score is with all rules, and without one of them."""

    label: str
    with_rule: float
    without_rule: float

    @property
    def gain(self) -> float:
        """What the rule adds; below zero it does harm."""
        return self.with_rule - self.without_rule

    def __str__(self) -> str:
        return f"without {self.label}: {self.without_rule:.3f}, with it: {self.with_rule:.3f}"


def leave_each_out(rules: RuleSet, score: Callable[[RuleSet], float]) -> Iterator[LeftOut]:
    """Score the rules, then again with each one switched off, one after another.

    >>> from hipad.rules.language.parsing import parse_rules
    >>> rules = parse_rules("a: x0 >= 1 => yes\\nb: x1 >= 1 => yes")
    >>> [str(left) for left in leave_each_out(rules, lambda some: 0.5 + 0.2 * some[0].enabled)]
    ['without a: 0.500, with it: 0.700', 'without b: 0.700, with it: 0.700']
    """
    whole = score(rules)
    for position, (label, rule) in enumerate(zip(rules.labels, rules, strict=True)):
        if rule.enabled:
            yield LeftOut(label, whole, score(rules.without(position)))
