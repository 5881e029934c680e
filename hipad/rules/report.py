"""Reports on rules: one record per rule, statistics on data, advice, and pictures of B and d."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.data.preprocessing import MissingValues
from hipad.exceptions import DataError
from hipad.rules.ast import Condition, Rule, RuleSet, Term
from hipad.rules.compiled_rule import CompiledRule, on_columns, rows_met
from hipad.rules.guarantees import (
    Box,
    BoxPoint,
    Prototype,
    WorstCase,
    prototype,
    tightest_bound,
    worst_case,
)
from hipad.rules.weights import RuleEvidence, RuleGradient, RuleWeights, weight_advice
from hipad.utils import BoolArray, FloatArray, IntArray, count, html_table, percent, signed

# --------------------------------------------------------------------------------------------------
# Rules on data: how many rows fire, how many are right, where rules overlap and contradict.


@dataclass(frozen=True, eq=False)
class RuleCounts:
    """What one rule does on one set of rows; the arrays hold row numbers.

    `gaps` are rows without a value in a feature that the rule names, of which it does not speak;
    those of them that meet every condition which can be read are `undecided`.
    """

    label: str
    n_rows: int
    fired: IntArray
    right: IntArray
    wrong: IntArray
    gaps: IntArray
    undecided: IntArray

    @property
    def precision(self) -> float:
        """Share of the firing rows that are right; nan if none fires."""
        return len(self.right) / len(self.fired) if len(self.fired) else float("nan")

    @property
    def numbers(self) -> dict[str, int]:
        """The counts alone."""
        parts = ("fired", "right", "wrong", "gaps", "undecided")
        return {"rows": self.n_rows} | {part: len(getattr(self, part)) for part in parts}

    def __str__(self) -> str:
        if not len(self.fired):
            text = f"fires on none of {count(self.n_rows, 'row')}"
        else:
            text = (
                f"fires on {len(self.fired):,} of {count(self.n_rows, 'row')}, "
                f"right on {len(self.right):,} ({self.precision:.0%})"
            )
        return f"{text}, {self.no_value}" if len(self.gaps) else text

    @property
    def no_value(self) -> str:
        """Of how many rows the rule cannot speak, or nothing where it has all values."""
        if not len(self.gaps):
            return ""
        return f"no value: {len(self.gaps):,} of {self.n_rows:,}"


def rule_counts(rule: CompiledRule, X: Any, y: Any, *, missing: Any = None) -> RuleCounts:
    """Try one rule on rows with outcomes y in {-1, +1}.

    `missing` (`MissingValues`, or marks of the shape of X) are the cells of X that were filled in:
    they are no values, as cells that are nan are none.

    >>> from hipad.rules.compiler import compile_rules
    >>> (rule,) = compile_rules("x0 >= 2 => positive", n_features=1)
    >>> print(rule_counts(rule, [[1], [2], [3]], [-1, 1, -1]))
    fires on 2 of 3 rows, right on 1 (50%)
    """
    X = X if sparse.issparse(X) else np.asarray(X)
    outcomes = np.asarray(y, dtype=np.float64)
    if X.shape[0] != len(outcomes):
        raise DataError(f"expected one outcome per row, got {len(outcomes)} for {X.shape[0]} rows")
    fires = rule.fires(X)
    values = _with_gaps(rule, X, missing)
    gaps = undecided = np.zeros(len(fires), dtype=bool)
    if values is not None:
        gaps, undecided = np.asarray(np.isnan(values).any(axis=1)), _undecided(rule, values)
        fires &= ~gaps
    agrees = outcomes == rule.sign
    rows = (fires, fires & agrees, fires & ~agrees, gaps, undecided)
    return RuleCounts(rule.label, len(fires), *(np.flatnonzero(mask) for mask in rows))


def _with_gaps(rule: CompiledRule, X: Any, missing: Any) -> FloatArray | None:
    """Return the features that the rule names, with nan in their gaps; None where they have
    none.
    """
    named = X[:, rule.columns]
    if isinstance(missing, MissingValues):
        named = missing.put_into(named, rule.columns)
    elif missing is not None:
        marks: Any = (missing if sparse.issparse(missing) else np.asarray(missing))[:, rule.columns]
        cells = MissingValues.of(marks.toarray() if sparse.issparse(marks) else marks)
        named = cells.put_into(named, np.arange(len(rule.columns)))
    if not np.isnan(named.data if sparse.issparse(named) else np.asarray(named)).any():
        return None
    return np.asarray(named.toarray() if sparse.issparse(named) else named, dtype=np.float64)


def _undecided(rule: CompiledRule, values: FloatArray) -> BoolArray:
    """Return rows that would fire if each condition with a missing value were met."""
    found = np.zeros(len(values), dtype=bool)
    rows = np.flatnonzero(np.isnan(values).any(axis=1))
    if len(rows):
        B = on_columns(rule.B, rule.columns)
        unknown = np.isnan(values[rows]).T
        met = rows_met(B, rule.d, np.where(unknown, 0.0, values[rows].T))
        unread = abs(B) @ unknown.astype(np.float64) > 0
        found[rows] = (met | unread).all(axis=0)
    return found


@dataclass(frozen=True, eq=False)
class Overlap:
    """How often rules fire on the same rows, and how often they then contradict each other."""

    labels: tuple[str, ...]
    together: IntArray
    conflict: IntArray
    contested: IntArray
    covered: int


def rule_overlap(
    rules: Sequence[CompiledRule], X: Any, *, gaps: MissingValues | None = None
) -> Overlap:
    """Return counts for every pair of rules; `contested` rows fire for both outcomes."""
    X = X if sparse.issparse(X) else np.asarray(X)
    return overlap_of(rules, [rule.fires(X, gaps) for rule in rules], X.shape[0])


def overlap_of(rules: Sequence[CompiledRule], fired: Sequence[BoolArray], n_rows: int) -> Overlap:
    """Return the overlap of rules of which it is known on which rows each fires."""
    fires = np.array(fired, dtype=bool).reshape(len(rules), n_rows)
    counts = fires.astype(np.float64)  # exact for any number of rows, and fast
    together = (counts @ counts.T).astype(np.int64)
    signs = np.array([rule.sign for rule in rules])
    conflict = np.where(signs[:, None] * signs < 0, together, 0)
    both = fires[signs > 0].any(axis=0) & fires[signs < 0].any(axis=0)
    labels = tuple(rule.label for rule in rules)
    return Overlap(labels, together, conflict, np.flatnonzero(both), int(fires.any(axis=0).sum()))


def rules_alone(
    rules: Sequence[CompiledRule], X: Any, *, gaps: MissingValues | None = None
) -> npt.NDArray[np.float64]:
    r"""Let the rules vote without a classifier.

    Parameters
    ----------
    rules : sequence of CompiledRule
        In the user's units.
    X : array or sparse matrix
        Rows, in the columns that the rules were compiled for.
    gaps : MissingValues, default=None
        Cells of X that were filled: a rule says nothing where it has no value.

    Returns
    -------
    ndarray of shape (n_rows,)
        The sum of the signs of the rules that fire, zero where none does.

    See Also
    --------
    compile_rules : Makes the rules.

    Examples
    --------
    >>> from hipad import compile_rules
    >>> from hipad.rules import rules_alone
    >>> rules = compile_rules("x0 >= 2 => positive\nx0 <= 0 => negative", n_features=1)
    >>> rules_alone(rules, [[3.0], [1.0], [0.0]]).tolist()
    [1.0, 0.0, -1.0]
    """
    X = X if sparse.issparse(X) else np.asarray(X)
    votes = np.zeros(X.shape[0])
    for rule in rules:
        votes += rule.sign * rule.fires(X, gaps)
    return votes


# --------------------------------------------------------------------------------------------------
# Advice on a rule, as suggestions and never as edits: a better threshold, a worth, its use.
#
# `best_threshold` looks at the data, `holding_threshold` at a classifier, `needed_worth` at the
# weights and `leave_each_out` at whatever score the caller computes without a rule.


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
    """Return the threshold of one row that separates the outcomes best, the other rows kept.

    Best is the largest difference between the share of the rule's own class that fires and the
    share of the other class. None if the condition has no single threshold, or if no threshold
    tells the classes apart. A threshold at the edge of the data, with hardly anybody on one of its
    sides, is none. Rows without a value that the rule names say nothing.

    >>> from hipad.rules.compiler import compile_rules
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
    """Return the rows that have a value of every feature that the rule names."""
    part: Any = (X if sparse.issparse(X) else np.asarray(X))[:, rule.columns]
    values = part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=np.float64)
    return np.asarray(~np.isnan(values).any(axis=1))


