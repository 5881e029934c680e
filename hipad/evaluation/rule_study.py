"""All there is to say about rules before a run; the app draws it, the command line prints it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy import sparse

from hipad.data.preprocessing import MissingValues
from hipad.designs import make_design
from hipad.evaluation.intervals import wilson_interval
from hipad.exceptions import RuleError
from hipad.rules import (
    Blocks,
    Budget,
    CompiledRule,
    FeatureIndex,
    Finding,
    Overlap,
    Rule,
    RuleColumns,
    RuleCounts,
    RuleEvidence,
    RuleGradient,
    RuleRecord,
    RuleSet,
    RulesText,
    RuleWeights,
    ScaledRule,
    Threshold,
    best_threshold,
    check_rules,
    compile_each,
    needed_worth,
    rule_counts,
    rule_gradients,
    rule_report,
)
from hipad.rules.compiled_rule import on_columns
from hipad.rules.compiler import CompiledPrior, compile_statements
from hipad.rules.report import measured_rows, overlap_of
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# Patients as a run sees them, and rules as these patients see them.
#
# A run knows of patients their rows, the range of each column, its scaling, and their shares.


Rows = tuple[Any, FloatArray]
"""Rows of patients, and their outcomes as +1 and -1."""


@dataclass(frozen=True, eq=False)
class StudyRows:
    """Training and test rows, the range `lo` to `hi` of each column, and its scaling.

    `p` are the shares of the training patients in the objective; they sum to one. Without scaling
    `mean` and `scale` are None, and the run measures from the patient whose values are all zero.
    """

    train: Rows
    test: Rows | None
    lo: FloatArray
    hi: FloatArray
    mean: FloatArray | None
    scale: FloatArray | None
    p: FloatArray
    gaps: MissingValues | None = None  # cells of the training rows that were filled
    test_gaps: MissingValues | None = None

    def gradient(self, columns: IntArray) -> FloatArray:
        """Return the gradient of the training patients' loss at w = 0 on some columns."""
        X, y = self.train
        mean, scale = (None if m is None else m[columns] for m in (self.mean, self.scale))
        return make_design(_columns(X, columns), mean=mean, scale=scale).correlate(self.p * y)

    def report(
        self, rules: Sequence[CompiledRule], w: FloatArray | None, b: float
    ) -> list[RuleRecord]:
        """Return how a model stands to rules on these patients, whether or not it was told them."""
        return rule_report(
            rules, w=w, b=b, lo=self.lo, hi=self.hi, mean=self.mean, scale=self.scale
        )

    def on(self, columns: IntArray) -> tuple[Rows, Rows | None]:
        """Return some columns of the training and of the test rows, with nan in their gaps."""
        (X, y), test = self.train, self.test
        return (_measured(X, columns, self.gaps), y), None if test is None else (
            _measured(test[0], columns, self.test_gaps),
            test[1],
        )


def scaled_rules(
    rules: Sequence[CompiledRule], rows: StudyRows
) -> tuple[tuple[ScaledRule, ...], list[RuleEvidence]]:
    """Return the rules as the solver is told them, and what the training patients say of each."""
    X, y = rows.train
    witnesses = RuleColumns.of(rules, X, y, np.ones(len(y)), gaps=rows.gaps)
    return witnesses.all_representatives(rules, rows.scale), witnesses.all_evidence(rules)


def cut_out(
    rules: Sequence[CompiledRule], rows: StudyRows
) -> tuple[list[CompiledRule], tuple[Rows, Rows | None]]:
    """Return rules on the columns they name, and these columns of the training and test rows."""
    columns = np.unique(np.concatenate([np.empty(0, np.int64), *(r.columns for r in rules)]))
    return [replace(rule, B=on_columns(rule.B, columns)) for rule in rules], rows.on(columns)


def _measured(X: Any, columns: IntArray, gaps: MissingValues | None) -> Any:
    """Return some columns as they were measured: with nan where there was no value."""
    part = _columns(X, columns)
    return gaps.put_into(part, columns) if gaps else part


