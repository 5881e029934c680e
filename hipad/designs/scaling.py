"""Means and standard deviations of columns, without a second copy of the data.

Two passes (the mean first, then squared deviations from it) are safe for every ratio of mean to
deviation. A constant column is told by its smallest and largest value, not by a variance that
rounding keeps from zero, and its mean is the constant itself, so that centring gives exact zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.designs.base import FloatArray, column_blocks
from hipad.designs.sparse import canonical_csc


def column_moments(X: Any) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation (divided by N) of every column of an array or matrix.

    >>> mean, std = column_moments(np.array([[1.0, 0.1], [3.0, 0.1]]))
    >>> mean.tolist(), std.tolist()
    ([2.0, 0.1], [1.0, 0.0])
    """
    return _sparse_moments(canonical_csc(X)) if sp.issparse(X) else _dense_moments(np.asarray(X))


def standardisation(X: Any) -> tuple[FloatArray, FloatArray]:
    """Return (mean, scale) for `make_design`; the scale of a constant column is 1."""
    mean, std = column_moments(X)
    return mean, np.where(std > 0, std, 1.0)


def _dense_moments(X: npt.NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    mean, std = np.empty(X.shape[1]), np.empty(X.shape[1])
    for block in column_blocks(*X.shape):
        part = np.array(X[:, block], dtype=np.float64)
        low, high = part.min(axis=0), part.max(axis=0)
        mean[block] = np.where(low == high, low, part.mean(axis=0))
        part -= mean[block]
        std[block] = _root_mean_square(part, high - low)
    return mean, std


def _root_mean_square(deviations: FloatArray, spread: FloatArray) -> FloatArray:
    """The norm is taken relative to the spread, so that squares neither overflow nor vanish."""
    unit = np.where(spread > 0, spread, 1.0)
    deviations /= unit
    return unit * np.sqrt(np.einsum("ij,ij->j", deviations, deviations) / len(deviations))


def _sparse_moments(X: Any) -> tuple[FloatArray, FloatArray]:
    n = X.shape[0]
    stored = np.diff(X.indptr)
    low, high = (X.min(axis=0).toarray(), X.max(axis=0).toarray())
    low, high = low.astype(np.float64), high.astype(np.float64)
    mean = np.where(low == high, low, _column_sums(X, X.data.astype(np.float64)) / n)
    unit = np.where(high > low, high - low, 1.0)
    deviations = (X.data - np.repeat(mean, stored)) / np.repeat(unit, stored)
    squares = _column_sums(X, deviations**2) + (n - stored) * (mean / unit) ** 2
    return mean, unit * np.sqrt(squares / n)


def _column_sums(X: Any, values: FloatArray) -> FloatArray:
    """Sums by column of values that stand where X has stored entries."""
    sums = np.zeros(X.shape[1])
    occupied = np.diff(X.indptr) > 0
    if occupied.any():
        sums[occupied] = np.add.reduceat(values, X.indptr[:-1][occupied])
    return sums