def _row_values(rule: CompiledRule, X: Any, row: int) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return B_row x for every x, whether x meets all the other rows, and whether it meets all."""
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
    """Return the rule with the loosest threshold for which it holds everywhere in the box,
    or None.
    """
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
    """Return the rule with the shortest number whose bound is at least `least` and below `most`.

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
    """Return which condition the row comes from, if it gives no other row."""
    source = rule.sources[row]
    if rule.sources.count(source) > 1:
        return None
    texts = [str(condition) for condition in _in_data_units(rule)]
    return texts.index(source) if source in texts else None


def _in_data_units(rule: CompiledRule) -> list[Condition]:
    """Return the conditions as written, but those with a unit as they were settled: in the
    data's.
    """
    written = rule.rule.conditions
    if len(rule.settled) != len(written):
        return list(written)
    return [
        done if any(term.unit for side in own.sides for term in side) else own
        for own, done in zip(written, rule.settled, strict=True)
    ]


def _number_side(condition: Condition) -> tuple[int, float] | None:
    """Return the side that is one number, and whether it rises (1) or falls (-1) with the row's
    bound.
    """
    if len(condition.sides) != 2 or condition.relations == ("=",):
        return None
    below = condition.relations[0][0] == "<"
    for side, factor in ((1, 1.0 if below else -1.0), (0, -1.0 if below else 1.0)):
        terms = condition.sides[side]
        if len(terms) == 1 and terms[0].is_number:
            return side, factor
    return None


