"""Intervals that few rows leave: of shares, means, ratios and differences, groups kept together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import binomtest, norm
from scipy.stats import t as student

from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# How good answers are, with the uncertainty that few patients bring.
#
# Every figure comes with an interval that stays inside 0 and 1 and does not vanish when all answers
# are right: Wilson's for a share, Newcombe's for the area under the ROC curve.
#
# Several rows of one patient are fewer than as many patients. Where rows have groups, the intervals
# are those of an effective number of rows: their number, divided by the design effect that the
# groups show (the variance of the figure between groups over that of independent rows), and by what
# Student's t adds for few groups.


CHOOSING = 4.5  # numbers that choosing a feature among many counts for, beside its weight
INSTABILITY = 4.0  # what a number that is fitted adds to the variance, in rows
PRIOR_GROUPS = 1.0  # groups whose rows are all alike, as which the design effect is drawn to them


def wilson_interval(right: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Return the shares that are plausible when `right` of `total` were right.

    >>> low, high = wilson_interval(8, 8)
    >>> round(low, 3), high
    (0.676, 1.0)
    """
    if not total:
        return 0.0, 1.0
    found = binomtest(right, total).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)


def effective_rows(right: npt.ArrayLike, groups: npt.ArrayLike, level: float = 0.95) -> float:
    """Return how many independent rows tell as much as these rows, of which some are right.

    >>> right, groups = np.tile([1, 0], 40), np.repeat(np.arange(16), 5)
    >>> round(effective_rows(right, groups)), round(effective_rows(np.ones(80), groups))
    (68, 14)
    """
    right = np.asarray(right, dtype=float)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    k, n = np.bincount(codes, right), np.bincount(codes).astype(float)
    total, n_groups = float(n.sum()), n.size
    if n_groups < 2:
        return 0.0
    share, prior = right.mean(), (right.sum() + 1.0) / (total + 2.0)
    between = float(((k - share * n) ** 2).sum()) * n_groups / (n_groups - 1)
    largest = float((n**2).sum()) / total  # design effect of rows that are all alike in their group
    added = PRIOR_GROUPS * prior * (1.0 - prior) * total / n_groups
    effect = (between + largest * added) / (total * share * (1.0 - share) + added)
    return total / bounded_effect(effect, largest) * few_groups(n_groups, level)


