"""Learning curves by the number of labelled rows, and tests over several data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata
from sklearn.isotonic import isotonic_regression

from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData, Synthetic, methods_of
from hipad.experiments.runner import Done, Mean, Task, failed_arms, figures, mean_of, select
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# Learning curves by the number of labelled rows, and what rules are worth in labelled patients.
#
# Four ways are compared on the same draws: with rules, without, the rules alone, and LIBSVM. Rules
# are worth what they spare: if eight labelled patients and the rules do as well as thirty patients
# without, the rules are worth twenty-two. The value is read off the curve without rules, which is
# made monotone first (more patients never harm); its interval comes from drawing the draws again.
# Rules may also cost patients: as many as must be added to them until they do what the same
# labelled patients do without. Both curves are of models that are tuned for themselves.


SIZES: Final = (4, 8, 16, 32, 64, 128)  # labelled rows of each class
COMPARED: Final = methods_of("learning_curve")
FEWEST_TESTED: Final = 5  # rows of each class that must be left to test
RESAMPLED: Final = 1_000


@dataclass(frozen=True)
class Curve:
    """One method: the mean figure at each number of labelled rows of a class."""

    method: str
    sizes: tuple[int, ...]
    means: tuple[Mean, ...]


@dataclass(frozen=True)
class Worth:
    """What rules are worth in labelled patients, both classes together, beside `labelled` rows.

    Below zero they cost so many. `beyond` says that the other curve never gets as far: the value is
    then only a bound.
    """

    labelled: int
    value: float
    low: float
    high: float
    beyond: bool = False

    def __str__(self) -> str:
        much = f"{'more than' if self.beyond else 'about'} {abs(self.value):.0f}"
        low, high = (
            "beyond the curve" if math.isinf(end) else f"{end + 0.0:.0f}"
            for end in (self.low, self.high)
        )
        told = f"the rules are worth {much} further ones"
        if self.value < 0:
            told = f"your rules cost {much} patients"
        chance = ", so it may be chance" if self.value and self.low <= 0 <= self.high else ""
        interval = f"(95 % interval {low} to {high}{chance})"
        return f"With {self.labelled} labelled patients {told} {interval}."

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves no doubt that the rules help, or that they cost."""
        return not self.low <= 0 <= self.high


def sizes_for(material: ExperimentData, sizes: Sequence[int] = SIZES) -> tuple[int, ...]:
    """Return the sizes that leave rows of both classes to test."""
    if isinstance(material, Synthetic):
        return tuple(sizes)
    y, _ = material.units
    what = "rows" if material.groups is None else "patients"
    fewest = min(int(np.sum(y > 0)), int(np.sum(y < 0)))
    usable = tuple(size for size in sizes if size + FEWEST_TESTED <= fewest)
    if not usable:
        raise DataError(
            f"expected more than {min(sizes) + FEWEST_TESTED} {what} of each class for a learning "
            f"curve, got {fewest}: add {what}, or choose smaller sizes"
        )
    return usable


def curve_tasks(
    material: ExperimentData,
    *,
    draws: int = 20,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = COMPARED,
    rules: str | None = None,
    options: dict[str, Any] | None = None,
) -> list[Task]:
    """Return a task for every method, size and draw; the same draw for all methods of one seed.

    `rules` replace those of the data; `options` are parameters of the classifier.
    """
    own: dict[str, Any] = {} if rules is None else {"rules": rules}
    own |= {"options": options} if options else {}
    return [
        Task("contest", material.name, seed, {"method": m, "rows": {"labelled": size}, **own})
        for seed in range(draws)
        for size in sizes_for(material, sizes)
        for m in methods
    ]


def curves(outcomes: Iterable[Done], figure: str = "balanced") -> list[Curve]:
    """Return a curve for each method found among the outcomes."""
    found = list(outcomes)
    methods = dict.fromkeys(str(done.setting("method")) for done in found)
    return [_curve(select(found, method=method), method, figure) for method in methods]


def _curve(own: Sequence[Done], method: str, figure: str) -> Curve:
    sizes = tuple(sorted({labelled_of(done) for done in own}))
    at = {n: [done for done in own if labelled_of(done) == n] for n in sizes}
    return Curve(method, sizes, tuple(mean_of(figures(at[n], figure)) for n in sizes))


def labelled_of(done: Done) -> int:
    """Labelled rows of each class that a fit was given."""
    return int(done.setting("rows")["labelled"])


def worth_of_rules(
    outcomes: Iterable[Done], labelled: int | None = None, figure: str = "balanced"
) -> Worth:
    """Return what the rules spare beside `labelled` rows of each class (the fewest, if not
    said).
    """
    found = list(outcomes)
    ours, sizes = _by_draw(select(found, method="HIPAD"), figure)
    theirs, same = _by_draw(select(found, method="no rules"), figure)
    if ours.shape != theirs.shape or sizes != same or not ours.size:
        failed = "; ".join(failed_arms(found))
        raise DataError(
            "expected curves with and without rules on the same draws: "
            + (f"mend what failed ({failed})" if failed else "finish both")
        )
    at = 0 if labelled is None else sizes.index(labelled)
    value, beyond = spared(ours.mean(axis=0), theirs.mean(axis=0), sizes, at)
    rng = np.random.default_rng(0)
    again = []
    for _ in range(RESAMPLED):
        rows = rng.integers(len(ours), size=len(ours))
        one, over = spared(ours[rows].mean(axis=0), theirs[rows].mean(axis=0), sizes, at)
        again.append(math.copysign(math.inf, one) if over else one)
    low, high = np.quantile(again, [0.025, 0.975], method="nearest")
    top = 2.0 * (sizes[-1] - sizes[at])
    ends = min(float(low), top), max(float(high), -top)
    return Worth(2 * sizes[at], value, *ends, beyond)


