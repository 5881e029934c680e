"""Means and scales that standardise the columns of a design, whatever unit each is measured in.

Every column can be brought to mean 0 and deviation 1 (`standardisation`). In tables of words,
pixels or genes it is often better that a column which varies little for the size of its values
counts less: a word that hardly any text has, a gene that is the same in everybody but for noise
(`damped_scale`). Which of both serves a table, its labelled rows say (hipad/estimator/damping.py).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from hipad.data.moments import ColumnStatistics, column_statistics
from hipad.designs.base import FloatArray

LAST_DIGITS: Final = 16 * float(np.finfo(np.float64).eps)
LARGE: Final = 1e-6  # of a constant value


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
    """Return (mean, scale) for `make_design`; the scale of a constant column is 1.

    A column that varies by no more than the last digits of its values counts as constant: 0.3 and
    0.1 + 0.2 are one value. Where that value is very large, so is the scale, or else the rounding
    of sums would look like a feature.

    >>> standardisation(np.array([[1.0, 0.1], [3.0, 0.1]]))[1].tolist()
    [1.0, 1.0]
    >>> standardisation(np.array([[0.3, 1e12], [0.1 + 0.2, 1e12]]))[1].tolist()
    [1.0, 1000000.0]
    """
    stats = column_statistics(X, weights)
    return stats.mean, unit_scale(stats)


def unit_scale(stats: ColumnStatistics) -> FloatArray:
    """Return what brings every column to deviation 1; about 1 for a constant column."""
    flat = np.maximum(1.0, LARGE * np.abs(stats.mean))
    return np.where(varying(stats), stats.sd, flat)


def varying(stats: ColumnStatistics) -> np.ndarray:
    """Return which columns vary by more than the last digits of their values."""
    return np.asarray(stats.sd > LAST_DIGITS * np.abs(stats.mean))


def damped_scale(stats: ColumnStatistics) -> FloatArray:
    """Return scales under which columns count less that vary little for the size of their values.

    The size of a column is the root mean square of its values other than zero. A share of it is
    added to the squared deviation: the median over all columns of deviation to size. (Tusher,
    Tibshirani and Chu 2001, doi 10.1073/pnas.091062498, add the median deviation itself, which
    hangs on the units.)

    >>> X = np.array([[1.0, 10.0, 0.0], [3.0, 10.2, 0.0], [2.0, 10.1, 0.0], [2.0, 10.1, 5.0]])
    >>> damping = damped_scale(column_statistics(X)) / unit_scale(column_statistics(X))
    >>> damping.round(1).tolist()
    [1.4, 47.6, 1.3]
    """
    varies, unit = varying(stats), unit_scale(stats)
    if not varies.any():
        return unit
    size = np.hypot(stats.mean, stats.sd) / np.sqrt(np.where(varies, stats.filled, 1.0))
    usual = float(np.median(stats.sd[varies] / size[varies]))
    return np.where(varies, np.hypot(stats.sd, usual * size), unit)
