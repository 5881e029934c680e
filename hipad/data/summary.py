"""What each column of a matrix is like: mean, spread, gaps, constants and duplicates.

Dense matrices are walked in blocks of columns, so that 500 x 50,000 needs no second copy; NaN and
infinity count as missing everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.data.table import Matrix
from hipad.optional import require

if TYPE_CHECKING:
    import pandas as pd

BLOCK_CELLS: Final = 2_000_000

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ColumnStatistics:
    """One value a column; NaN where a column holds no value at all."""

    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    missing: Ints

    @property
    def constant(self) -> npt.NDArray[np.bool_]:
        """Columns with a single value, or none."""
        return ~(self.low < self.high)


def column_statistics(X: Matrix) -> ColumnStatistics:
    """Statistics of every column, over the values that are there."""
    if sp.issparse(X):
        return _sparse_statistics(X)
    parts = [_dense_statistics(X[:, block]) for block in _blocks(*X.shape)]
    empty = np.zeros((5, 0))
    mean, sd, low, high, missing = np.hstack(parts) if parts else empty
    return ColumnStatistics(mean, sd, low, high, missing.astype(np.intp))


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


def medians(X: Matrix) -> Floats:
    """Median of every column over the values that are there; zero where there is none."""
    result = np.zeros(X.shape[1])
    if sp.issparse(X):
        X = sp.csc_array(X)
        # A column that is not written in half of its rows has the median zero.
        columns = np.flatnonzero(2 * np.diff(X.indptr) >= X.shape[0])
    else:
        columns = np.arange(X.shape[1])
    for block in _blocks(X.shape[0], columns.size):
        part = X[:, columns[block]]
        values = (part.toarray() if sp.issparse(part) else part).T.astype(np.float64)
        result[columns[block]] = _row_medians(values)
    return result


def _row_medians(values: Floats) -> Floats:
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


def duplicates(X: Matrix) -> Ints:
    """Columns that repeat an earlier one exactly."""
    first: dict[bytes, int] = {}
    repeated = []
    for j, content in enumerate(_column_bytes(X)):
        digest = hashlib.blake2b(content, digest_size=16).digest()
        if first.setdefault(digest, j) != j:
            repeated.append(j)
    return np.array(repeated, dtype=np.intp)


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, BLOCK_CELLS // max(n_rows, 1))
    return (slice(start, start + step) for start in range(0, n_columns, step))


def _dense_statistics(part: npt.NDArray[np.floating]) -> Floats:
    values = part.astype(np.float64)
    there = np.isfinite(values)
    n = there.sum(axis=0)
    low = np.where(there, values, np.inf).min(axis=0)
    high = np.where(there, values, -np.inf).max(axis=0)
    values[~there] = 0.0
    unit = _unit(low, high)
    values /= unit
    with np.errstate(invalid="ignore"):
        mean = values.sum(axis=0) / n
        deviations = np.where(there, values - mean, 0.0)
        sd = np.sqrt(np.einsum("ij,ij->j", deviations, deviations) / n)
    mean, sd = _between(mean * unit, low, high), sd * unit
    low, high = (np.where(n > 0, bound, np.nan) for bound in (low, high))
    return np.stack([mean, sd, low, high, len(values) - n])


def _unit(low: Floats, high: Floats) -> Floats:
    """A power of two as large as a column's values: divided by it, no square leaves the range."""
    largest = np.maximum(np.abs(low), np.abs(high))
    size = np.where(np.isfinite(largest) & (largest > 0), largest, 1.0)
    return np.ldexp(1.0, np.clip(np.frexp(size)[1], -1000, 1000))


def _between(mean: Floats, low: Floats, high: Floats) -> Floats:
    """Rounding takes no mean beyond the values that it is the mean of."""
    return np.where(low <= high, np.clip(mean, low, high), mean)


def _sparse_statistics(X: sp.csr_array) -> ColumnStatistics:
    n_rows, n_columns = X.shape
    X = sp.csc_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    columns = np.repeat(np.arange(n_columns), np.diff(X.indptr))
    there = np.isfinite(X.data)

    def total(values: Floats) -> Floats:
        kept = np.where(there, values, 0.0)
        return np.bincount(columns, kept, n_columns).astype(np.float64)

    missing = np.bincount(columns[~there], minlength=n_columns)
    n = n_rows - missing
    X.data[~there] = np.nan
    low, high = (bound.toarray().ravel() for bound in (X.nanmin(axis=0), X.nanmax(axis=0)))
    unit = _unit(low, high)
    values = np.where(there, X.data, 0.0) / unit[columns]
    with np.errstate(invalid="ignore"):
        mean = total(values) / n
        squares = total((values - mean[columns]) ** 2)
        zeros = n - total(np.ones_like(X.data))
        sd = np.sqrt((squares + zeros * mean**2) / n)
    return ColumnStatistics(_between(mean * unit, low, high), sd * unit, low, high, missing)


def _column_bytes(X: Matrix) -> Iterator[bytes]:
    if sp.issparse(X):
        X = sp.csc_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            yield X.indices[start:end].tobytes() + X.data[start:end].tobytes()
        return
    for block in _blocks(*X.shape):
        # Adding zero makes -0.0 and 0.0 the same bytes.
        yield from (column.tobytes() for column in np.ascontiguousarray(X[:, block].T) + 0.0)
