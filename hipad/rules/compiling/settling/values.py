"""What the training rows say of a few columns: percentiles, mean, spread, and which values occur.

Rules learn numbers such as p90(x) from the rows that a model is fitted on and from no others. Only
the columns that a rule names are ever touched.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.data.gaps import Gaps
from hipad.rules.compiling.rows import comparison_room, same_in_single
from hipad.rules.language.terms import percentile

_SAME: Final = 1e-12
_AT_ONCE: Final = 256  # columns added up at a time
_LARGEST_WHOLE: Final = 2.0**40


class ColumnValues:
    """Columns of training rows, looked at one by one and remembered; without values in `gaps`.

    >>> values = ColumnValues([[0.0, 1.5], [1.0, 2.5], [4.0, 3.5]])
    >>> values.figure("median", 1), values.is_whole(0), values.lowest(1)
    (2.5, True, 1.5)
    """

    def __init__(self, X: Any, gaps: Gaps | None = None) -> None:
        if isinstance(X, sparse.sparray | sparse.spmatrix):
            self._X: Any = X if X.format == "csc" else X.tocsr()
        else:
            self._X = np.asarray(X)
        self._gaps = gaps if gaps else None
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
            known = np.isfinite(values)
            if self._gaps is not None:
                known &= ~self._gaps.rows([j])
            self._columns[j] = values[known]
        return self._columns[j]

    def distinct(self, j: int) -> FloatArray:
        """The different values of a column, in order."""
        if j not in self._distinct:
            self._distinct[j] = np.unique(self.column(j))
        return self._distinct[j]

    def lowest(self, j: int) -> float:
        """The smallest value of a column; nan where none is known."""
        values = self.distinct(j)
        return float(values[0]) if len(values) else np.nan

    def highest(self, j: int) -> float:
        """The largest value of a column; nan where none is known."""
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
        """The bound of sum < bound as one of sum <= ..., which no patient on the border meets.

        On whole numbers it moves by half a step always. Elsewhere it moves half-way to the next
        sum that a training row has, if one lies on the border, and else stays.
        """
        if not len(columns):
            return bound
        step = _step(weights) if all(map(self.is_whole, columns)) else 0.0
        if step:
            return bound - step / 2 if _is_multiple(bound, step) else bound
        sums, on_border = self._sums(columns, weights, bound)
        if not on_border.any():
            return bound
        below = sums[~on_border & (sums < bound)]
        if len(below):
            return (float(below.max()) + bound) / 2
        gaps = np.diff(np.unique(sums[~on_border]))
        return bound - float(gaps.min() if len(gaps) else np.abs(weights).max()) / 2

    def _sums(
        self, columns: IntArray, weights: FloatArray, bound: float
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """The sum in each row that has all values, and whether it lies on the bound."""
        sums, sizes = np.zeros(self._X.shape[0]), np.zeros(self._X.shape[0])
        step = len(columns) if sparse.issparse(self._X) else _AT_ONCE
        for k in range(0, len(columns), step):
            part = self._X[:, columns[k : k + step]]
            sums += part @ weights[k : k + step]
            sizes += abs(part) @ np.abs(weights[k : k + step])
        known = np.isfinite(sums)
        if self._gaps is not None:
            known &= ~self._gaps.rows(columns)
        sums, sizes = sums[known], sizes[known]
        on_border = np.abs(sums - bound) <= comparison_room(sizes, bound)
        if len(columns) == 1:
            on_border |= same_in_single(sums / weights[0], bound / float(weights[0]))
        return sums, on_border


def _step(weights: FloatArray) -> float:
    """The step in which a sum of whole numbers moves; 0 if there is none to speak of."""
    unit = float(np.abs(weights).min())
    ratios = weights / unit if unit else weights
    if not unit or np.abs(ratios).max() >= _LARGEST_WHOLE:
        return 0.0
    whole = ratios.round()
    if (np.abs(ratios - whole) <= _SAME * np.abs(ratios)).all():
        return unit
    if (weights % 1 == 0).all() and np.abs(weights).max() < _LARGEST_WHOLE:
        return float(reduce(gcd, [abs(int(weight)) for weight in weights]))
    return 0.0


def _is_multiple(bound: float, step: float) -> bool:
    steps = bound / step
    return abs(steps) < _LARGEST_WHOLE and abs(steps - round(steps)) <= 1e-9


def as_values(values: Any) -> ColumnValues | None:
    """Training rows as their columns' values; None if they are not known."""
    return values if values is None or isinstance(values, ColumnValues) else ColumnValues(values)
