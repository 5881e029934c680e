"""All there is to say about rules before a run; the app draws it, the command line prints it.

    study, compiled = first_look(read_rules(text), index, blocks, classes)
    for study in study_rules(study, compiled, patients):
        ...                     # each says more than the one before; the last has `is_final`

Only the columns that the rules name are looked at: they are cut out of the data once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hipad.errors import RuleError
from hipad.evaluation.patients import Patients, Rows, as_told, cut_out
from hipad.evaluation.thresholds import supported_thresholds
from hipad.rules import (
    Blocks,
    Budget,
    CompiledRule,
    FeatureIndex,
    Finding,
    Knobs,
    Overlap,
    Pull,
    Rule,
    RuleCounts,
    RuleSet,
    RulesText,
    Threshold,
    check_rules,
    compile_each,
    needed_worth,
    rule_counts,
    rule_pulls,
)
from hipad.rules.analysis.statistics import overlap_of
from hipad.rules.compiling.knowledge import CompiledStatement, compile_statements

GiveKnobs = Callable[..., Knobs]
"""(rule as the solver is told it, heard=what patients say of it) -> its strength in a run."""


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
        """What the rule is called in messages: its name, or its position."""
        return self.compiled.label

    @property
    def needed_patients(self) -> float | None:
        """The worth above which a feature of the rule enters; None if that is no help."""
        if self.pull is None or self.knobs is None or self.pull.enters:
            return None
        patients = needed_worth(self.pull, self.knobs.n_samples)
        return patients if self.pull.limit == "worth" and np.isfinite(patients) else None


@dataclass(frozen=True, eq=False)
class Study:
    """The state of all rules; overlaps are of those that are switched on.

    Until `is_final` there are no findings yet, and at first no checks.
    """

    rules: RuleSet
    errors: tuple[RuleError, ...]
    stated: tuple[CompiledStatement, ...] = ()  # what is said of single features
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
    """The rules and what is wrong with them, and by position those that fit the data.

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
    patients: Patients,
    *,
    lambda1: float | None = None,
    knobs: GiveKnobs | None = None,
    budget: Budget | None = None,
) -> Iterator[Study]:
    """Try compiled rules (by position) on the patients, then against each other, then advise.

    `first` has the rules and their errors. With `lambda1` and `knobs` it is also said whether each
    rule is heard.
    """
    budget = budget or Budget()
    few, parts = cut_out(list(compiled.values()), patients)
    so_far = _on_patients(first, compiled, few, parts, budget)
    yield so_far
    so_far = _with_each_other(so_far, patients, lambda1, knobs, budget)
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


def _with_each_other(
    so_far: Study,
    patients: Patients,
    lambda1: float | None,
    knobs: GiveKnobs | None,
    budget: Budget,
) -> Study:
    """What is odd about the rules, and how hard each pulls where that is known."""
    on, own, pulls = so_far.active, [], None
    heard: dict[str, dict[str, Any]] = {}
    told, said = as_told(on, patients)
    if lambda1 is not None and knobs is not None:
        own = [knobs(rule, heard=words) for rule, words in zip(told, said, strict=True)]
        pulls = rule_pulls(told, own, lambda1, patients.pull)
        heard = {
            rule.label: {"pull": pull, "knobs": given}
            for rule, pull, given in zip(on, pulls, own, strict=True)
        }
    findings = check_rules(
        on,
        patients.lo,
        patients.hi,
        told=told,
        heard=said,
        knobs=own,
        pulls=pulls or None,
        budget=budget,
    )
    checks = tuple(replace(check, **heard.get(check.label, {})) for check in so_far.checks)
    return replace(so_far, checks=checks, findings=findings)


def _overlap(checks: Sequence[RuleCheck], counts: Sequence[RuleCounts], n_rows: int) -> Overlap:
    """Where rules fire together, by the rows on which each was seen to fire."""
    fires = np.zeros((len(checks), n_rows), dtype=bool)
    for own, count in zip(fires, counts, strict=True):
        own[count.fired] = True
    return overlap_of([check.compiled for check in checks], list(fires), n_rows)
