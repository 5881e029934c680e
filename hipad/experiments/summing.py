"""From the figures of many fits to a mean and its interval, and to paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as t_distribution

from hipad.experiments.task import Done
from hipad.wording import count

LEVEL = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over draws with its 95 % interval; nan where there are too few."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if math.isnan(self.low):
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def mean_of(values: Iterable[float]) -> Mean:
    """The mean of figures of independent draws, with Student's interval.

    >>> print(mean_of([1.0, 2.0, 3.0]))
    2.000 (-0.484 to 4.484)
    """
    numbers = np.array([value for value in values if not math.isnan(value)], dtype=float)
    n = numbers.size
    if n == 0:
        return Mean(math.nan, math.nan, math.nan, 0)
    value = float(numbers.mean())
    if n == 1:
        return Mean(value, math.nan, math.nan, 1)
    half = float(t_distribution.ppf((1 + LEVEL) / 2, n - 1) * numbers.std(ddof=1) / math.sqrt(n))
    return Mean(value, value - half, value + half, n)


def select(outcomes: Iterable[Done], data: str | None = None, **settings: object) -> list[Done]:
    """Fits on this data with these settings, by seed and key; failed ones are left out."""
    found = [
        done
        for done in outcomes
        if not done.failed
        and data in (None, done.task.data)
        and all(done.setting(name) == value for name, value in settings.items())
    ]
    return sorted(found, key=lambda done: (done.task.seed, done.key))


def failed_arms(outcomes: Iterable[Done]) -> list[str]:
    """One sentence for each arm of which fits failed: how many, and why the first did.

    An arm is a method on some data, or a kind of task where there are no methods.
    """
    arms: dict[tuple[str, str], list[Done]] = {}
    for done in outcomes:
        arm = str(done.setting("method") or done.task.kind)
        arms.setdefault((done.task.data, arm), []).append(done)
    told = []
    for (data, arm), fits in arms.items():
        failed = [done for done in fits if done.failed]
        if failed:
            many = f"{len(failed):,} of {count(len(fits), 'fit')} failed"
            told.append(f"{arm} on {data}: {many}, the first with: {failed[0].error}")
    return told


def figures(outcomes: Sequence[Done], name: str) -> list[float]:
    """One figure of each fit."""
    return [done.figure(name) for done in outcomes]


def difference(ours: Sequence[Done], theirs: Sequence[Done], name: str) -> Mean:
    """The mean difference of a figure over the draws that both were given."""
    other = {_draw_of(done): done.figure(name) for done in theirs}
    pairs = [(done.figure(name), other.get(_draw_of(done))) for done in ours]
    return mean_of(mine - his for mine, his in pairs if his is not None)


def _draw_of(done: Done) -> tuple[str, int, str]:
    """What names the rows of a fit."""
    return done.task.data, done.task.seed, repr(done.setting("rows"))