def _columns(X: Any, columns: IntArray) -> Any:
    """Return some columns, in a form from which columns are quickly taken."""
    part = X[:, columns]
    return part.tocsc() if sparse.issparse(part) else np.asfortranarray(part)


# --------------------------------------------------------------------------------------------------
# Thresholds that patients clearly support better than the one that an expert wrote.


MOST_ROWS: Final = 6  # conditions of one rule for which a better threshold is looked for


def supported_thresholds(rule: CompiledRule, X: Any, y: FloatArray) -> tuple[Threshold, ...]:
    """Return the threshold that the data support best, if they speak clearly: of one condition at
    most.

    Clearly: the rule would be right more often than its outcome is common, beyond chance, and
    would fire for others than it does now.
    """
    known = measured_rows(rule, X)
    if not known.any():
        return ()
    common = float(np.mean(y[known] == rule.sign))
    rows = range(min(len(rule.d), MOST_ROWS))
    found = [best_threshold(rule, X, y, row) for row in rows]
    clear = [
        better
        for better in found
        if better is not None
        and wilson_interval(better.right, better.fires)[0] > common
        and (better.fires, better.right) != (better.fires_now, better.right_now)
    ]
    return (max(clear, key=lambda better: better.gain),) if clear else ()


# --------------------------------------------------------------------------------------------------
# All there is to say about rules before a run; the app draws it, the command line prints it.
#
#     study, compiled = first_look(read_rules(text), index, blocks, classes)
#     for study in study_rules(study, compiled, patients):
#         ...                     # each says more than the one before; the last has `is_final`
#
# Only the columns that the rules name are looked at: they are cut out of the data once.


WeightRule = Callable[..., RuleWeights]
"""(rule as the solver is told it, evidence=what patients say of it) -> its strength in a run."""


@dataclass(frozen=True, eq=False)
class RuleCheck:
    """One rule that can be read and fits the data."""

    position: int  # among the rules of the text that can be read
    compiled: CompiledRule
    train: RuleCounts
    test: RuleCounts | None
    better: tuple[Threshold, ...] = ()  # thresholds that the training patients clearly support
    gradient: RuleGradient | None = (
        None  # None while lambda1 is not known, and for a rule that is off
    )
    weights: RuleWeights | None = None

    @property
    def rule(self) -> Rule:
        return self.compiled.rule

    @property
    def label(self) -> str:
        """What the rule is called in messages: its name, or its position."""
        return self.compiled.label

    @property
    def needed_patients(self) -> float | None:
        """The worth above which a feature of the rule enters; None if that is no help."""
        if self.gradient is None or self.weights is None or self.gradient.enters:
            return None
        rows = needed_worth(self.gradient, self.weights.n_samples)
        return rows if self.gradient.limit == "worth" and np.isfinite(rows) else None


@dataclass(frozen=True, eq=False)
class Study:
    """The state of all rules; overlaps are of those that are switched on.

    Until `is_final` there are no findings yet, and at first no checks.
    """

    rules: RuleSet
    errors: tuple[RuleError, ...]
    stated: tuple[CompiledPrior, ...] = ()  # what is said of single features
    checks: tuple[RuleCheck, ...] = ()
    findings: tuple[Finding, ...] = ()
    overlap: Overlap | None = None
    overlap_test: Overlap | None = None
    untried: int = 0  # rules for which there was no time
    unadvised: int = 0  # rules for which no better threshold was looked for
    is_final: bool = False

    @property
    def active(self) -> list[CompiledRule]:
        """The rules that are switched on."""
        return [check.compiled for check in self.checks if check.rule.enabled]


def first_look(
    found: RulesText,
    index: FeatureIndex,
    blocks: Blocks,
    classes: tuple[str, str],
    *,
    values: Any = None,
    positive_chosen: bool = False,
) -> tuple[Study, dict[int, CompiledRule]]:
    """Return the rules and what is wrong with them, and by position those that fit the data.

    `values` are the training rows, from which rules learn percentiles and the like.
    """
    compiled, unfit = compile_each(
        found.rules,
        feature_names=index,
        blocks=blocks,
        classes=classes,
        positive_chosen=positive_chosen,
        values=values,
    )
    stated, odd = compile_statements(
        found.rules.statements,
        feature_names=index,
        blocks=blocks,
        classes=classes,
        positive_chosen=positive_chosen,
    )
    errors = sorted([*found.errors, *unfit, *odd], key=lambda error: error.line or 0)
    return Study(found.rules, tuple(errors), tuple(stated.values())), compiled