def short_number(low: float, high: float, *, from_low: bool) -> float:
    """Return the number of fewest digits in [low, high), or in (low, high] unless `from_low`.

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


def needed_worth(gradient: RuleGradient, n_samples: float) -> float:
    """Return the worth, in patients, above which a feature of the rule can enter; inf if never."""
    return gradient.sigma_needed * n_samples


@dataclass(frozen=True)
class RuleAblation:
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


def leave_each_out(rules: RuleSet, score: Callable[[RuleSet], float]) -> Iterator[RuleAblation]:
    """Score the rules, then again with each one switched off, one after another.

    >>> from hipad.rules.parser import parse_rules
    >>> rules = parse_rules("a: x0 >= 1 => yes\\nb: x1 >= 1 => yes")
    >>> [str(left) for left in leave_each_out(rules, lambda some: 0.5 + 0.2 * some[0].enabled)]
    ['without a: 0.500, with it: 0.700', 'without b: 0.700, with it: 0.700']
    """
    whole = score(rules)
    for position, (label, rule) in enumerate(zip(rules.labels, rules, strict=True)):
        if rule.enabled:
            yield RuleAblation(label, whole, score(rules.without(position)))


# --------------------------------------------------------------------------------------------------
# One record per rule: what it does on data, how far it holds, its gradient at zero.
#
# The same records serve the classifier's `rule_report_`, the command line and the app. Everything
# is given as plain arrays; what is not given is left out of the record.


Data = tuple[Any, Any]
"""Rows X in the user's units and their outcomes in {-1, +1}."""

CHANGES: Final = "changes the model"
NOTHING: Final = "adds nothing"
OUTVOTED: Final = "outvoted"
ROUNDING: Final = 1e-9  # relative difference of two margins that is none


