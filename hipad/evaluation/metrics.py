"""How good answers are, with the uncertainty that few patients bring.

Every figure comes with an interval that stays inside 0 and 1 and does not vanish when all answers
are right: Wilson's for a share, Newcombe's for the area under the ROC curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import binomtest, norm, rankdata


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


@dataclass(frozen=True)
class Area:
    """The chance that a positive patient scores above a negative one, and its interval.

    Without patients of both classes the value is nan and nothing is excluded.
    """

    value: float
    low: float = 0.0
    high: float = 1.0


def roc_area(positive: npt.ArrayLike, scores: npt.ArrayLike, level: float = 0.95) -> Area:
    """Area under the ROC curve; `positive` marks the positive patients, ties count one half.

    >>> roc_area([False, False, True, True], [0.1, 0.4, 0.3, 0.8]).value
    0.75
    """
    sick = np.asarray(positive, dtype=bool)
    n_sick, n_well = int(sick.sum()), int((~sick).sum())
    if not n_sick or not n_well:
        return Area(math.nan)
    ranks = rankdata(np.asarray(scores, dtype=float))
    value = (ranks[sick].sum() - n_sick * (n_sick + 1) / 2) / (n_sick * n_well)
    return Area(float(value), *_newcombe(float(value), n_sick, n_well, level))


def _newcombe(value: float, n_sick: int, n_well: int, level: float) -> tuple[float, float]:
    """The areas theta with |theta - value| <= z sd(theta), by Hanley and McNeil's sd.

    Newcombe, Statistics in Medicine 25 (2006) 559-573, method 5.
    """
    z = float(norm.ppf((1 + level) / 2))
    others = (n_sick + n_well) / 2 - 1

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
