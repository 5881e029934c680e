"""What each column of a matrix is like: its statistics, its median, and whether it repeats another.

Dense matrices are walked in blocks of columns, so that 500 x 50,000 needs no second copy; NaN and
infinity count as missing everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from hipad.arrays import FloatArray, IntArray
from hipad.data.moments import column_blocks, column_statistics
from hipad.data.table import Matrix
from hipad.optional import require

if TYPE_CHECKING:
    import pandas as pd


def summarise(X: Matrix, names: Sequence[str]) -> pd.DataFrame:
    """One row per feature: its name, mean, standard deviation, gaps, smallest and largest value."""
    require(["pandas"], "a summary of all features")
    import pandas as pd  # here, as reading a table alone does without it

    stats = column_statistics(X)
    return pd.DataFrame(
        {
            "feature": list(names),
            "mean": stats.mean,
            "sd": stats.sd,
            "missing": stats.missing,
            "min": stats.low,
            "max": stats.high,
        }
    )


def medians(X: Matrix) -> FloatArray:
    """Median of every column over the values that are there; zero where there is none."""
    result = np.zeros(X.shape[1])
    if sp.issparse(X):
        X = sp.csc_array(X)
        # A column that is not written in half of its rows has the median zero.
        columns = np.flatnonzero(2 * np.diff(X.indptr) >= X.shape[0])
    else:
        columns = np.arange(X.shape[1])
    for block in column_blocks(X.shape[0], columns.size):
        part = X[:, columns[block]]
        values = (part.toarray() if sp.issparse(part) else part).T.astype(np.float64)
        result[columns[block]] = _row_medians(values)
    return result


def _row_medians(values: FloatArray) -> FloatArray:
    gap = ~np.isfinite(values)
    if not gap.any():
        return 2 * np.median(values / 2, axis=1)  # the mean of two large values may be too large
    values[gap] = np.inf  # sorted to the end
    values.sort(axis=1)
    n = values.shape[1] - gap.sum(axis=1)
    low, high = (
        np.take_along_axis(values, np.maximum(middle, 0)[:, None], axis=1).ravel()
        for middle in ((n - 1) // 2, n // 2)
    )
    return np.where(n > 0, 0.5 * low + 0.5 * high, 0.0)


def duplicates(X: Matrix) -> IntArray:
    """Columns that repeat an earlier one exactly."""
    first: dict[bytes, int] = {}
    repeated = []
    for j, content in enumerate(_column_bytes(X)):
        digest = hashlib.blake2b(content, digest_size=16).digest()
        if first.setdefault(digest, j) != j:
            repeated.append(j)
    return np.array(repeated, dtype=np.intp)


def _column_bytes(X: Matrix) -> Iterator[bytes]:
    if sp.issparse(X):
        X = sp.csc_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            yield X.indices[start:end].tobytes() + X.data[start:end].tobytes()
        return
    for block in column_blocks(*X.shape):
        # Adding zero makes -0.0 and 0.0 the same bytes.
        yield from (column.tobytes() for column in np.ascontiguousarray(X[:, block].T) + 0.0)
