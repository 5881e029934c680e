"""Conformal sets: for which rows a model can answer, at a chosen coverage of each class.

    sets = ConformalSets.fit(rows.scores, rows.positive, rows.groups)  # out-of-fold scores
    sets.sets(clf.decision_function(X), 0.9)                  # columns: negative, positive

A class is in the set of a row unless the row is stranger for it than nearly all rows of that class
are: each class has its own p-value (Mondrian; Vovk, Gammerman and Shafer 2005), so the coverage
holds in both, whatever their shares. A row whose set has both classes, or none, cannot be answered.
The scores are out of fold, by models that have not seen the row (cross-conformal, Vovk 2015). Rows
of one patient count together as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError
from hipad.utils import FloatArray


@dataclass(frozen=True, eq=False)
class _Class:
    """Strangeness of the rows of one class, rising, and the sum of the weights from each on."""

    strange: FloatArray
    above: FloatArray  # one longer than `strange`: nothing is above the last one

    @classmethod
    def of(cls, strange: FloatArray, weights: FloatArray) -> _Class:
        order = np.argsort(strange, kind="stable")
        above = np.cumsum(weights[order][::-1])[::-1]
        return cls(strange[order], np.r_[above, 0.0])

    def p_values(self, strange: FloatArray, own: FloatArray | float = 0.0) -> FloatArray:
        """The share of rows that are at least as strange, the row itself included.

        `own` is the weight of rows of this class that are not to be counted: those of the patient.
        """
        at = np.searchsorted(self.strange, strange, side="left")
        total = self.above[0] - own
        return np.asarray((self.above[at] - own + 1.0) / (total + 1.0))


@dataclass(frozen=True, eq=False)
class ConformalSets:
    """Sets of classes, calibrated on scores of rows that their models have not seen."""

    negative: _Class
    positive: _Class

    @classmethod
    def fit(
        cls, scores: npt.ArrayLike, positive: npt.ArrayLike, groups: npt.ArrayLike | None = None
    ) -> Self:
        """Calibrate; `scores` are above zero for the positive class.

        Examples
        --------
        >>> scores = np.array([-2.0, -1.0, -0.5, 0.2, 0.4, 1.0, 1.5, 2.0])
        >>> sets = ConformalSets.fit(scores, np.arange(8) >= 4)
        >>> sets.sets(np.array([-1.5, 0.3, 3.0]), 0.75).tolist()
        [[True, False], [False, False], [False, True]]
        """
        s, truth = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
        if s.shape != truth.shape or not np.isfinite(s).all():
            raise DataError("expected a finite score and a class of every row, got others")
        if truth.all() or not truth.any():
            raise DataError("expected rows of both classes to calibrate on, got one")
        weights = _patient_weights(truth, groups)
        return cls(_Class.of(s[~truth], weights[~truth]), _Class.of(-s[truth], weights[truth]))

    def p_values(self, scores: npt.ArrayLike) -> FloatArray:
        """How likely a row as strange is in each class; two columns, negative and positive."""
        s = np.asarray(scores, dtype=float)
        return np.column_stack([self.negative.p_values(s), self.positive.p_values(-s)])

    def sets(self, scores: npt.ArrayLike, coverage: float) -> npt.NDArray[np.bool_]:
        """Which classes are in the set of each row."""
        return sets_of(self.p_values(scores), coverage)

    @property
    def most_coverage(self) -> float:
        """The largest coverage at which a class can be ruled out: more needs more rows of it."""
        fewest = min(float(one.above[0]) for one in (self.negative, self.positive))
        return fewest / (fewest + 1.0)


def sets_of(p_values: FloatArray, coverage: float) -> npt.NDArray[np.bool_]:
    """Which classes are in the sets, by their p-values.

    >>> sets_of(np.array([[0.3, 0.05], [0.2, 0.2]]), 0.9).tolist()
    [[True, False], [True, True]]
    """
    if not 0 < coverage < 1:
        raise DataError(f"expected a coverage above 0 and below 1, got {coverage!r}")
    found: npt.NDArray[np.bool_] = p_values >= 1.0 - coverage - 1e-12
    return found


def cross_conformal(
    scores: npt.ArrayLike, positive: npt.ArrayLike, groups: npt.ArrayLike | None = None
) -> FloatArray:
    """The p-values of the training rows themselves, each without its own patient.

    >>> found = cross_conformal([-1.0, -0.5, 0.5, 1.0], [False, False, True, True])
    >>> found.round(3).tolist()
    [[1.0, 0.333], [0.5, 0.333], [0.333, 0.5], [0.333, 1.0]]
    """
    s, truth = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    sets = ConformalSets.fit(s, truth, groups)
    if groups is None:
        found = sets.p_values(s)
        for column, (one, side) in enumerate(((sets.negative, ~truth), (sets.positive, truth))):
            strange = s[side] if column == 0 else -s[side]
            found[side, column] = one.p_values(strange, own=1.0)
        return found
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    found = np.empty((s.size, 2))
    for code in range(int(codes.max()) + 1):
        own = codes == code
        rest = ~own
        if truth[rest].all() or not truth[rest].any():
            raise DataError("expected two patients or more of each class, got one")
        others = ConformalSets.fit(s[rest], truth[rest], codes[rest])
        found[own] = others.p_values(s[own])
    return found


def undecided(
    p_values: FloatArray, coverage: float, groups: npt.ArrayLike | None = None
) -> Estimate:
    """The share of rows that cannot be answered: both classes are in their set, or none is."""
    inside = sets_of(p_values, coverage).sum(axis=1)
    rows = ScoredRows(
        np.zeros(inside.size, dtype=bool),
        np.zeros(inside.size),
        groups=None if groups is None else np.asarray(groups),
    )
    return rows.share(inside != 1, np.ones(inside.size, dtype=bool))


def coverage_by_class(
    p_values: FloatArray,
    positive: npt.ArrayLike,
    coverage: float,
    groups: npt.ArrayLike | None = None,
) -> tuple[Estimate, Estimate]:
    """The share of negative and of positive rows whose own class is in their set."""
    inside, truth = sets_of(p_values, coverage), np.asarray(positive, dtype=bool)
    own = np.where(truth, inside[:, 1], inside[:, 0])
    rows = ScoredRows(
        truth, np.zeros(truth.size), groups=None if groups is None else np.asarray(groups)
    )
    return rows.share(own, ~truth), rows.share(own, truth)


def _patient_weights(truth: npt.NDArray[np.bool_], groups: npt.ArrayLike | None) -> FloatArray:
    """One for each row; the rows of a patient share one in each class."""
    if groups is None:
        return np.ones(truth.size)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    both = 2 * codes + truth
    weights: FloatArray = 1.0 / np.bincount(both)[both]
    return weights
