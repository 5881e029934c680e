"""What if my rule is wrong: graded wrong advice, and the point at which it starts to harm.

A sweep changes one rule in one way, a little at a time: its threshold, its worth, its outcome, or
the features it speaks of. On the same draws each version is fitted as HIPAD does by default, as
hard knowledge that nothing can outvote, and without any rules. A rule harms from the first version
on whose whole interval of differences lies below zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hipad.experiments.material import Material
from hipad.experiments.summing import Mean, difference, figures, mean_of, select
from hipad.experiments.task import Done, Task
from hipad.experiments.versions import Version

METHODS: Final = ("no rules", "HIPAD", "hard rules")
FALL: Final = 0.02  # points of a hundred that rules may cost before the user is warned


def falls(gain: float) -> bool:
    """Whether a model with rules is so far below the one without that the user is warned.

    >>> falls(0.78 - 0.80), falls(-0.021), falls(float("nan"))
    (False, True, False)
    """
    return gain < -FALL - 1e-9


@dataclass(frozen=True)
class SweepStep:
    """One version's figures: with its weight as it is, as hard knowledge, without rules."""

    version: str
    place: float
    ours: Mean
    hard: Mean
    without: Mean
    gain: Mean  # ours against no rules, on the same draws
    support: Mean

    @property
    def falls(self) -> bool:
        """Whether the model is more than 2 points below that without rules, beyond chance."""
        return falls(self.gain.value) and self.harms

    @property
    def harms(self) -> bool:
        """Whether the model is worse with the rule than without, beyond chance."""
        return self.gain.high < 0


def sweep_tasks(
    material: Material,
    versions: Sequence[Version],
    *,
    draws: int = 10,
    rows: dict[str, Any] | None = None,
    methods: Sequence[str] = METHODS,
    options: dict[str, Any] | None = None,
) -> list[Task]:
    """Every version by every method on every draw; without rules there is one version.

    `options` are parameters of the classifier.
    """
    own: dict[str, Any] = {} if rows is None else {"rows": rows}
    own |= {"options": options} if options else {}
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


def harm_marks(steps: Sequence[SweepStep]) -> list[tuple[SweepStep, str]]:
    """Where harm begins or ends along the axis, and in which direction it lies."""
    bad = [step.harms for step in steps]
    if not any(bad):
        return []
    first, last = bad.index(True), len(bad) - 1 - bad[::-1].index(True)
    if all(bad[first:]):
        return [(steps[first], "harms from here")]
    if all(bad[: last + 1]):
        return [(steps[last], "harms up to here")]
    return [(step, "harms") for step in steps if step.harms]


def starts_to_harm(steps: Sequence[SweepStep]) -> SweepStep | None:
    """The first version that harms beyond chance; None if none does."""
    return next((step for step in steps if step.harms), None)
