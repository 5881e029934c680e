"""Means and scales that standardise the columns of a design.

A full column is scaled to deviation 1. In a column that is mostly zero it is the entries that are
scaled to about 1: a word that occurs in one text of a hundred would, at deviation 1, weigh ten
times as much where it occurs as one that occurs in every other, and a larger entry than the one
that was seen would weigh more than all other columns together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from hipad.data.moments import canonical_csc, column_blocks, column_statistics
from hipad.designs.base import FloatArray


def column_moments(X: Any, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation (divided by N) of every column of an array or matrix.

    A row of weight two counts as two rows.

    >>> mean, std = column_moments(np.array([[1.0, 0.1], [3.0, 0.1]]))
    >>> mean.tolist(), std.tolist()
    ([2.0, 0.1], [1.0, 0.0])
    """
    stats = column_statistics(X, weights)
    return stats.mean, stats.sd


def filled_shares(X: Any, weights: FloatArray | None = None) -> FloatArray:
    """The share of rows, by weight, in which each column is not zero.

    >>> filled_shares(np.array([[1.0, 0.0], [3.0, 2.0]])).tolist()
    [1.0, 0.5]
    """
    w = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
    if issparse(X):
        csc = canonical_csc(X)
        columns = np.repeat(np.arange(csc.shape[1]), np.diff(csc.indptr))
        there = w[csc.indices] * (csc.data != 0)
        parts = [np.bincount(columns, there, minlength=csc.shape[1]).astype(np.float64)]
    else:
        parts = [w @ (X[:, block] != 0) for block in column_blocks(*X.shape)]
    return np.minimum(np.concatenate([np.zeros(0), *parts]) / w.sum(), 1.0)


def standardisation(X: Any, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return (mean, scale) for `make_design`; the scale of a constant column is 1."""
    mean, std = column_moments(X, weights)
    varies = std > 0
    share = np.where(varies, filled_shares(X, weights), 1.0)
    return mean, np.where(varies, std / np.sqrt(share), 1.0)
