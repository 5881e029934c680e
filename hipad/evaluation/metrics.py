"""How good answers are, with the uncertainty that few patients bring.

Every figure comes with an interval that stays inside 0 and 1 and does not vanish when all answers
are right: Wilson's for a share, Newcombe's for the area under the ROC curve.

Several rows of one patient are fewer than as many patients. Where rows have groups, the intervals
are those of an effective number of rows: their number, divided by the design effect that the groups
show (the variance of the figure between groups over that of independent rows), and by what
Student's t adds for few groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import binomtest, norm, rankdata
from scipy.stats import t as student

from hipad.arrays import FloatArray, IntArray

PRIOR_GROUPS = 1.0  # groups whose rows are all alike, as which the design effect is drawn to them


def wilson_interval(right: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """The shares that are plausible when `right` of `total` were right.

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
    return total / _bounded(effect, largest) * _few_groups(n_groups, level)


def effective_wilson_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """The shares that are plausible for a share of so many rows, which need not be whole.

    >>> [round(bound, 3) for bound in effective_wilson_interval(1.0, 8.0)]
    [0.676, 1.0]
    """
    if not n > 0:
        return 0.0, 1.0
    z2 = float(norm.ppf(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = math.sqrt(z2 * share * (1 - share) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def fold_inflation(folds: int) -> float:
    """Return by how much the variance of a cross-validated figure exceeds that of fresh rows.

    Models of two folds share most of their rows, and what they get right is correlated, by about
    the share that each holds out (Nadeau and Bengio 2003): 1 / folds.

    >>> fold_inflation(1), fold_inflation(5)
    (1.0, 1.8)
    """
    return 1.0 + (folds - 1.0) / folds


def _few_groups(n_groups: int, level: float) -> float:
    """By what the number of rows shrinks, as the design effect was seen in few groups only."""
    level = 0.5 + level / 2
    return float(norm.ppf(level) / student.ppf(level, n_groups - 1)) ** 2


def _bounded(effect: float, largest: float) -> float:
    return min(max(effect, 1.0), max(largest, 1.0))


@dataclass(frozen=True)
class Area:
    """The chance that a positive patient scores above a negative one, and its interval.

    Without patients of both classes the value is nan and nothing is excluded.
    """

    value: float
    low: float = 0.0
    high: float = 1.0


def roc_area(
    positive: npt.ArrayLike,
    scores: npt.ArrayLike,
    level: float = 0.95,
    groups: npt.ArrayLike | None = None,
    folds: int = 1,
) -> Area:
    """Area under the ROC curve; `positive` marks the positive patients, ties count one half.

    Rows of one group are not independent; their design effect is Obuchowski's (1997).

    >>> roc_area([False, False, True, True], [0.1, 0.4, 0.3, 0.8]).value
    0.75
    """
    sick = np.asarray(positive, dtype=bool)
    n_sick, n_well = int(sick.sum()), int((~sick).sum())
    if not n_sick or not n_well:
        return Area(math.nan)
    ranks = rankdata(np.asarray(scores, dtype=float))
    value = (ranks[sick].sum() - n_sick * (n_sick + 1) / 2) / (n_sick * n_well)
    shrunk = 1.0 / fold_inflation(folds)
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
        shrunk *= _area_rows(sick, ranks, float(value), codes, level)
    if not shrunk > 0:
        return Area(float(value))
    return Area(float(value), *_newcombe(float(value), shrunk * n_sick, shrunk * n_well, level))


def _area_rows(
    sick: npt.NDArray[np.bool_], ranks: FloatArray, value: float, codes: IntArray, level: float
) -> float:
    """The share of the rows that are as good as independent, by the variance between groups."""
    n_sick, n_well, n_groups = int(sick.sum()), int((~sick).sum()), int(codes.max()) + 1
    if n_groups < 2:
        return 0.0
    own = np.zeros(ranks.size)  # the rank of each row among those of its own class
    own[sick], own[~sick] = rankdata(ranks[sick]), rankdata(ranks[~sick])
    placed = np.where(sick, (ranks - own) / n_well, 1.0 - (ranks - own) / n_sick)
    parts = (placed - value) / np.where(sick, n_sick, n_well)
    sums, sizes = np.bincount(codes, parts), np.bincount(codes).astype(float)
    largest = float((sizes**2).sum()) / ranks.size
    alone = float(parts @ parts)
    between = float(sums @ sums) * n_groups / (n_groups - 1)
    effect = largest if alone == 0 else between / alone
    return _few_groups(n_groups, level) / _bounded(effect, largest)


def _newcombe(value: float, n_sick: float, n_well: float, level: float) -> tuple[float, float]:
    """The areas theta with |theta - value| <= z sd(theta), by Hanley and McNeil's sd.

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
    """The differences in the share of right answers that are plausible, from paired answers.

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
    """How likely so uneven a change of answers is if both models were equally good.

    McNemar's test in its exact form: of the patients whose answer changed, `better` became right
    and `worse` became wrong.

    >>> paired_p_value(5, 0), paired_p_value(3, 3)
    (0.0625, 1.0)
    """
    changed = better + worse
    return float(binomtest(better, changed).pvalue) if changed else 1.0