@dataclass(frozen=True)
class Effect:
    """What a rule does to a model, by a fit without it at the same settings.

    `changes` says that the fit without it is another model, `covered` and `against` are the weights
    of the training rows that meet the rule and of those that the model decides against it,
    `typical` is the margin of the typical patient who meets it (None if nobody can), and `average`
    that of the average patient, by whom the model says nothing about the rule.

    >>> Effect(changes=False, covered=28.0, against=28.0, typical=-0.7, average=0.1).word
    'outvoted'
    """

    changes: bool
    covered: float
    against: float
    typical: float | None
    average: float

    @property
    def opposed(self) -> bool:
        """True if the model says the opposite about most whom the rule covers, and typically."""
        if self.typical is None or self.typical >= 0:
            return False
        if self.covered:
            return 2 * self.against > self.covered
        return self.typical < self.average - ROUNDING * abs(self.average)

    @property
    def word(self) -> str:
        """One of: changes the model, adds nothing, outvoted."""
        if self.opposed:
            return OUTVOTED
        return CHANGES if self.changes else NOTHING

    def __str__(self) -> str:
        without = "another" if self.changes else "the same"
        if not self.opposed:
            return f"{self.word}: without the rule the model is {without}"
        rows = f"{self.against:.3g} of the {self.covered:.3g} training rows it covers"
        whom = rows if self.covered else "the typical patient who meets it"
        return (
            f"{self.word}: the model decides against it for {whom}; without the rule it is "
            f"{without}"
        )


@dataclass(frozen=True)
class RuleTrust:
    """The probability that a rule belongs into the model: before and after the labelled rows."""

    prior: float
    posterior: float
    rows: float

    def __str__(self) -> str:
        before, after = f"{100 * self.prior:.0f}", f"{100 * self.posterior:.0f}"
        rows = f"the {self.rows:.4g} labelled rows"
        if before == after:
            return f"trust {after} %: {rows} say nothing for or against it"
        verb = "raise" if self.posterior > self.prior else "lower"
        return f"{rows} {verb} the trust in it from {before} to {after} %"


