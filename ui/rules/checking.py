"""Everything there is to say about the rules before a run, found anew after each edit.

Only the columns that the rules name are looked at: they are cut out of the data once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np
from scipy import sparse

from hipad.errors import DataError, RuleError
from hipad.estimator.strength import knobs_of
from hipad.estimator.training import shares
from hipad.evaluation.metrics import wilson_interval
from hipad.rules import (
    Budget,
    CompiledRule,
    DataPull,
    Finding,
    Knobs,
    Overlap,
    Pull,
    Rule,
    RuleCounts,
    RuleSet,
    Threshold,
    best_threshold,
    check_rules,
    compile_each,
    rule_counts,
    rule_pulls,
)
from hipad.rules.analysis.statistics import overlap_of
from hipad.rules.compiling.rows import on_columns
from hipad.rules.language.parsing import parse_lines
from ui.dataset import Dataset
from ui.models import largest_lambda1
from ui.rules.check_job import CheckJob
from ui.settings import AUTOMATIC, FEWNESS, RunSettings
from ui.state import AppState

MOST_ROWS: Final = 6  # conditions of one rule for which a better threshold is looked for


@dataclass(frozen=True, eq=False)
class RuleCheck:
    """One rule that can be read and fits the data."""

    position: int  # among the rules of the text that can be read
    compiled: CompiledRule
    train: RuleCounts
    test: RuleCounts | None
    better: tuple[Threshold, ...] = ()  # thresholds that the training patients clearly support
    pull: Pull | None = None  # None while lambda1 is not known, and for a rule that is off
    knobs: Knobs | None = None

    @property
    def rule(self) -> Rule:
        return self.compiled.rule

    @property
    def label(self) -> str:
        return self.compiled.label


@dataclass(frozen=True, eq=False)
class Checked:
    """The state of all rules; overlaps are of those that are switched on.

    Until `is_final` there are no findings yet, and at first no checks.
    """

    rules: RuleSet
    errors: tuple[RuleError, ...]
    checks: tuple[RuleCheck, ...] = ()
    findings: tuple[Finding, ...] = ()
    overlap: Overlap | None = None
    overlap_test: Overlap | None = None
    untried: int = 0  # rules for which there was no time
    unadvised: int = 0  # rules for which no better threshold was looked for
    is_final: bool = False

    @property
    def active(self) -> list[CompiledRule]:
        return [check.compiled for check in self.checks if check.rule.enabled]


def checked_rules(state: AppState, patience: float | None = None) -> Checked:
    """The check of the present rules, kept until they, the data or the settings change.

    After `patience` seconds it is given as far as it has come; `is_final` says whether it is all.
    """
    job = checking(state)
    job.wait(patience)
    if job.error is not None:
        raise DataError(job.error)
    return job.latest or read(*_key(state)[:2])


def checking(state: AppState) -> CheckJob[Checked]:
    """The check of the present rules, at work or done; one of an earlier text is stopped."""
    key = _key(state)
    known, job = state.memo.get("checked rules", (None, None))
    if job is None or known != key or job.was_left:
        if job is not None:
            job.stop()
        job = CheckJob(lambda budget: check(*key, budget))
        state.memo["checked rules"] = (key, job)
        job.launch()
    job.seen()
    return cast(CheckJob[Checked], job)


def _key(state: AppState) -> tuple[Dataset, str, RunSettings, float | None]:
    assert state.data is not None
    return state.data, state.rules.text, state.settings, known_lambda1(state)


def known_lambda1(state: AppState) -> float | None:
    """The sparsity of the next run: as set, or that of the last run; None when it is open."""
    settings, data = state.settings, state.data
    if settings.fewness == AUTOMATIC:
        model = state.model or state.pinned_model
        return None if model is None else float(model.classifier.lambda1_)
    if settings.fewness not in FEWNESS or data is None:
        return settings.lambda1
    key = (data, settings.standardize, settings.balanced, settings.lambda2)
    largest = state.remember("largest lambda1", key, lambda: largest_lambda1(data, settings))
    return FEWNESS[settings.fewness] * largest


def read(data: Dataset, text: str) -> Checked:
    """The rules and what is wrong with them, before anything is tried."""
    rules, unread = parse_lines(text)
    _, unfit = fitting_rules(rules, data)
    return Checked(rules, _sorted([*unread, *unfit]))


def _sorted(errors: list[RuleError]) -> tuple[RuleError, ...]:
    return tuple(sorted(errors, key=lambda error: error.line or 0))


def check(
    data: Dataset, text: str, settings: RunSettings, lambda1: float | None, budget: Budget
) -> Iterator[Checked]:
    """Read, compile and try the rules: first on the patients, then against each other."""
    rules, unread = parse_lines(text)
    compiled, unfit = fitting_rules(rules, data)
    so_far = Checked(rules, _sorted([*unread, *unfit]))
    yield so_far
    few, parts = _cut_out(list(compiled.values()), data)
    so_far = _on_patients(so_far, compiled, few, parts, budget)
    yield so_far
    checks = {check.label: check for check in so_far.checks}
    on = [rule for rule in compiled.values() if rule.rule.enabled and rule.label in checks]
    knobs, pulls = ({}, {}) if lambda1 is None else _pulls(on, lambda1, settings, data)
    for label, pull in pulls.items():
        checks[label] = replace(checks[label], pull=pull, knobs=knobs[label])
    findings = check_rules(
        on,
        *(data.summary[end].to_numpy() for end in ("min", "max")),
        mean=scaling(data, settings)[0],
        knobs=list(knobs.values()),
        pulls=list(pulls.values()) if pulls else None,
        budget=budget,
    )
    so_far = replace(so_far, checks=tuple(checks.values()), findings=findings)
    yield so_far
    better = []
    for rule, own in zip(few, so_far.checks, strict=False):
        if budget.is_spent:
            break
        better.append(replace(own, better=supported_thresholds(rule, *parts[0])))
    checked = (*better, *so_far.checks[len(better) :])
    unadvised = len(checked) - len(better)
    yield replace(so_far, checks=checked, unadvised=unadvised, is_final=True)


Part = tuple[Any, np.ndarray]
"""The columns that rules name, and outcomes as +1 and -1."""


def _on_patients(
    so_far: Checked,
    compiled: dict[int, CompiledRule],
    few: list[CompiledRule],
    parts: tuple[Part, Part | None],
    budget: Budget,
) -> Checked:
    """What each rule does on the patients, for as many rules as half of the time allows."""
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


def _overlap(checks: Sequence[RuleCheck], counts: Sequence[RuleCounts], n_rows: int) -> Overlap:
    """Where rules fire together, by the rows on which each was seen to fire."""
    fires = np.zeros((len(checks), n_rows), dtype=bool)
    for own, count in zip(fires, counts, strict=True):
        own[count.fired] = True
    return overlap_of([check.compiled for check in checks], list(fires), n_rows)


def fitting_rules(rules: RuleSet, data: Dataset) -> tuple[dict[int, CompiledRule], list[RuleError]]:
    """Each rule that fits the data by its position, and what is wrong with the others."""
    return compile_each(rules, feature_names=data.index, blocks=data.blocks, classes=data.classes)


def scaling(data: Dataset, settings: RunSettings) -> tuple[np.ndarray, np.ndarray | None]:
    """The patient from whom a run measures (the average one, or zero), and its units."""
    if not settings.standardize:
        return np.zeros(data.n_features), None
    sd = data.summary["sd"].to_numpy()
    return data.summary["mean"].to_numpy(), np.where(sd > 0, sd, 1.0)


def _pulls(
    rules: Sequence[CompiledRule], lambda1: float, settings: RunSettings, data: Dataset
) -> tuple[dict[str, Knobs], dict[str, Pull]]:
    """The knobs of each rule by its name, and how hard it pulls with them."""
    scaled = [rule.scaled(*scaling(data, settings)) for rule in rules]
    options: dict[str, Any] = {"patients": settings.patients, "stiffness": settings.stiffness}
    knobs = [knobs_of(rule, total=len(data.y_train), **options) for rule in scaled]
    pulls = rule_pulls(scaled, knobs, lambda1, data_pull(data, settings))
    labels = [rule.label for rule in rules]
    return dict(zip(labels, knobs, strict=True)), dict(zip(labels, pulls, strict=True))


def data_pull(data: Dataset, settings: RunSettings) -> DataPull:
    """How hard the training patients pull on some columns by themselves."""
    mean, scale = scaling(data, settings)
    y = signs(data.y_train, data)
    p = shares(y, np.ones(len(y)), "balanced" if settings.balanced else None)

    def pull(columns: np.ndarray) -> np.ndarray:
        centred = data.X_train[:, columns].T @ (p * y) - mean[columns] * float(p @ y)
        return np.asarray(centred if scale is None else centred / scale[columns])

    return pull


def _cut_out(
    rules: list[CompiledRule], data: Dataset
) -> tuple[list[CompiledRule], tuple[Part, Part | None]]:
    """The rules on the columns they name, and these columns of the training and test rows."""
    columns = np.unique(np.concatenate([np.empty(0, np.int64), *(r.columns for r in rules)]))
    few = [replace(rule, B=on_columns(rule.B, columns)) for rule in rules]
    train = (_columns(data.X_train, columns), signs(data.y_train, data))
    if data.X_test is None or data.y_test is None:
        return few, (train, None)
    return few, (train, (_columns(data.X_test, columns), signs(data.y_test, data)))


def _columns(X: Any, columns: np.ndarray) -> Any:
    """Some columns, in a form from which columns are quickly taken."""
    part = X[:, columns]
    return part.tocsc() if sparse.issparse(part) else np.asfortranarray(part)


def signs(y: np.ndarray, data: Dataset) -> np.ndarray:
    """+1 for the positive class, -1 for the other."""
    return np.where(y == data.classes[1], 1.0, -1.0)


def supported_thresholds(rule: CompiledRule, X: Any, y: np.ndarray) -> tuple[Threshold, ...]:
    """Better thresholds, one a condition at most, for which the data speak clearly.

    Clearly: the rule would be right more often than its outcome is common, beyond chance, and
    fires for others than it does now.
    """
    common = float(np.mean(y == rule.sign))
    rows = range(min(len(rule.d), MOST_ROWS))
    found = [best_threshold(rule, X, y, row) for row in rows]
    return tuple(
        better
        for better in found
        if better is not None
        and wilson_interval(better.right, better.fires)[0] > common
        and (better.fires, better.right) != (better.fires_now, better.right_now)
    )
