"""What the training rows say of a few columns: percentiles, mean, spread, and which values occur.

Rules learn numbers such as p90(x) from the rows that a model is fitted on and from no others. Only
the columns that a rule names are ever touched.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import Any, Final

import numpy as np
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.rules.language.terms import percentile

_SAME: Final = 1e-12
_LARGEST_WHOLE: Final = 2.0**40


class ColumnValues:
    """Columns of training rows, looked at one by one and remembered.

    >>> values = ColumnValues([[0.0, 1.5], [1.0, 2.5], [4.0, 3.5]])
    >>> values.figure("median", 1), values.is_whole(0), values.lowest(1)
    (2.5, True, 1.5)
    """

    def __init__(self, X: Any) -> None:
        if isinstance(X, sparse.sparray | sparse.spmatrix):
            self._X: Any = X if X.format == "csc" else X.tocsr()
        else:
            self._X = np.asarray(X)
        self._columns: dict[int, FloatArray] = {}
        self._distinct: dict[int, FloatArray] = {}

    @property
    def n_features(self) -> int:
        return int(self._X.shape[1])

    def column(self, j: int) -> FloatArray:
        """The known values of a column."""
        if j not in self._columns:
            part = self._X[:, [j]] if sparse.issparse(self._X) else self._X[:, j]
            dense = part.toarray().ravel() if sparse.issparse(part) else part
            values = np.asarray(dense, dtype=np.float64)
            self._columns[j] = values[np.isfinite(values)]
        return self._columns[j]

    def distinct(self, j: int) -> FloatArray:
        """The different values of a column, in order."""
        if j not in self._distinct:
            self._distinct[j] = np.unique(self.column(j))
        return self._distinct[j]

    def lowest(self, j: int) -> float:
        values = self.distinct(j)
        return float(values[0]) if len(values) else np.nan

    def highest(self, j: int) -> float:
        values = self.distinct(j)
        return float(values[-1]) if len(values) else np.nan

    def is_flag(self, j: int) -> bool:
        """Whether the column holds 0 and 1 only."""
        values = self.distinct(j)
        return bool(len(values)) and bool(np.isin(values, (0.0, 1.0)).all())

    def is_whole(self, j: int) -> bool:
        """Whether the column holds whole numbers only."""
        values = self.distinct(j)
        sizes = np.abs(values)
        return bool(len(values)) and bool((values % 1 == 0).all() and sizes.max() < _LARGEST_WHOLE)

    def figure(self, function: str, j: int) -> float:
        """The mean, median, sd or percentile of a column; nan if it has no values."""
        values = self.column(j)
        if not len(values):
            return float("nan")
        if function == "mean":
            return float(values.mean())
        if function == "sd":
            return float(values.std())
        share = 50.0 if function == "median" else percentile(function)
        assert share is not None
        return float(np.percentile(values, share))

    def strict_bound(self, columns: IntArray, weights: FloatArray, bound: float) -> float:
        """The bound of sum < bound as one of sum <= ..., where the columns take single values.

        Where a patient stands on the border it moves half-way to the next value, on whole numbers
        always; elsewhere it stays.
        """
        if not len(columns):
            return bound
        if all(map(self.is_whole, columns)):
            step = _step(weights)
            return bound - step / 2 if step and _is_multiple(bound, step) else bound
        if len(columns) == 1:
            return self._half_way(int(columns[0]), float(weights[0]), bound)
        return bound

    def _half_way(self, j: int, weight: float, bound: float) -> float:
        taken = np.sort(weight * self.distinct(j))
        room = _SAME * max(abs(bound), float(np.abs(taken).max()))
        if not (np.abs(taken - bound) <= room).any():
            return bound
        below = taken[taken < bound - room]
        gap = float(np.diff(taken).min()) if len(taken) > 1 else abs(weight)
        return (float(below[-1]) + bound) / 2 if len(below) else bound - gap / 2


def _step(weights: FloatArray) -> float:
    """The step in which a sum of whole numbers moves; 0 if there is none to speak of."""
    if len(weights) == 1:
        return abs(float(weights[0]))
    if (weights % 1 == 0).all() and np.abs(weights).max() < _LARGEST_WHOLE:
        return float(reduce(gcd, [abs(int(weight)) for weight in weights]))
    return 0.0


def _is_multiple(bound: float, step: float) -> bool:
    steps = bound / step
    return abs(steps) < _LARGEST_WHOLE and abs(steps - round(steps)) <= 1e-9


def as_values(values: Any) -> ColumnValues | None:
    """Training rows as their columns' values; None if they are not known."""
    return values if values is None or isinstance(values, ColumnValues) else ColumnValues(values)
