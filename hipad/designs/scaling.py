"""Means and standard deviations of columns, without a second copy of the data.

Two passes (the mean first, then squared deviations from it) are safe for every ratio of mean to
deviation. A constant column is told by its smallest and largest value, not by a variance that
rounding keeps from zero, and its mean is the constant itself, so that centring gives exact zeros.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.arrays import FloatArray
from hipad.designs.base import column_blocks
from hipad.designs.sparse import canonical_csc

HUGE: Final = 1e307


def column_moments(X: Any, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation (divided by N) of every column of an array or matrix.

    A row of weight two counts as two rows.

    >>> mean, std = column_moments(np.array([[1.0, 0.1], [3.0, 0.1]]))
    >>> mean.tolist(), std.tolist()
    ([2.0, 0.1], [1.0, 0.0])
    """
    share = np.full(X.shape[0], 1.0) if weights is None else np.asarray(weights, dtype=np.float64)
    share = share / share.sum()
    if sp.issparse(X):
        return _sparse_moments(canonical_csc(X), share)
    return _dense_moments(np.asarray(X), share)


def standardisation(X: Any, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return (mean, scale) for `make_design`; the scale of a constant column is 1."""
    mean, std = column_moments(X, weights)
    return mean, np.where(std > 0, std, 1.0)


def _dense_moments(X: npt.NDArray[Any], share: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean, std = np.empty(X.shape[1]), np.empty(X.shape[1])
    for block in column_blocks(*X.shape):
        part = np.array(X[:, block], dtype=np.float64)
        low, high = part.min(axis=0), part.max(axis=0)
        shrink = _shrink(low, high)
        part *= shrink
        low, high = low * shrink, high * shrink
        centre = np.where(low == high, low, share @ part)
        part -= centre
        mean[block] = centre / shrink
        std[block] = _root_mean_square(part, high - low, share) / shrink
    return mean, std


def _shrink(low: FloatArray, high: FloatArray) -> FloatArray:
    """What keeps differences of a column's values in range: 1, but for values near the largest."""
    return np.where(np.maximum(-low, high) > HUGE, 0.25, 1.0)


def _root_mean_square(deviations: FloatArray, spread: FloatArray, share: FloatArray) -> FloatArray:
    """The norm is taken relative to the spread, so that squares neither overflow nor vanish."""
    unit = np.where(spread > 0, spread, 1.0)
    deviations /= unit
    return unit * np.sqrt(np.einsum("i,ij,ij->j", share, deviations, deviations))


def _sparse_moments(X: Any, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    stored = np.diff(X.indptr)
    low, high = (X.min(axis=0).toarray(), X.max(axis=0).toarray())
    low, high = low.astype(np.float64), high.astype(np.float64)
    shrink = _shrink(low, high)
    low, high, data = low * shrink, high * shrink, X.data * np.repeat(shrink, stored)
    held = share[X.indices]
    mean = np.where(low == high, low, _column_sums(X, held * data))
    unit = np.where(high > low, high - low, 1.0)
    deviations = (data - np.repeat(mean, stored)) / np.repeat(unit, stored)
    empty = np.where(stored < len(share), np.maximum(1.0 - _column_sums(X, held), 0.0), 0.0)
    squares = _column_sums(X, held * deviations**2) + empty * (mean / unit) ** 2
    return mean / shrink, unit * np.sqrt(squares) / shrink


def _column_sums(X: Any, values: FloatArray) -> FloatArray:
    """Sums by column of values that stand where X has stored entries."""
    sums = np.zeros(X.shape[1])
    occupied = np.diff(X.indptr) > 0
    if occupied.any():
        sums[occupied] = np.add.reduceat(values, X.indptr[:-1][occupied])
    return sums
