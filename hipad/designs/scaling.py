"""Means and scales that standardise the columns of a design."""

from __future__ import annotations

from typing import Any

import numpy as np

from hipad.data.moments import column_statistics
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


def standardisation(X: Any, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return (mean, scale) for `make_design`; the scale of a constant column is 1."""
    mean, std = column_moments(X, weights)
    return mean, np.where(std > 0, std, 1.0)