def spared(
    ours: FloatArray, theirs: FloatArray, sizes: Sequence[int], at: int
) -> tuple[float, bool]:
    """Further rows, of both classes, with which the other curve gets as far; and whether never.

    Where ours is the lower one it is our curve that must get as far, and the rows count below zero.
    Between two sizes a curve is taken to be straight in the logarithm of the size.

    >>> spared(np.array([0.8, 0.9]), np.array([0.6, 0.8]), (8, 32), 0)
    (48.0, False)
    >>> spared(np.array([0.6, 0.8]), np.array([0.8, 0.9]), (8, 32), 0)
    (-48.0, False)
    """
    rising = isotonic_regression(theirs)
    goal = float(ours[at])
    if goal < rising[at]:
        rows, never = _needed(float(rising[at]), isotonic_regression(ours), sizes, at)
        return -rows, never
    return _needed(goal, rising, sizes, at)


def _needed(goal: float, rising: FloatArray, sizes: Sequence[int], at: int) -> tuple[float, bool]:
    """Further rows with which a rising curve reaches the goal; and whether it never does."""
    if goal > rising[-1] + 1e-12:
        return 2.0 * (sizes[-1] - sizes[at]), True
    if goal <= rising[at]:
        return 0.0, False
    # np.interp needs strictly rising values: of equal ones the first is the earliest size.
    values, first = np.unique(rising, return_index=True)
    reached = float(np.exp(np.interp(goal, values, np.log(np.array(sizes))[first])))
    return round(2.0 * max(reached - sizes[at], 0.0), 9), False


def _by_draw(own: Sequence[Done], figure: str) -> tuple[FloatArray, tuple[int, ...]]:
    """Return a row for each draw that has every size, a column for each size."""
    sizes = tuple(sorted({labelled_of(done) for done in own}))
    draws: dict[int, dict[int, float]] = {}
    for done in own:
        draws.setdefault(done.task.seed, {})[labelled_of(done)] = done.figure(figure)
    whole = [[row[n] for n in sizes] for row in draws.values() if len(row) == len(sizes)]
    return np.array(whole, dtype=float), sizes


# --------------------------------------------------------------------------------------------------
# Whether methods differ over data sets: Friedman's test with Iman and Davenport's statistic.
#
# Each data set ranks the methods, 1 for the best. With N data sets, k methods and mean ranks R_j
#
#     chi2_F = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4)
#     F_F    = (N - 1) chi2_F / (N (k - 1) - chi2_F)
#
# and F_F follows the F distribution with k - 1 and (k - 1)(N - 1) degrees of freedom. Iman and
# Davenport, Communications in Statistics 9 (1980) 571-595; the paper uses the same.


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of the methods, 1 for the best, and how likely such ranks are by chance."""

    ranks: dict[str, float]
    data_sets: int
    chi2: float
    statistic: float
    p_value: float

    def __str__(self) -> str:
        told = ", ".join(f"{name} {rank:.2f}" for name, rank in self.ranks.items())
        if math.isnan(self.p_value):
            return f"Mean ranks over {self.data_sets} data sets: {told}."
        return (
            f"Mean ranks over {self.data_sets} data sets: {told}. Friedman's chi-square "
            f"{self.chi2:.2f}, Iman and Davenport's F {self.statistic:.2f}, p = {self.p_value:.3f}."
        )


def rank_methods(scores: Mapping[str, Sequence[float]]) -> Ranking:
    """Rank methods by their scores, one for each data set, more is better; ties share a rank.

    >>> found = rank_methods({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.7, 0.6], "c": [0.7, 0.6, 0.5]})
    >>> found.ranks, found.chi2, found.p_value
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 6.0, 0.0)
    """
    table = np.array(list(scores.values()), dtype=float).T.round(9)
    n, k = table.shape
    ranks = np.array([rankdata(-row) for row in table]).reshape(n, k)
    mean = ranks.mean(axis=0)
    named = dict(zip(scores, map(float, mean), strict=True))
    if n < 2 or k < 2:
        return Ranking(named, n, math.nan, math.nan, math.nan)
    chi2 = 12 * n / (k * (k + 1)) * (float(mean @ mean) - k * (k + 1) ** 2 / 4)
    left = n * (k - 1) - chi2
    statistic = math.inf if left <= 1e-9 else (n - 1) * chi2 / left
    p_value = float(f_distribution.sf(statistic, k - 1, (k - 1) * (n - 1)))
    return Ranking(named, n, float(chi2), float(statistic), p_value)
