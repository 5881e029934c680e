"""How many labelled patients a study needs to reach a figure: from learning curves by size."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.special import digamma
from scipy.stats import norm, rankdata

from hipad.evaluation.sample_size import SampleSize, Z, required_sample_size
from hipad.exceptions import DataError
from hipad.experiments.methods import METHODS, ExperimentData
from hipad.experiments.runner import Done, Figures, Task, failed_arms, select
from hipad.utils import BoolArray, FloatArray, IntArray, count, number, percent

# --------------------------------------------------------------------------------------------------
# What is asked: a figure that the model is to reach, and how closely it is to be known.
#
# Each figure of a fit is a mean over test patients, or of pairs of them, so that each patient has a
# part in it: the derivative of the figure by this patient's weight. The parts of a figure sum to
# zero, and the sum of their squares is its variance over test patients (for the area under the ROC
# curve: DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988, 837).


Parts = Callable[[FloatArray, BoolArray], tuple[float, FloatArray]]
"""(scores, which are positive) -> the figure, and the part of each patient."""


class Figure(NamedTuple):
    """A figure by which studies are planned: its words, and its value and parts."""

    words: str
    floor: float  # what guessing reaches
    parts: Parts


def _area(scores: FloatArray, positive: BoolArray) -> tuple[float, FloatArray]:
    ranks, n1, n0 = rankdata(scores), int(positive.sum()), int((~positive).sum())
    above = np.empty(scores.size)
    above[positive] = (ranks[positive] - rankdata(scores[positive])) / n0
    above[~positive] = 1.0 - (ranks[~positive] - rankdata(scores[~positive])) / n1
    value = float(above[positive].mean())
    return value, (above - value) / np.where(positive, n1, n0)


def _share(
    of: float, against: float
) -> Callable[[FloatArray, BoolArray], tuple[float, FloatArray]]:
    """Right answers among the positive patients, the others, or the mean of both."""

    def parts(scores: FloatArray, positive: BoolArray) -> tuple[float, FloatArray]:
        right = ((scores > 0) == positive).astype(np.float64)
        value, found = 0.0, np.zeros(scores.size)
        for rows, weight in ((positive, of), (~positive, against)):
            share = float(right[rows].mean())
            value += weight * share
            found[rows] = weight * (right[rows] - share) / rows.sum()
        return value, found

    return parts


FIGURES: Final = {
    "auroc": Figure("area under the ROC curve", 0.5, _area),
    "balanced": Figure("balanced accuracy", 0.5, _share(0.5, 0.5)),
    "sensitivity": Figure("sensitivity", 0.0, _share(1.0, 0.0)),
    "specificity": Figure("specificity", 0.0, _share(0.0, 1.0)),
}
OTHER_NAMES: Final = {"auc": "auroc", "area": "auroc", "c": "auroc", "recall": "sensitivity"}
WRITTEN: Final = re.compile(
    r"\s*([A-Za-z]+)\s*=\s*([0-9.]+)\s*(%?)\s*(?:(?:\+-|\+/-|±)\s*([0-9.]+)\s*(%?)\s*)?"
)


@dataclass(frozen=True)
class Target:
    """A figure of `FIGURES`, the value to reach, and half the width of its interval, if asked."""

    figure: str
    value: float
    margin: float | None = None

    @classmethod
    def read(cls, text: str) -> Target:
        """Return what a text asks for.

        >>> Target.read("AUROC=0.8"), Target.read("sensitivity = 85 % ± 5 %").margin
        (Target(figure='auroc', value=0.8, margin=None), 0.05)
        """
        found = WRITTEN.fullmatch(text)
        name = found.group(1).lower() if found else ""
        name = OTHER_NAMES.get(name, name)
        try:
            assert found is not None
            assert name in FIGURES
            value, margin = float(found.group(2)), float(found.group(4) or "nan")
            value, margin = (
                value / (100 if found.group(3) else 1),
                margin / (100 if found.group(5) else 1),
            )
        except (AssertionError, ValueError) as error:
            raise DataError(
                f"expected a target such as auroc=0.8 or sensitivity=0.85+-0.05, of "
                f"{', '.join(FIGURES)}, got {text!r}"
            ) from error
        return cls(name, value, None if math.isnan(margin) else margin)

    def __post_init__(self) -> None:
        least = FIGURES[self.figure].floor
        if not least < self.value < 1.0:
            raise DataError(
                f"expected a target of {self.words} above {least:g} and below 1, got "
                f"{self.value:g}: correct it"
            )
        if self.margin is not None and not 0.0 < self.margin < 0.5:
            raise DataError(
                f"expected a margin above 0 and below 0.5, got {self.margin:g}: 0.05 is usual"
            )

    @property
    def words(self) -> str:
        return FIGURES[self.figure].words

    def __str__(self) -> str:
        margin = "" if self.margin is None else f" ± {number(self.margin)}"
        return f"{self.words} {number(self.value)}{margin}"

    def to_measure(self, prevalence: float) -> int | None:
        """Return the patients on whom the figure has an interval of the asked width.

        Normal intervals of shares, and Hanley and McNeil's variance of the area (Radiology 143,
        1982, 29).

        >>> Target("sensitivity", 0.85, 0.05).to_measure(0.5)
        392
        """
        if self.margin is None:
            return None
        if self.figure == "auroc":
            return self._area_patients(prevalence)
        spread = self.value * (1.0 - self.value) * (Z / self.margin) ** 2
        spread = math.ceil(round(spread, 9))
        share = {"sensitivity": prevalence, "specificity": 1.0 - prevalence}.get(self.figure)
        if share is not None:
            return math.ceil(spread / share)
        return math.ceil(spread / 4.0 * (1.0 / prevalence + 1.0 / (1.0 - prevalence)))

    def _area_patients(self, prevalence: float) -> int:
        assert self.margin is not None
        a = self.value
        one, two = a / (2.0 - a), 2.0 * a * a / (1.0 + a)
        n = 4
        while True:  # a few thousand at most: the margin is at least 0.001 in every real plan
            n1 = max(n * prevalence, 1.0)
            n0 = max(n * (1.0 - prevalence), 1.0)
            variance = a * (1 - a) + (n1 - 1) * (one - a * a) + (n0 - 1) * (two - a * a)
            if Z * math.sqrt(variance / (n1 * n0)) <= self.margin:
                return n
            n += max(1, n // 1000)


# --------------------------------------------------------------------------------------------------
# The fits: for each number of labelled patients and each draw a model with the rules and one
# without. What is kept of a fit are the scores of the patients that it was not given.


COMPARED: Final = ("HIPAD", "no rules")
POINTS: Final = 6  # sizes of a curve
DRAWS: Final = 20
FEWEST_DRAWS: Final = 3
FEWEST_OF_CLASS: Final = 5  # labelled patients of the rarer class
MOST_TESTED: Final = 2_000  # patients whose scores are kept


def plan_sizes(data: ExperimentData, points: int = POINTS) -> tuple[int, ...]:
    """Return how many patients the models of a plan learn from: to half of those that are there.

    Above that few are left to test on, and draws hardly differ.
    """
    y, _ = data.units
    rarer = min(float(np.mean(y > 0)), float(np.mean(y < 0)))
    most = y.size // 2
    least = math.ceil(FEWEST_OF_CLASS / rarer) if rarer else y.size
    if most < 2 * least:
        needed = 4 * FEWEST_OF_CLASS
        raise DataError(
            f"expected at least {needed} labelled patients of each class for a plan, got "
            f"{round(rarer * y.size)} of the rarer class: a smaller table says nothing of a larger"
        )
    return tuple(sorted({round(n) for n in np.geomspace(least, most, points)}))


def plan_tasks(
    data: ExperimentData,
    *,
    draws: int = DRAWS,
    sizes: Sequence[int] | None = None,
    options: dict[str, Any] | None = None,
) -> list[Task]:
    """Return a task for every draw, size and method; without rules there is one method.

    `options` are parameters of the classifier.
    """
    own: dict[str, Any] = {"options": options} if options else {}
    methods = COMPARED if data.rules.strip() else COMPARED[1:]
    return [
        Task("plan", data.name, seed, {"method": m, "rows": {"train": size}, **own})
        for seed in range(draws)
        for size in sizes or plan_sizes(data)
        for m in methods
    ]


def scores_of_others(
    data: ExperimentData,
    seed: int,
    *,
    method: str,
    rows: dict[str, Any],
    options: dict[str, Any] | None = None,
) -> Figures:
    """Fit a method to the rows of a seed; return the other rows and their scores."""
    draw = data.draw(seed, **rows)
    assert draw.test_rows is not None
    scores = METHODS[method].score(draw, draw.rules, dict(options or {})).scores
    kept = np.arange(scores.size)
    if scores.size > MOST_TESTED:
        kept = np.sort(np.random.default_rng(seed).choice(scores.size, MOST_TESTED, replace=False))
    lines = [float(f"{value:.8g}") for value in scores[kept]]
    return {"tested": draw.test_rows[kept].tolist(), "scores": lines}


# --------------------------------------------------------------------------------------------------
# The curves: mean figures by size, and how all of them vary together.
#
# A curve is uncertain since its draws are few, and since the patients of the table are. With D
# draws of n among m patients, the mean figure varies by
#
#     over test patients:       sum over patients of the product of their mean parts
#     over training patients:   V (1 / D + n / m)
#
# where V is the variance from draw to draw. The mean over all draws is a U-statistic of the
# patients, whose variance is at most n / m of that of one draw (Hoeffding, Annals of Mathematical
# Statistics 19, 1948, 293). What V owes to other test patients is taken off for the n / m.


@dataclass(frozen=True, eq=False)
class Curves:
    """Mean figures: a row for each method, a column for each size; and how they vary.

    `draws_part` is their variance from draw to draw, `patients_part` their covariance by the
    patients that are tested; both have methods and sizes flat.
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    means: FloatArray
    draws_part: FloatArray
    patients_part: FloatArray
    draws: int
    floor: float  # what guessing reaches

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Return ends of 95 % intervals, in the form of `means`."""
        variance = self.draws_part + np.diag(self.patients_part)
        half = Z * np.sqrt(variance).reshape(self.means.shape)
        return self.means - half, np.minimum(self.means + half, 1.0)


def plan_curves(data: ExperimentData, outcomes: Iterable[Done], figure: str) -> Curves:
    """Return the curves of the draws of which every fit is there."""
    found = list(outcomes)
    methods = tuple(m for m in COMPARED if any(d.setting("method") == m for d in found))
    sizes = tuple(sorted({int(done.setting("rows")["train"]) for done in found}))
    cells: dict[int, dict[tuple[str, int], Done]] = {}
    for done in select(found):
        place = str(done.setting("method")), int(done.setting("rows")["train"])
        cells.setdefault(done.task.seed, {})[place] = done
    whole = [own for own in cells.values() if len(own) == len(methods) * len(sizes)]
    if len(whole) < FEWEST_DRAWS:
        failed = "; ".join(failed_arms(found))
        raise DataError(
            f"expected at least {FEWEST_DRAWS} draws of which every fit is done, got {len(whole)}: "
            + (f"mend what failed ({failed})" if failed else "finish more")
        )
    patient = np.arange(data.y.size) if data.groups is None else np.unique(
        data.groups, return_inverse=True
    )[1]  # fmt: skip
    D = len(whole)
    places = [(method, n) for method in methods for n in sizes]
    values = np.empty((D, len(places)))
    within = np.zeros(len(places))  # variance of one draw's figure over its test patients
    parts = np.zeros((int(patient.max()) + 1, len(places)))
    for d, own in enumerate(whole):
        for k, place in enumerate(places):
            values[d, k], each, of = _figure_of(own[place], data, patient, figure)
            within[k] += float(each @ each) / D
            np.add.at(parts[:, k], of, each / D)
    pool = data.units[0].size
    if data.apart:  # the same rows are tested by every draw
        within[:] = 0.0
    return _curves_of(values, within, parts, methods, sizes, pool, FIGURES[figure].floor)


def _figure_of(
    done: Done, data: ExperimentData, patient: IntArray, figure: str
) -> tuple[float, FloatArray, IntArray]:
    """The figure of one fit, the parts of its test rows, and whose they are."""
    tested = np.array(done.figures["tested"], dtype=np.int64)
    scores = np.array(done.figures["scores"], dtype=np.float64)
    value, each = FIGURES[figure].parts(scores, data.y[tested] > 0)
    return value, each, patient[tested]


def _curves_of(
    values: FloatArray,
    within: FloatArray,
    parts: FloatArray,
    methods: tuple[str, ...],
    sizes: tuple[int, ...],
    m: int,
    floor: float,
) -> Curves:
    D = len(values)
    n = np.tile(np.array(sizes, dtype=np.float64), len(methods))
    tested = within * (n / m)  # what test patients add to the variance from draw to draw
    spread = np.var(values, axis=0, ddof=1)
    trained = np.maximum(spread - tested, 0.05 * spread).reshape(len(methods), -1)
    trained = _smooth(trained, sizes, D - 1)
    return Curves(
        methods,
        sizes,
        values.mean(axis=0).reshape(len(methods), len(sizes)),
        trained * (1.0 / D + n / m) + tested / D,
        parts.T @ parts,
        D,
        floor,
    )


def _smooth(variances: FloatArray, sizes: Sequence[int], freedom: int) -> FloatArray:
    """Variances of draws, flat, as a power of the size: those of single sizes are known badly."""
    x = np.log(np.array(sizes, dtype=np.float64))
    x = x - x.mean()
    y = np.log(np.maximum(variances, 1e-10))
    y = y - (digamma(freedom / 2.0) - math.log(freedom / 2.0))  # the mean of its logarithm
    slope = np.minimum(y @ x / float(x @ x), 0.0)
    return np.asarray(np.exp(y.mean(axis=1)[:, None] + np.outer(slope, x)).ravel())


# --------------------------------------------------------------------------------------------------
# From a curve to the patients that are needed.
#
# Noise over signal falls with a power of the patients:
#
#     1 / d(n) = a + b n^-c,    a, b >= 0
#
# where d is the distance of the classes in standard deviations that a figure stands for (of the
# area A: the normal quantile of A). For a linear rule of normal classes 1 / d^2 is such a line in
# 1 / n; on real curves the power of 1 / d misses least, where a power law of the figure itself
# bends wrongly at few patients (`python -m benchmarks plan`). c is taken from a grid, for which a
# and b are least squares, weighted by the variance of draws. The interval comes from drawing the
# means again by their covariance, and fitting again: it holds draws, patients and the shape of the
# curve. Where a drawn curve never reaches the target, or only far beyond the sizes that were tried,
# the interval is open.

POWERS: Final = np.geomspace(0.3, 1.6, 27)
RESAMPLED: Final = 2_000
REACH: Final = 4.0  # times the largest size: beyond that a curve is no more than a guess
LEVEL: Final = 0.95
NEAREST: Final = 0.02  # to its floor and to one, of which a figure is told apart


def _noise(values: FloatArray, floor: float) -> FloatArray:
    """Return 1 / d of figures, whose floor is what guessing reaches."""
    share = np.clip((values - floor) / (1.0 - floor), NEAREST, 1.0 - 1e-4)
    return np.asarray(1.0 / norm.ppf((1.0 + share) / 2.0))


def _figure(noise: FloatArray, floor: float) -> FloatArray:
    """Return the figures of 1 / d."""
    share = 2.0 * norm.cdf(1.0 / np.maximum(noise, 1e-9)) - 1.0
    return np.asarray(floor + (1.0 - floor) * share)


@dataclass(frozen=True, eq=False)
class CurveFit:
    """The curves 1 / d(n) = a + b n^-c, one for each row of means."""

    a: FloatArray
    b: FloatArray
    c: FloatArray
    floor: float

    @classmethod
    def of(
        cls, sizes: Sequence[int], means: FloatArray, variance: FloatArray, floor: float
    ) -> CurveFit:
        """Fit rows of means at these sizes; `variance` is that of their draws."""
        z = _noise(means, floor)
        middle = _noise(means.mean(axis=0), floor)
        step = 1e-4
        slope = (_noise(means.mean(axis=0) + step, floor) - middle) / step
        weights = 1.0 / np.maximum(variance * slope**2, 1e-12)
        weights = weights / weights.sum()
        n, best = np.array(sizes, dtype=np.float64), np.full(len(z), np.inf)
        a, b, c = np.empty((3, len(z)))
        level = z @ weights
        for power in POWERS:
            x = n**-power
            centre = float(x @ weights)
            steep = ((z - level[:, None]) * (x - centre)) @ weights
            steep = np.maximum(steep / float((x - centre) ** 2 @ weights), 0.0)
            rest = level - steep * centre
            steep = np.where(rest < 0.0, (z * x) @ weights / float(x**2 @ weights), steep)
            rest = np.maximum(rest, 0.0)
            left = ((z - rest[:, None] - np.outer(steep, x)) ** 2) @ weights
            better = left < best
            best = np.where(better, left, best)
            a, b, c = (
                np.where(better, new, old) for new, old in ((rest, a), (steep, b), (power, c))
            )
        return cls(a, b, c, floor)

    def at(self, n: float) -> FloatArray:
        """Return the figure of each curve with n patients."""
        return _figure(self.a + self.b * n**-self.c, self.floor)

    @property
    def ceiling(self) -> FloatArray:
        """The figure that no number of patients goes beyond."""
        return _figure(self.a, self.floor)

    def reach(self, value: float, least: float, most: float) -> FloatArray:
        """Return the patients with which each curve reaches a value; inf above `most`, or never.

        None needs fewer than `least`, below which no curve was looked at.
        """
        goal = float(_noise(np.array(value), self.floor))
        with np.errstate(divide="ignore", over="ignore"):
            needed = (self.b / np.maximum(goal - self.a, 1e-300)) ** (1.0 / self.c)
        needed = np.where(self.a + self.b * least**-self.c <= goal, least, needed)
        return np.where(needed > most, np.inf, needed)


@dataclass(frozen=True)
class Needed:
    """Patients to learn from for one method; `inf` where the curve does not get as far.

    `least` is the smallest size and `most` the one up to which the curve is trusted. Without
    bound at both ends the table does not tell.
    """

    method: str
    value: float
    low: float
    high: float
    least: int
    most: int
    ceiling: float  # the figure at which the curve levels off

    @property
    def is_open(self) -> bool:
        return math.isinf(self.high)

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"more than {self.most:,} (the curve levels off near {self.ceiling:.3f})"
        ends = (self._formatted(self.low), self._formatted(self.high))
        value = (
            f"more than {self.most:,}" if math.isinf(self.value) else self._formatted(self.value)
        )
        return f"{value} (95 % interval {ends[0]} to {ends[1]})"

    def _formatted(self, n: float) -> str:
        if math.isinf(n):
            return "beyond the curve"
        return f"at most {self.least:,}" if n <= self.least else f"{math.ceil(n):,}"


def needed_by_method(curves: Curves, value: float, *, seed: int = 0) -> list[Needed]:
    """Return the patients with which each method reaches a value, with 95 % intervals."""
    variance = curves.draws_part.reshape(curves.means.shape)
    again = _drawn_again(curves, np.random.default_rng(seed))
    least, most = curves.sizes[0], round(REACH * curves.sizes[-1])
    found = []
    for k, method in enumerate(curves.methods):
        fit = CurveFit.of(curves.sizes, curves.means[k : k + 1], variance[k], curves.floor)
        others = CurveFit.of(curves.sizes, again[:, k], variance[k], curves.floor)
        tails = (1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0
        low, high = np.quantile(others.reach(value, least, most), tails, method="nearest")
        here = float(fit.reach(value, least, most)[0])
        own = least, most, float(fit.ceiling[0])
        found.append(Needed(method, here, float(low), float(high), *own))
    return found


def _drawn_again(curves: Curves, rng: np.random.Generator) -> FloatArray:
    """Means as they might have been: samples by methods by sizes."""
    shape = RESAMPLED, curves.means.size
    values, vectors = np.linalg.eigh(curves.patients_part)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    tested = rng.standard_normal(shape) @ root.T
    # the variance of draws is itself known from few of them: Student's t in place of the normal
    freedom = curves.draws - 1
    heavy = np.sqrt(freedom / rng.chisquare(freedom, (RESAMPLED, 1)))
    drawn = rng.standard_normal(shape) * np.sqrt(curves.draws_part) * heavy
    return curves.means + (tested + drawn).reshape(RESAMPLED, *curves.means.shape)


# --------------------------------------------------------------------------------------------------
# The plan: what is needed to learn and to measure, Riley's criteria beside it, and a paragraph for
# the protocol of the study.


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """How many labelled patients a target needs, with the rules and without.

    `spared` are the patients that the rules save, where both ways are known and bounded.
    `to_measure` is None where no margin was asked for, `criteria` where they do not apply.
    """

    target: Target
    curves: Curves
    needed: tuple[Needed, ...]
    to_measure: int | None
    criteria: SampleSize | None
    patients: int  # of the table
    prevalence: float
    features: int
    positive: str
    data: str

    @property
    def spared(self) -> float | None:
        by_method = {one.method: one.value for one in self.needed}
        if set(by_method) != set(COMPARED) or any(map(math.isinf, by_method.values())):
            return None
        return by_method["no rules"] - by_method["HIPAD"]

    @property
    def sentences(self) -> list[str]:
        """The answer in words, the first sentence first."""
        lines = [
            f"{str(self.target)[0].upper()}{str(self.target)[1:]} {NEEDS[one.method]} needs "
            f"{one} labelled patients."
            for one in self.needed
        ]
        if any(one.is_open for one in self.needed):
            lines.append(
                f"An interval that ends beyond the curve is open: {self.patients:,} patients do "
                f"not tell what happens above {self.needed[0].most:,}."
            )
        if self.to_measure is not None:
            lines.append(
                f"To measure it within ± {number(self.target.margin or 0.0)} takes "
                f"{self.to_measure:,} patients that the model has not seen, at "
                f"{percent(self.prevalence)} {self.positive}; in a cross-validation these are the "
                "patients that it learns from."
            )
        if self.criteria is not None:
            own = self.criteria
            lines.append(
                "Riley's criteria for an unpenalised regression of "
                f"{count(own.parameters, 'parameter')} ask for {own.n:,} ({own.shrinkage:,} for a "
                f"shrinkage of 0.9, {own.optimism:,} for an optimism of 0.05, "
                f"{own.overall_risk:,} for the overall risk)."
            )
        return lines

    def paragraph(self) -> str:
        """Return the paragraph on the sample size for the protocol of a study."""
        sizes = ", ".join(f"{n:,}" for n in self.curves.sizes)
        start = (
            f"Sample size. The number of labelled patients was planned from learning curves on "
            f"{self.data} ({self.patients:,} patients, {percent(self.prevalence)} of them "
            f"{self.positive}; {count(self.features, 'candidate feature')}). HIPAD classifiers "
            f"learnt from {sizes} patients drawn at random at this prevalence, "
            f"{self.curves.draws} times each, and were tested on all other patients"
        )
        with_rules = ", with the experts' rules and without" if len(self.needed) > 1 else ""
        method = (
            f"{start}{with_rules}. The inverse of the normal quantile of the figure was fitted as "
            "a constant and a power of the number of patients; 95 % intervals come from "
            f"{RESAMPLED:,} resamples over draws and patients."
        )
        reference = (
            ""
            if self.criteria is None
            else " Riley's criteria: Riley et al., BMJ 2020;368:m441, with the Cox-Snell R2 "
            f"{self.criteria.r_squared:.3f} that stands for the AUC (Riley et al., Statistics in "
            "Medicine 2021;40:859)."
        )
        return "\n\n".join([method, " ".join(self.sentences) + reference]) + "\n"


NEEDS: Final = {"HIPAD": "with the rules", "no rules": "without rules"}


def study_plan(
    data: ExperimentData,
    outcomes: Iterable[Done],
    target: Target,
    *,
    parameters: int | None = None,
) -> StudyPlan:
    """Return the plan that the fits of `plan_tasks` give.

    Parameters
    ----------
    data : ExperimentData
        The table at hand.
    outcomes : iterable of Done
        Finished fits.
    target : Target
        What the study is to reach.
    parameters : int, default=None
        Candidate parameters for Riley's criteria; None counts the columns.
    """
    found = list(outcomes)
    curves = plan_curves(data, found, target.figure)
    y, _ = data.units
    prevalence = float(np.mean(y > 0))
    features = int(data.X.shape[1])
    auc = target.value
    if target.figure != "auroc":  # what the best curve reaches stands for what is anticipated
        auc = float(plan_curves(data, found, "auroc").means[:, -1].max())
    criteria = None
    if 0.5 < auc < 1.0:
        criteria = required_sample_size(parameters or features, prevalence, auc=auc)
    return StudyPlan(
        target,
        curves,
        tuple(needed_by_method(curves, target.value)),
        target.to_measure(prevalence),
        criteria,
        int(y.size),
        prevalence,
        features,
        str(data.labels[1]),
        data.name,
    )
