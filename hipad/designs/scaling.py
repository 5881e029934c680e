"""Means and scales that standardise the columns of a design.

In a table of thousands of columns these are measurements of one kind, in one unit: genes, words,
pixels. A column that hardly varies beside the others is then mostly noise, and at deviation 1 it
would count as much as one that tells. So the median deviation is added to each, as is usual for
gene expression (Tusher, Tibshirani and Chu 2001, doi 10.1073/pnas.091062498). In a table of few
columns every one may have a unit of its own, and what it is measured in must not matter.
"""

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


WIDE = 1000  # columns, from which on they are taken to be of one kind


def standardisation(X: Any, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return (mean, scale) for `make_design`; the scale of a constant column is 1.

    >>> standardisation(np.array([[1.0, 0.1], [3.0, 0.1]]))[1].tolist()
    [1.0, 1.0]
    """
    mean, std = column_moments(X, weights)
    varies = std > 0
    usual = float(np.median(std[varies])) if varies.any() and std.size >= WIDE else 0.0
    return mean, np.where(varies, np.hypot(std, usual), 1.0)
