"""Mean, standard deviation and range of every column, without a second copy of the data.

Two passes (the mean first, then squared deviations from it) are safe for every ratio of mean to
deviation. A constant column is told by its smallest and largest value, not by a variance that
rounding keeps from zero, and its mean is the constant itself, so that centring gives exact zeros.
NaN and infinity count as missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.arrays import FloatArray

HUGE: Final = 1e307
BLOCK_ENTRIES: Final = 2**18  # 2 MB of float64: a block of columns that stays in the cache
MIN_BLOCK_COLUMNS: Final = 256  # narrower blocks leave BLAS nothing to do


@dataclass(frozen=True)
class ColumnStatistics:
    """One value per column; NaN where a column holds no value at all."""

    mean: FloatArray
    sd: FloatArray  # divided by the number of rows
    low: FloatArray
    high: FloatArray
    missing: npt.NDArray[np.intp]
    filled: FloatArray  # the share of values other than zero

    @property
    def constant(self) -> npt.NDArray[np.bool_]:
        """Columns with a single value, or none."""
        return ~(self.low < self.high)


def column_statistics(X: Any, weights: FloatArray | None = None) -> ColumnStatistics:
    """Statistics of every column of an array or a sparse matrix, over the values that are there.

    A row of weight two counts as two rows.

    >>> stats = column_statistics(np.array([[1.0, 0.1], [3.0, 0.1], [np.nan, 0.1]]))
    >>> stats.mean.tolist(), stats.sd.tolist(), stats.missing.tolist()
    ([2.0, 0.1], [1.0, 0.0], [1, 0])
    """
    if weights is None:
        weights = np.ones(X.shape[0])
    weights = np.asarray(weights, dtype=np.float64)
    if sp.issparse(X):
        return ColumnStatistics(*_sparse_moments(canonical_csc(X), weights))
    X = np.asarray(X)
    parts = [_dense_moments(X[:, block], weights) for block in column_blocks(*X.shape)]
    mean, sd, low, high, missing, filled = np.hstack(parts) if parts else np.zeros((6, 0))
    return ColumnStatistics(mean, sd, low, high, missing.astype(np.intp), filled)


def column_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices that cut the columns into blocks which fit the cache when dense."""
    width = max(MIN_BLOCK_COLUMNS, BLOCK_ENTRIES // max(n_rows, 1))
    for start in range(0, n_columns, width):
        yield slice(start, min(start + width, n_columns))


def canonical_csc(X: Any) -> Any:
    """Return X by columns, float32 or float64, sorted and without duplicates; X is not changed."""
    matrix = sp.csc_array(X)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _shares(weights: FloatArray) -> FloatArray:
    """Weights of about 1 in all, divided by a power of two, which rounds nothing."""
    return np.ldexp(weights, -int(np.frexp(weights.sum())[1]))


def _dense_moments(columns: npt.NDArray[Any], weights: FloatArray) -> FloatArray:
    part = np.array(columns, dtype=np.float64)
    gaps = ~np.isfinite(part)
    share = _shares(weights)
    part[gaps] = np.nan
    low, high = np.fmin.reduce(part, axis=0), np.fmax.reduce(part, axis=0)
    part[gaps] = 0.0
    there = share.sum() - _weighted_sums(share, gaps)  # the weight of the values that are there
    filled = _weighted_sums(share, part != 0.0)
    shrink = _shrink(low, high)
    part *= shrink
    small, large = low * shrink, high * shrink
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.clip(_weighted_sums(share, part) / there, small, large)
        centre = np.where(small == large, small, centre)
        part -= centre
        part[gaps] = 0.0
        squares = _squares(part, large - small, share) / there
        mean, sd = centre / shrink, _unit(large - small) * np.sqrt(squares) / shrink
        filled = filled / there
    sd[np.isnan(low)] = np.nan
    return np.stack([mean, sd, low, high, gaps.sum(axis=0), filled])


def _weighted_sums(share: FloatArray, part: npt.NDArray[Any]) -> FloatArray:
    """Weighted sums that are the same to the last bit whichever columns stand beside a column."""
    return np.einsum("i,ij->j", share, part)


def _shrink(low: FloatArray, high: FloatArray) -> FloatArray:
    """What keeps differences of a column's values in range: 1, but for values near the largest."""
    return np.where(np.maximum(-low, high) > HUGE, 0.25, 1.0)


def _unit(spread: FloatArray) -> FloatArray:
    """Deviations are taken relative to the spread, so that squares neither overflow nor vanish."""
    return np.where(spread > 0, spread, 1.0)


def _squares(deviations: FloatArray, spread: FloatArray, share: FloatArray) -> FloatArray:
    deviations /= _unit(spread)
    squares: FloatArray = np.einsum("i,ij,ij->j", share, deviations, deviations)
    return squares


def _sparse_moments(
    X: Any, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, npt.NDArray[np.intp], FloatArray]:
    stored = np.diff(X.indptr)
    values = X.data.astype(np.float64)
    gaps = ~np.isfinite(values)
    values[gaps] = np.nan
    share = _shares(weights)
    held = np.where(gaps, 0.0, share[X.indices])
    there = share.sum() - _column_sums(X, np.where(gaps, share[X.indices], 0.0))
    marked = sp.csc_array((values, X.indices, X.indptr), shape=X.shape)
    low, high = (
        bound.toarray().ravel() for bound in (marked.nanmin(axis=0), marked.nanmax(axis=0))
    )
    shrink = _shrink(low, high)
    small, large = low * shrink, high * shrink
    data = np.where(gaps, 0.0, values) * np.repeat(shrink, stored)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.clip(_column_sums(X, held * data) / there, small, large)
        centre = np.where(small == large, small, centre)
        unit = _unit(large - small)
        deviations = (data - np.repeat(centre, stored)) / np.repeat(unit, stored)
        unwritten = np.maximum(there - _column_sums(X, held), 0.0)
        unwritten = np.where(stored < len(share), unwritten, 0.0)
        squares = _column_sums(X, np.where(gaps, 0.0, held * deviations**2))
        squares = (squares + unwritten * (centre / unit) ** 2) / there
        sd = unit * np.sqrt(squares) / shrink
        filled = _column_sums(X, np.where(data != 0.0, held, 0.0)) / there
    missing = _column_sums(X, gaps.astype(np.float64)).astype(np.intp)
    sd[np.isnan(low)] = np.nan
    return centre / shrink, sd, low, high, missing, filled


def _column_sums(X: Any, values: FloatArray) -> FloatArray:
    """Sums by column of values that stand where X has stored entries."""
    sums = np.zeros(X.shape[1])
    occupied = np.diff(X.indptr) > 0
    if occupied.any():
        sums[occupied] = np.add.reduceat(values, X.indptr[:-1][occupied])
    return sums