def effective_wilson_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the shares that are plausible for a share of so many rows, which need not be whole.

    >>> [round(bound, 3) for bound in effective_wilson_interval(1.0, 8.0)]
    [0.676, 1.0]
    """
    if not n > 0:
        return 0.0, 1.0
    z2 = float(norm.ppf(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = math.sqrt(z2 * share * (1 - share) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def fold_inflation(folds: int, fitted: float = math.inf, rows: float = 1.0) -> float:
    """Return by how much the variance of a cross-validated figure exceeds that of fresh rows.

    Models of two folds share most of their rows, and what they get right is correlated, at most by
    the share that each holds out (Nadeau and Bengio 2003): 1 / folds. The more independent `rows`
    there are for each number that a model has `fitted`, the less the models of the folds differ
    from that of all rows, and the excess vanishes (Bayle and others 2020). `INSTABILITY` is what
    simulations show (benchmarks/coverage.py).

    >>> fold_inflation(1), fold_inflation(5), fold_inflation(5, fitted=10.0, rows=400.0)
    (1.0, 1.8, 1.1)
    """
    most = (folds - 1.0) / folds
    return 1.0 + (min(most, INSTABILITY * fitted / rows) if rows > 0 else most)


def fitted_numbers(n_used: float, n_features: int) -> float:
    """Return how many numbers a model with so many of the features has fitted, choice included.

    >>> fitted_numbers(4, 4), fitted_numbers(4, 1000)
    (4.0, 18.0)
    """
    return float(min(n_features, CHOOSING * n_used))


def few_groups(n_groups: int, level: float) -> float:
    """By what the number of rows shrinks, as the design effect was seen in few groups only."""
    level = 0.5 + level / 2
    return float(norm.ppf(level) / student.ppf(level, n_groups - 1)) ** 2


def bounded_effect(effect: float, largest: float) -> float:
    return min(max(effect, 1.0), max(largest, 1.0))


@dataclass(frozen=True)
class Estimate:
    """A figure and its interval; where rows cannot say anything, nan and all that is possible."""

    value: float
    low: float = 0.0
    high: float = 1.0


def newcombe_area_interval(
    value: float, n_sick: float, n_well: float, level: float
) -> tuple[float, float]:
    """Return the areas theta with |theta - value| <= z sd(theta), by Hanley and McNeil's sd.

    Newcombe, Statistics in Medicine 25 (2006) 559-573, method 5.
    """
    z = float(norm.ppf((1 + level) / 2))
    others = max((n_sick + n_well) / 2 - 1, 0.0)

    def excess(theta: float) -> float:
        spread = 1 + others * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return (theta - value) ** 2 - z**2 * theta * (1 - theta) * spread / (n_sick * n_well)

    tiny = 1e-9  # at 0 and 1 the sd is zero, which is a root but not the end of the interval
    low = brentq(excess, 0.0, value - tiny) if value > tiny else 0.0
    high = brentq(excess, value + tiny, 1.0) if value < 1 - tiny else 1.0
    return float(low), float(high)


def paired_interval(
    better: int, worse: int, total: int, level: float = 0.95
) -> tuple[float, float]:
    """Return the differences in the share of right answers that are plausible, from paired answers.

    Of `total` rows answered by two models, `better` became right and `worse` became wrong. Given
    how many changed, the number that became right is binomial: the exact interval of its
    probability, carried over to the difference, excludes zero where `paired_p_value` is small.

    >>> [round(bound, 3) for bound in paired_interval(0, 8, 16)]
    [-0.5, -0.131]
    """
    changed = better + worse
    if not changed:
        return 0.0, 0.0
    found = binomtest(better, changed).proportion_ci(level, method="exact")
    low, high = ((2 * bound - 1) * changed / total for bound in (found.low, found.high))
    return float(low), float(high)


def paired_p_value(better: int, worse: int) -> float:
    """Return how likely so uneven a change of answers is if both models were equally good.

    McNemar's test in its exact form: of the patients whose answer changed, `better` became right
    and `worse` became wrong.

    >>> paired_p_value(5, 0), paired_p_value(3, 3)
    (0.0625, 1.0)
    """
    changed = better + worse
    return float(binomtest(better, changed).pvalue) if changed else 1.0


# --------------------------------------------------------------------------------------------------
# Means, ratios, and halves of two shares.


PRIOR_ROWS = 1.0  # rows of the other kind as which a mean without any spread is taken


def mean_of_shares(first: Estimate, second: Estimate) -> Estimate:
    """Return the mean of two independent shares, by the variances that their own intervals show.

    MOVER: Zou and Donner, Statistics in Medicine 27 (2008) 1693-1702.

    >>> found = mean_of_shares(Estimate(0.5, 0.3, 0.7), Estimate(1.0, 0.8, 1.0))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.75, 0.609, 0.85)
    """
    value = 0.5 * (first.value + second.value)
    below = math.hypot(first.value - first.low, second.value - second.low)
    above = math.hypot(first.high - first.value, second.high - second.value)
    return Estimate(value, max(value - below / 2, 0.0), min(value + above / 2, 1.0))


def ratio_of_shares(above: Estimate, below: Estimate) -> Estimate:
    """Return the ratio of two independent shares, by Fieller's theorem on their own intervals.

    MOVER-R: Donner and Zou, Statistical Methods in Medical Research 21 (2012) 347-359.

    >>> found = ratio_of_shares(Estimate(0.8, 0.7, 0.9), Estimate(0.2, 0.1, 0.3))
    >>> round(found.value, 1), round(found.low, 2), round(found.high, 2)
    (4.0, 2.6, 8.06)
    """
    product = above.value * below.value
    value = above.value / below.value if below.value else math.inf if above.value else math.nan

    def end(top: float, bottom: float) -> float:
        t, b = top * (2 * above.value - top), bottom * (2 * below.value - bottom)
        if b == 0:
            return math.inf
        root = math.sqrt(max(product**2 - t * b, 0.0))
        return (product - root if top == above.low else product + root) / b

    low = 0.0 if above.low <= 0 else max(end(above.low, below.high), 0.0)
    high = math.inf if below.low <= 0 else max(end(above.high, below.low), 0.0)
    return Estimate(value, low, high)


def mean_interval(
    values: FloatArray,
    level: float = 0.95,
    groups: npt.ArrayLike | None = None,
    inflation: float = 1.0,
    prior: float = 0.0,
) -> tuple[float, float]:
    """Return the means that are plausible for values above zero, on the scale of logarithms.

    Losses are skewed: of few rows most are small. `prior` is a variance as which one more row is
    taken, so that a few losses that happen to be alike make nobody certain.

    >>> low, high = mean_interval(np.array([0.1, 0.2, 0.3, 0.4]))
    >>> round(low, 3), round(high, 3)
    (0.11, 0.569)
    """
    n, mean = values.size, float(np.mean(values))
    if n < 2 or not mean > 0:
        return 0.0, math.inf
    parts = values - mean
    codes = np.arange(n)
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    sums = np.bincount(codes, parts)
    n_groups = sums.size
    if n_groups < 2:
        return 0.0, math.inf
    square = float(sums @ sums) * n_groups / (n_groups - 1)
    variance = (square + PRIOR_ROWS * prior * n / n_groups) / n**2 * inflation
    reach = float(student.ppf(0.5 + level / 2, n_groups - 1)) * math.sqrt(variance) / mean
    return mean * math.exp(-reach), mean * math.exp(min(reach, 700.0))


def cluster_effect(parts: FloatArray, groups: npt.ArrayLike | None) -> float:
    """Return by how much rows of one group, taken as independent, understate a variance.

    `parts` are what each row adds to a sum of mean zero.

    >>> cluster_effect(np.array([1.0, 1.0, -1.0, -1.0]), [0, 0, 1, 1])
    2.0
    """
    if groups is None or not float(parts @ parts) > 0:
        return 1.0
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    sums, sizes = np.bincount(codes, parts), np.bincount(codes).astype(float)
    largest = float((sizes**2).sum()) / parts.size
    n_groups = sizes.size
    few = n_groups / max(n_groups - 1, 1)
    return bounded_effect(float(sums @ sums) / float(parts @ parts) * few, largest)


def bootstrap_counts(
    n: int, groups: npt.ArrayLike | None, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return how often each row is drawn, one line a draw; rows of one group come together.

    >>> counts = bootstrap_counts(4, [0, 0, 1, 1], 3, np.random.default_rng(0))
    >>> counts.shape, bool((counts[:, 0] == counts[:, 1]).all())
    ((3, 4), True)
    """
    codes = np.arange(n)
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    n_groups = int(codes.max(initial=-1)) + 1
    drawn = rng.multinomial(n_groups, np.full(n_groups, 1.0 / max(n_groups, 1)), size=draws)
    return drawn[:, codes].astype(float)
