"""What if my rule is wrong: graded wrong advice, and the point at which it starts to harm.

A sweep changes one rule in one way, a little at a time: its threshold, its worth, its outcome, or
the features it speaks of. On the same draws each version is fitted as HIPAD does by default, as
hard knowledge that nothing can outvote, and without any rules. A rule harms from the first version
on whose whole interval of differences lies below zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hipad.errors import RuleError
from hipad.experiments.material import Material
from hipad.experiments.summing import Mean, difference, figures, mean_of, select
from hipad.experiments.task import Done, Task
from hipad.rules import Condition, Rule, RuleSet, compile_rules, parse_rules
from hipad.rules.compiling.naming.names import as_index
from hipad.wording import number

METHODS: Final = ("HIPAD", "hard rules", "no rules")


@dataclass(frozen=True)
class Version:
    """The rules with one of them changed; `label` says how, `place` where on the axis it stands."""

    label: str
    place: float
    rules: str


@dataclass(frozen=True)
class SweepStep:
    """One version's figures: with default worth, as hard knowledge, without rules."""

    version: str
    place: float
    ours: Mean
    hard: Mean
    without: Mean
    gain: Mean  # ours against no rules, on the same draws
    support: Mean

    @property
    def harms(self) -> bool:
        """Whether the model is worse with the rule than without, beyond chance."""
        return self.gain.high < 0


def threshold_versions(rules: str, position: int, values: Sequence[float]) -> list[Version]:
    """The rule at `position` with other thresholds; it must compare one expression and a number."""
    found = parse_rules(rules)
    rule = found[position]
    if len(rule.conditions) != 1 or threshold_of(rule.conditions[0]) is None:
        raise RuleError(
            f"'{rule.premise}' has no single threshold to sweep: expected one comparison with a "
            "number, such as Glucose >= 126"
        )
    return [
        Version(
            number(value),
            float(value),
            _changed(found, position, _with_threshold(rule, float(value))),
        )
        for value in values
    ]


def worth_versions(rules: str, position: int, values: Sequence[float]) -> list[Version]:
    """The rule at `position` worth more and more patients."""
    found = parse_rules(rules)
    rule = found[position]
    return [
        Version(
            f"{number(value)} patients",
            float(value),
            _changed(found, position, replace(rule, worth=float(value))),
        )
        for value in values
    ]


def wrong_versions(
    rules: str, position: int, outcomes: tuple[str, str], strangers: Sequence[str]
) -> list[Version]:
    """As written, about features that have nothing to do with it, and with the other outcome."""
    found = parse_rules(rules)
    rule = found[position]
    other = outcomes[0] if rule.outcome == outcomes[1] else outcomes[1]
    return [
        Version("as written", 0.0, str(found)),
        Version("irrelevant features", 1.0, _changed(found, position, _about(rule, strangers))),
        Version("flipped", 2.0, _changed(found, position, replace(rule, outcome=other))),
    ]


def strangers_to(material: Material, rng: np.random.Generator, most: int = 50) -> list[str]:
    """Features that no rule of the data names, at random; all others where there are none."""
    n = len(material.feature_names) if material.feature_names else material.X.shape[1]
    index = as_index(material.feature_names, n)
    rules = compile_rules(
        material.rules, feature_names=index, blocks=material.blocks or None, classes=material.labels
    )
    named = np.unique(np.concatenate([np.zeros(0, dtype=int), *(r.columns for r in rules)]))
    others = np.setdiff1d(np.arange(n), named)
    pool = others if others.size else np.arange(n)
    return [index.name(int(j)) for j in rng.permutation(pool)[:most]]


def sweep_tasks(
    material: Material,
    versions: Sequence[Version],
    *,
    draws: int = 10,
    rows: dict[str, Any] | None = None,
    methods: Sequence[str] = METHODS,
) -> list[Task]:
    """Every version by every method on every draw; without rules there is one version."""
    own = {} if rows is None else {"rows": rows}
    tasks = []
    for seed in range(draws):
        for method in methods:
            told = [""] if method == "no rules" else [version.rules for version in versions]
            tasks += [
                Task("contest", material.name, seed, {"method": method, "rules": text, **own})
                for text in dict.fromkeys(told)
            ]
    return tasks


def sweep(
    outcomes: Iterable[Done], versions: Sequence[Version], figure: str = "balanced"
) -> list[SweepStep]:
    """What each version did."""
    found = list(outcomes)
    without = select(found, method="no rules")
    steps = []
    for version in versions:
        ours = select(found, method="HIPAD", rules=version.rules)
        hard = select(found, method="hard rules", rules=version.rules)
        steps.append(
            SweepStep(
                version.label,
                version.place,
                mean_of(figures(ours, figure)),
                mean_of(figures(hard, figure)),
                mean_of(figures(without, figure)),
                difference(ours, without, figure),
                mean_of(figures(ours, "support")),
            )
        )
    return steps


def starts_to_harm(steps: Sequence[SweepStep]) -> SweepStep | None:
    """The first version that harms beyond chance; None if none does."""
    return next((step for step in steps if step.harms), None)


def threshold_of(condition: Condition) -> float | None:
    """The number that a condition compares with; None where there is not exactly one."""
    if len(condition.sides) != 2 or condition.form != "compare":
        return None
    numbers = [s for s in condition.sides if len(s) == 1 and s[0].is_number]
    return numbers[0][0].coefficient if len(numbers) == 1 else None


def _with_threshold(rule: Rule, value: float) -> Rule:
    (condition,) = rule.conditions
    sides = tuple(
        (replace(side[0], coefficient=value),) if len(side) == 1 and side[0].is_number else side
        for side in condition.sides
    )
    return replace(rule, conditions=(replace(condition, sides=sides),))


def _about(rule: Rule, strangers: Sequence[str]) -> Rule:
    """The same rule about other features, in turn; a block becomes as many of them as it takes."""
    names = iter(np.resize(np.array(strangers, dtype=object), 1000).tolist())

    def other(condition: Condition) -> Condition:
        sides = tuple(
            tuple(
                term
                if term.is_number
                else replace(term, names=tuple(next(names) for _ in term.names))
                for term in side
            )
            for side in condition.sides
        )
        return replace(condition, sides=sides)

    return replace(rule, conditions=tuple(map(other, rule.conditions)))


def _changed(rules: RuleSet, position: int, rule: Rule) -> str:
    changed = list(rules)
    changed[position] = rule
    return str(replace(rules, rules=tuple(changed)))
