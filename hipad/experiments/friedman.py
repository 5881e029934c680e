"""Whether methods differ over data sets: Friedman's test with Iman and Davenport's statistic.

Each data set ranks the methods, 1 for the best. With N data sets, k methods and mean ranks R_j

    chi2_F = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4)
    F_F    = (N - 1) chi2_F / (N (k - 1) - chi2_F)

and F_F follows the F distribution with k - 1 and (k - 1)(N - 1) degrees of freedom. Iman and
Davenport, Communications in Statistics 9 (1980) 571-595; the paper uses the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata


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
