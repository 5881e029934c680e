"""The points of a grid of settings, and which of them to take.

Of the settings whose score is as good as the best, within its standard error, the one is taken that
agrees with most rules, about their typical patient first and about every patient then; of those
the one with the fewest features.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scipy.stats import t as t_distribution

from hipad.errors import DataError
from hipad.estimator.searching.grids import GRID, combinations
from hipad.experiments.summing import LEVEL, Mean, mean_of
from hipad.experiments.task import Done, Figures

SCORES: Final = ("balanced", "accuracy", "area")
FIGURES: Final = (*SCORES, "support", "agrees", "holds", "margin")
CALLED: Final = {"patients": "worth"}

GridValues = Mapping[str, Any]


@dataclass(frozen=True)
class SettingPoint:
    """One setting of the grid: the means of its figures over all folds."""

    params: Mapping[str, Any]
    score: Mean
    support: Mean
    agrees: Mean  # the share of rules that the model agrees with about their typical patient
    holds: Mean  # the share that it agrees with about every patient in the observed range
    margin: Mean  # of the typical patients

    @property
    def lambda1(self) -> float:
        return float(self.params["lambda1"])

    @property
    def others(self) -> str:
        """The settings beside lambda1, as text."""
        return self.told(name for name in self.params if name != "lambda1")

    def told(self, names: Iterable[str]) -> str:
        """Some settings as text; a rule's patients are its worth."""
        return ", ".join(f"{CALLED.get(n, n)} {_told(self.params[n])}" for n in names)


def settings_of(grid: GridValues) -> list[dict[str, Any]]:
    """Every setting of a grid, in a fixed order."""
    return combinations({name: list(grid[name]) for name in GRID})


def tuned(outcomes: Iterable[Done]) -> list[SettingPoint]:
    """The points of the grid over all folds that are done."""
    done = [one for one in outcomes if one.task.kind == "tune" and not one.failed]
    if not done:
        return []
    grid, score = done[0].setting("grid"), str(done[0].setting("score"))
    lists = [
        [{name: one.figures[name][k] for name in FIGURES} for one in done]
        for k in range(len(settings_of(grid)))
    ]
    return [point_of(p, own, score) for p, own in zip(settings_of(grid), lists, strict=True)]


def choose(points: Sequence[SettingPoint], *, rules_count: bool = True) -> SettingPoint:
    """The setting to take: as good as the best, then by the rules, then by the fewest features."""
    known = [point for point in points if not math.isnan(point.score.value)]
    if not known:
        raise DataError("no setting could be judged: add rows, or choose fewer folds")
    best = max(known, key=lambda point: point.score.value)
    near = [p for p in known if p.score.value >= best.score.value - _error(best.score)]
    if not rules_count:
        return min(near, key=lambda p: (p.support.value, -p.score.value))
    return min(near, key=lambda p: (*_disagreement(p), p.support.value, -p.score.value))


def honest_estimate(outcomes: Iterable[Done], figure: str = "balanced") -> Mean:
    """The mean over outer folds; of each repeat its own folds, so the interval is a rough one."""
    done = [one for one in outcomes if one.task.kind == "nested" and not one.failed]
    return mean_of(one.figure(figure) for one in done)


def _disagreement(point: SettingPoint) -> list[float]:
    """What of the rules a setting does not keep; nothing where there are no rules."""
    shares = (point.agrees.value, point.holds.value)
    return [0.0 if math.isnan(share) else round(1.0 - share, 9) for share in shares]


def point_of(params: Mapping[str, Any], own: Sequence[Figures], score: str) -> SettingPoint:
    """The means of a setting's figures over the folds; `score` names the one to judge by."""

    def mean(name: str) -> Mean:
        return mean_of(math.nan if one[name] is None else float(one[name]) for one in own)

    parts = (mean(name) for name in (score, "support", "agrees", "holds", "margin"))
    return SettingPoint(dict(params), *parts)


def _error(mean: Mean) -> float:
    """One standard error."""
    if math.isnan(mean.low):
        return 0.0
    return (mean.value - mean.low) / float(t_distribution.ppf((1 + LEVEL) / 2, mean.n - 1))


def _told(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"