def study_rules(
    first: Study,
    compiled: Mapping[int, CompiledRule],
    rows: StudyRows,
    *,
    lambda1: float | None = None,
    weights: WeightRule | None = None,
    budget: Budget | None = None,
) -> Iterator[Study]:
    """Try compiled rules (by position) on the patients, then against each other, then advise.

    `first` has the rules and their errors. With `lambda1` and `weights` it is also said
    whether each rule brings a feature into the model.
    """
    budget = budget or Budget()
    few, parts = cut_out(list(compiled.values()), rows)
    so_far = _on_patients(first, compiled, few, parts, budget)
    yield so_far
    so_far = _with_each_other(so_far, rows, lambda1, weights, budget)
    yield so_far
    advised = []
    for rule, own in zip(few, so_far.checks, strict=False):
        if budget.is_spent:
            break
        advised.append(replace(own, better=supported_thresholds(rule, *parts[0])))
    checks = (*advised, *so_far.checks[len(advised) :])
    yield replace(so_far, checks=checks, unadvised=len(checks) - len(advised), is_final=True)


def _on_patients(
    so_far: Study,
    compiled: Mapping[int, CompiledRule],
    few: list[CompiledRule],
    parts: tuple[Rows, Rows | None],
    budget: Budget,
) -> Study:
    """Return what each rule does on the patients, for as many rules as half of the time allows."""
    train, test = parts
    latest = budget.seconds_left / 2
    checks: list[RuleCheck] = []
    for (position, rule), cut in zip(compiled.items(), few, strict=True):
        if budget.is_spent or budget.seconds_left < latest:
            break
        counts = rule_counts(cut, *train), None if test is None else rule_counts(cut, *test)
        checks.append(RuleCheck(position, rule, *counts))
    on = [check for check in checks if check.rule.enabled]
    tested = [check.test for check in on if check.test is not None]
    return replace(
        so_far,
        checks=tuple(checks),
        overlap=_overlap(on, [check.train for check in on], len(train[1])),
        overlap_test=None if test is None else _overlap(on, tested, len(test[1])),
        untried=len(compiled) - len(checks),
    )


def _with_each_other(
    so_far: Study,
    rows: StudyRows,
    lambda1: float | None,
    weights: WeightRule | None,
    budget: Budget,
) -> Study:
    """Return what is odd about the rules, and the gradient of each where that is known."""
    on, own, gradients = so_far.active, [], None
    evidence: dict[str, dict[str, Any]] = {}
    scaled, evidences = scaled_rules(on, rows)
    if lambda1 is not None and weights is not None:
        own = [weights(rule, evidence=words) for rule, words in zip(scaled, evidences, strict=True)]
        gradients = rule_gradients(scaled, own, lambda1, rows.gradient)
        evidence = {
            rule.label: {"gradient": gradient, "weights": given}
            for rule, gradient, given in zip(on, gradients, own, strict=True)
        }
    findings = check_rules(
        on,
        rows.lo,
        rows.hi,
        scaled=scaled,
        evidence=evidences,
        weights=own,
        gradients=gradients or None,
        budget=budget,
    )
    checks = tuple(replace(check, **evidence.get(check.label, {})) for check in so_far.checks)
    return replace(so_far, checks=checks, findings=findings)


def _overlap(checks: Sequence[RuleCheck], counts: Sequence[RuleCounts], n_rows: int) -> Overlap:
    """Return where rules fire together, by the rows on which each was seen to fire."""
    fires = np.zeros((len(checks), n_rows), dtype=bool)
    for own, count in zip(fires, counts, strict=True):
        own[count.fired] = True
    return overlap_of([check.compiled for check in checks], list(fires), n_rows)