@dataclass(frozen=True)
class RuleRecord:
    """What there is to know of one rule; parts that were not asked for are None.

    `slack` and `residual` are those of the certificate: the rule holds exactly if both are zero.
    Neither says how the rule does on patients: for that read `train`, `test` and `worst`.
    """

    label: str
    text: str
    outcome: str
    sign: float
    remarks: tuple[str, ...]
    train: RuleCounts | None = field(default=None, repr=False)
    test: RuleCounts | None = field(default=None, repr=False)
    prototype: Prototype | None = field(default=None, repr=False)
    worst: WorstCase | None = field(default=None, repr=False)
    holds_from: str | None = None
    slack: float | None = None
    residual: float | None = None
    gradient: RuleGradient | None = None
    effect: Effect | None = None
    trust: RuleTrust | None = None
    written: float | None = None  # its weight in patients, where the text gives one
    weights: RuleWeights | None = field(default=None, repr=False)
    names: Any = field(default=None, repr=False, compare=False)

    @property
    def lines(self) -> list[str]:
        """The record in sentences."""
        found = [f"{part}: {counts}" for part, counts in self._counts() if counts is not None]
        if self.prototype is not None and self.prototype.feasible:
            found.append(f"prototype margin {self.prototype.margin:.3g}")
        if self.worst is not None:
            found.append(self.worst.sentence(self.names))
        if self.holds_from is not None:
            found.append(f"would hold from '{self.holds_from}' on")
        if self.slack is not None and self.residual is not None:
            found.append(f"slack {self.slack:.3g}, residual {self.residual:.3g}")
        if self.effect is not None:
            found.append(str(self.effect))
        if self.trust is not None:
            found.append(str(self.trust))
        if self.written is not None:
            found.append(self.as_written)
        if self.gradient is not None:
            found.append(str(self.gradient))
            found += self._advice(self.gradient)
        if self.evidence is not None and self.evidence.fired:
            found.append(self.evidence.contradiction("it"))
        return found + list(self.remarks)

    @property
    def evidence(self) -> RuleEvidence | None:
        """What the training patients say of the rule."""
        return None if self.weights is None else self.weights.evidence

    @property
    def is_questioned(self) -> bool:
        """Whether a weight is written and the rows that the rule covers speak against it."""
        return self.written is not None and self.evidence is not None and self.evidence.doubtful

    @property
    def as_written(self) -> str:
        """That a written weight is used as it is, and what speaks against that."""
        weight = "" if self.written is None else f"of {self.written:.4g} patients "
        text = f"its weight {weight}is used as written"
        if not self.is_questioned or self.evidence is None:
            return text
        return f"{text}, but {self.evidence.contradiction('it')}: leave it out to have it learnt"

    def _advice(self, gradient: RuleGradient) -> list[str]:
        if gradient.enters or self.weights is None or gradient.limit not in ("worth", "stiffness"):
            return []
        return [f"for a feature of it to enter, {weight_advice(gradient, self.weights)}"]

    def _counts(self) -> list[tuple[str, RuleCounts | None]]:
        return [("training", self.train), ("test", self.test)]

    def __str__(self) -> str:
        return "\n".join([f"{self.label}: {self.text}", *(f"  {line}" for line in self.lines)])

    @property
    def markdown(self) -> str:
        """The record as a heading and a list."""
        return "\n".join([f"**{self.label}** `{self.text}`", "", *(f"- {x}" for x in self.lines)])

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists, as JSON can hold them; infinite numbers become None."""
        record: dict[str, Any] = {
            "label": self.label,
            "text": self.text,
            "outcome": self.outcome,
            "sign": self.sign,
            "remarks": list(self.remarks),
            "holds_from": self.holds_from,
            "slack": self.slack,
            "residual": self.residual,
        }
        for part, counts in (("train", self.train), ("test", self.test)):
            record[part] = None if counts is None else _counts_dict(counts)
        if self.prototype is not None:
            record["prototype_margin"] = _finite(self.prototype.margin)
            record["prototype_patient"] = self._named(self.prototype.patient)
        if self.worst is not None:
            record["worst_case"] = _finite(self.worst.value)
            record["worst_patient"] = self._named(self.worst.patient)
            record["holds"] = self.worst.holds
        if self.gradient is not None:
            record["gradient"] = self.gradient.strongest
            record["features_in"] = self.gradient.inside
            record["limit"] = self.gradient.limit
        if self.effect is not None:
            record["effect"] = self.effect.word
            record["changes_the_model"] = self.effect.changes
        if self.trust is not None:
            record["prior_trust"], record["posterior_trust"] = (
                self.trust.prior,
                self.trust.posterior,
            )
        record["written_weight"] = self.written
        if self.evidence is not None:
            record["contradicted_by"] = self.evidence.wrong
        return record

    def _named(self, patient: BoxPoint) -> dict[str, float]:
        return patient.named(self.names)


class RuleReport(list[RuleRecord]):
    """The records of all rules, in their order; a notebook shows a table."""

    def _repr_html_(self) -> str:
        head = ("rule", "says", "training rows", "typical margin", "trust", "in the model")
        return html_table(head, [_table_row(record) for record in self], "What became of each rule")


def _table_row(record: RuleRecord) -> list[str]:
    """Return the row of a record in a table; what is not known is an empty cell."""
    shown = record.prototype is not None and record.prototype.feasible
    trust = record.trust
    learnt = "" if trust is None else f"{percent(trust.prior, 0)} to {percent(trust.posterior, 0)}"
    return [
        record.label,
        record.text,
        "" if record.train is None else str(record.train),
        signed(record.prototype.margin) if shown and record.prototype is not None else "",
        learnt if record.written is None else f"worth {record.written:.4g} patients, as written",
        "" if record.effect is None else record.effect.word,
    ]


def _counts_dict(counts: RuleCounts) -> dict[str, Any]:
    return {**counts.numbers, "wrong_rows": counts.wrong.tolist()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def rule_report(
    rules: Sequence[CompiledRule],
    *,
    w: FloatArray | None = None,
    b: float = 0.0,
    lo: FloatArray | float | None = None,
    hi: FloatArray | float | None = None,
    mean: FloatArray | None = None,
    scale: FloatArray | None = None,
    train: Data | None = None,
    test: Data | None = None,
    missing: Any = None,
    gradients: Sequence[RuleGradient | None] | None = None,
    effects: Sequence[Effect | None] | None = None,
    weights: Sequence[RuleWeights] | None = None,
    certificates: Iterable[tuple[float | None, float | None]] | None = None,
) -> list[RuleRecord]:
    """Return records for rules, classifier (w, b) and box in the user's units.

    `mean` and `scale` are the scaling that training used, `missing` marks the filled-in cells of
    the training rows, `gradients`, `effects` and `weights` are each rule's gradient at zero,
    what it does to the model and what it counts for, `certificates` holds (slack, residual) of
    each rule.
    """
    nothing = [None] * len(rules)
    pairs = list(certificates) if certificates is not None else [(None, None)] * len(rules)
    columns = zip(
        rules, pairs, gradients or nothing, effects or nothing, weights or nothing, strict=True
    )
    records = []
    for rule, (slack, residual), gradient, effect, own in columns:
        parts: dict[str, Any] = {
            "slack": slack,
            "residual": residual,
            "gradient": gradient,
            "weights": own,
        }
        parts["effect"], parts["written"] = effect, rule.rule.worth
        if train is not None:
            parts["train"] = rule_counts(rule, *train, missing=missing)
        if test is not None:
            parts["test"] = rule_counts(rule, *test)
        if w is not None:
            parts |= _guarantees(rule, np.asarray(w, dtype=np.float64), b, lo, hi, mean, scale)
        outcome = rule.outcome or rule.rule.outcome  # the class, however it was written
        text = replace(rule.rule, outcome=outcome).text
        about = (rule.label, text, outcome, rule.sign, rule.remarks)
        records.append(RuleRecord(*about, **parts, names=rule.features))
    return records


def _guarantees(
    rule: CompiledRule,
    w: FloatArray,
    b: float,
    lo: FloatArray | float | None,
    hi: FloatArray | float | None,
    mean: FloatArray | None,
    scale: FloatArray | None,
) -> dict[str, Any]:
    """Return prototype, worst case, and the threshold from which a failing rule would hold."""
    found: dict[str, Any] = {
        "prototype": prototype(rule.B, rule.d, rule.sign, w, b, mean, scale),
    }
    if lo is None or hi is None:
        return found
    worst = worst_case(rule.B, rule.d, rule.sign, w, b, lo, hi)
    found["worst"] = worst
    if worst.feasible and not worst.holds and len(rule.d) == 1:
        better = holding_threshold(rule, w, b, lo, hi)
        found["holds_from"] = None if better is None else better.premise
    return found


# --------------------------------------------------------------------------------------------------
# The picture of one condition: which features it names, with which sign and weight.
#
# Each condition is told on its own, largest weights first; equal weights of a block are one cell.


@dataclass(frozen=True)
class Cell:
    """One feature of a row, or a block whose features have the same weight."""

    name: str
    weight: float
    n_features: int = 1

    @property
    def sign(self) -> int:
        """+1 if a larger value helps to meet the condition, -1 if a smaller one does."""
        return int(np.sign(self.weight))


@dataclass(frozen=True)
class PictureRow:
    """One row of a rule: sum of weight * feature >= threshold."""

    rule: str
    outcome: str
    condition: str
    threshold: float
    cells: tuple[Cell, ...]
    n_features: int

    @property
    def hidden(self) -> int:
        """How many features are not shown."""
        return self.n_features - sum(cell.n_features for cell in self.cells)


def picture(
    rules: Sequence[CompiledRule],
    *,
    blocks: Mapping[str, IntArray] | None = None,
    most: int = 12,
) -> tuple[PictureRow, ...]:
    """Return every row as -B x >= -d, with at most `most` cells: equal weights of a block are one
    cell.

    >>> from hipad.rules.compiler import compile_rules
    >>> import numpy as np
    >>> blocks = {"K1": np.arange(50)}
    >>> (rule,) = compile_rules("mean(K1) - x60 >= 4 => positive", n_features=99, blocks=blocks)
    >>> (row,) = picture([rule], blocks=blocks)
    >>> row.threshold, [(cell.name, cell.weight, cell.n_features) for cell in row.cells]
    (4.0, [('x60', -1.0, 1), ('K1', 0.02, 50)])
    """
    return tuple(
        _picture_row(rule, row, blocks or {}, most) for rule in rules for row in range(len(rule.d))
    )


def _picture_row(
    rule: CompiledRule, row: int, blocks: Mapping[str, IntArray], most: int
) -> PictureRow:
    start, end = rule.B.indptr[row : row + 2]
    columns, weights = rule.B.indices[start:end], -rule.B.data[start:end]
    cells = _cells(rule, columns, weights, blocks)
    cells.sort(key=lambda cell: -abs(cell.weight))
    source = rule.sources[row] if rule.sources else rule.rule.premise
    threshold = -float(rule.d[row]) + 0.0
    outcome = rule.rule.outcome
    return PictureRow(rule.label, outcome, source, threshold, tuple(cells[:most]), len(columns))


def _cells(
    rule: CompiledRule, columns: IntArray, weights: FloatArray, blocks: Mapping[str, IntArray]
) -> list[Cell]:
    """Blocks that lie in the row with one weight become one cell, the rest one cell per feature."""
    left = np.ones(len(columns), dtype=bool)
    cells = []
    for name, members in blocks.items():
        place = np.minimum(np.searchsorted(columns, members), max(len(columns) - 1, 0))
        whole = len(members) > 1 and len(columns) and (columns[place] == members).all()
        if whole and left[place].all() and np.ptp(weights[place]) == 0:
            cells.append(Cell(name, float(weights[place[0]]), len(members)))
            left[place] = False
    name_of = rule.features.name if rule.features is not None else "x{}".format
    rest = zip(columns[left], weights[left], strict=True)
    return cells + [Cell(name_of(int(j)), float(weight)) for j, weight in rest]


# --------------------------------------------------------------------------------------------------
# The picture of all rules at once: B and d as they stand in the paper's B x <= d.
#
# All conditions stand on the same columns. Features that no row tells apart share a column; where
# there would still be too many, neighbours are put together in bins.


MOST_COLUMNS: Final = 60


@dataclass(frozen=True, eq=False)
class MatrixColumn:
    """Features that stand together: one, a block or a part of it, or a bin of neighbours."""

    name: str
    features: IntArray


@dataclass(frozen=True, eq=False)
class MatrixPicture:
    """B and d of all conditions; `values` are means over the features of a column."""

    labels: tuple[str, ...]  # of each row: its rule
    conditions: tuple[str, ...]
    outcomes: tuple[str, ...]
    columns: tuple[MatrixColumn, ...]
    values: FloatArray  # rows x columns
    named: FloatArray  # how many features of the column the row names
    lowest: FloatArray  # among these
    highest: FloatArray
    d: FloatArray
    binned: bool  # whether columns hold features that rows do tell apart

    def latex(self) -> str:
        """Return b and d as an array, with the names of the columns above."""
        head = " & ".join(_latex_name(column) for column in self.columns)
        lines = [
            rf"\begin{{array}}{{l|{'r' * len(self.columns)}|r}}",
            rf" & {head} & d \\ \hline",
        ]
        for label, row, bound in zip(self.labels, self.values, self.d, strict=True):
            cells = " & ".join("" if value == 0 else f"{value:.6g}" for value in row)
            lines.append(rf"\text{{{_escaped(label)}}} & {cells} & {bound:.6g} \\")
        return "\n".join([*lines, r"\end{array}", ""])


def matrix_picture(
    rules: Sequence[CompiledRule],
    *,
    blocks: Mapping[str, IntArray] | None = None,
    mean: FloatArray | None = None,
    scale: FloatArray | None = None,
    most: int = MOST_COLUMNS,
) -> MatrixPicture:
    """Return b x <= d of these rules, in the user's units or, with mean and scale, in those of the
    solver.

    >>> from hipad.rules.compiler import compile_rules
    >>> (rule,) = compile_rules("x0 + x1 >= 2 => positive", n_features=4)
    >>> shown = matrix_picture([rule])
    >>> [column.name for column in shown.columns], shown.values, shown.d
    (['x0', 'x1'], array([[-1., -1.]]), array([-2.]))
    """
    user = sparse.vstack([rule.B for rule in rules], format="csr")
    columns, binned = _columns(rules, user, blocks or {}, most)
    scaled = [rule.scaled(mean, scale) for rule in rules]
    B = sparse.csr_array(sparse.vstack([rule.B for rule in scaled]))
    values, named, lowest, highest = _pooled(B, columns)
    return MatrixPicture(
        labels=tuple(rule.label for rule in rules for _ in rule.d),
        conditions=tuple(
            rule.sources[row] if rule.sources else rule.rule.premise
            for rule in rules
            for row in range(len(rule.d))
        ),
        outcomes=tuple(rule.rule.outcome for rule in rules for _ in rule.d),
        columns=columns,
        values=values,
        named=named,
        lowest=lowest,
        highest=highest,
        d=np.concatenate([rule.d for rule in scaled]) + 0.0,
        binned=binned,
    )


def _columns(
    rules: Sequence[CompiledRule],
    B: sparse.csr_array,
    blocks: Mapping[str, IntArray],
    most: int,
) -> tuple[tuple[MatrixColumn, ...], bool]:
    """Return the features that rows name; those of one block and of equal weights together."""
    features = np.unique(B.indices).astype(np.int64)
    block_of = np.full(features.size, -1)
    for k, members in reversed(list(enumerate(blocks.values()))):
        block_of[np.isin(features, members)] = k
    # Columns that are equal have the same sum with numbers that are in no relation to each other.
    mark = (B.T @ np.random.default_rng(0).standard_normal(B.shape[0]))[features]
    own = np.where(block_of < 0, features, -1)
    _, first, which = np.unique(
        np.column_stack([block_of, own, mark]), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first, kind="stable")
    groups = [features[which.ravel() == k] for k in order] if len(order) <= most else []
    if not groups:
        groups = [part for part in np.array_split(features, most) if part.size]
    names = list(blocks)
    index = rules[0].features
    name_of = index.name if index is not None else "x{}".format
    whole = {k: int((block_of == k).sum()) for k in range(len(names))}

    def named(group: IntArray) -> str:
        k = int(block_of[np.searchsorted(features, group[0])])
        if len(group) > 1 and k >= 0 and len(group) == whole[k]:
            return names[k]
        if len(group) > 1:
            return f"{name_of(int(group[0]))} … {name_of(int(group[-1]))}"
        return str(name_of(int(group[0])))

    columns = tuple(MatrixColumn(named(group), group) for group in groups)
    return columns, len(order) > most


def _pooled(
    B: sparse.csr_array, columns: Sequence[MatrixColumn]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return mean, number, least and largest of the weights that each row gives to each column."""
    place = np.zeros(B.shape[1], dtype=np.int64)
    sizes = np.array([column.features.size for column in columns])
    for k, column in enumerate(columns):
        place[column.features] = k
    shape = (B.shape[0], len(columns))
    rows = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
    at = (rows, place[B.indices])
    total, named = np.zeros(shape), np.zeros(shape)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.add.at(total, at, B.data)
    np.add.at(named, at, 1.0)
    np.minimum.at(low, at, B.data)
    np.maximum.at(high, at, B.data)
    return total / np.maximum(sizes, 1), named, low, high


def _latex_name(column: MatrixColumn) -> str:
    times = rf"_{{\times {column.features.size}}}" if column.features.size > 1 else ""
    return rf"\text{{{_escaped(column.name)}}}{times}"


def _escaped(name: str) -> str:
    """Return a name from the user's data that LaTeX sets as it is."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: "\\" + sign for sign in "&%$#_{}"},
    }
    return "".join(special.get(sign, sign) for sign in " ".join(name.split()))
