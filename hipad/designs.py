"""Designs: data matrices seen through the few operations that solvers ask of them.

A design gives its Gram matrix, products X't, single columns and column norms. Dense, sparse and
memory-mapped matrices differ only there; centring and scaling are implicit, so that sparse data
stay sparse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk
from sklearn.utils.extmath import safe_sparse_dot

from hipad.data.table import ColumnStatistics, canonical_csc, column_blocks, column_statistics
from hipad.exceptions import DataError
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# Z Z' over some columns, kept from one request to the next.
#
# Active sets of neighbouring fits share most of their columns. So the last answer is kept, and the
# columns that came and went are added and taken away. Once half of the columns have changed it is
# computed anew, which also keeps rounding from piling up.


class _Known(NamedTuple):
    """The last answer, and how many columns came and went since it was computed whole."""

    columns: np.ndarray
    gram: FloatArray
    changed: int


class PartialGram:
    """Z Z' of a design over any columns, quickest over nearly those of the last request."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._last: _Known | None = None

    def of(self, columns: np.ndarray) -> FloatArray:
        """Z[:, columns] Z[:, columns]' for different columns in order; not to be written to."""
        last, found = self._last, None
        if last is not None:
            found = self._updated(last, columns)
        if found is None:
            Z = self._design.columns(columns)
            found = _Known(columns, Z @ Z.T, 0)
        self._last = found  # in one step: other threads may ask at the same time
        return found.gram

    def _updated(self, last: _Known, columns: np.ndarray) -> _Known | None:
        came = np.setdiff1d(columns, last.columns, assume_unique=True)
        went = np.setdiff1d(last.columns, columns, assume_unique=True)
        changed = last.changed + came.size + went.size
        if 2 * changed > columns.size:
            return None
        gram = last.gram
        if came.size or went.size:
            new, old = self._design.columns(came), self._design.columns(went)
            gram = gram + (new @ new.T - old @ old.T)
        return _Known(columns, gram, changed)


# --------------------------------------------------------------------------------------------------
# What every design has in common: implicit scaling, caches, blocks and subsets of rows.
#
# A design is an N x m matrix Z = (X - e mean') diag(1/scale) that is never formed. The solvers ask
# of it
#
#     gram()          Z Z', once
#     correlate(t)    Z't, one pass over the data
#     dot(w)          Zw, one pass over the data
#     columns(idx)    Z[:, idx], dense
#     column_norms()  |z_j|, once
#     rows(idx)       the same for some of the samples
#
# A subclass supplies three operations on the stored X, without scaling, and the cost of a pass.
#
# Numerical hazard: mean'e't is subtracted from X't afterwards, which loses a factor |mean|/std of
# precision. X itself was rounded by as much, so this does no harm. In Z Z' the loss would be
# squared; there the columns are centred before they are multiplied.


class Design(ABC):
    """An N x m data matrix, standardised implicitly, that cannot be changed."""

    def __init__(
        self,
        shape: tuple[int, int],
        mean: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
    ) -> None:
        self._shape = (int(shape[0]), int(shape[1]))
        self._mean = _column_vector("mean", mean, self._shape[1])
        self._scale = _column_vector("scale", scale, self._shape[1])
        if self._scale is not None and not np.all(self._scale > 0):
            raise DataError("expected positive scales, got one that is not: use 1 for constants")
        self._gram: FloatArray | None = None
        self._norms: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows N and columns m."""
        return self._shape

    @property
    def mean(self) -> FloatArray | None:
        """What is subtracted from each column; None where nothing is."""
        return self._mean

    @property
    def scale(self) -> FloatArray | None:
        """What each column is divided by, after its mean; None where by nothing."""
        return self._scale

    @property
    @abstractmethod
    def cost(self) -> int:
        """Numbers touched by one pass over the data."""

    @abstractmethod
    def _raw_correlate(self, t: FloatArray) -> FloatArray:
        """X't as a new float64 array."""

    @abstractmethod
    def _raw_dot(self, w: FloatArray) -> FloatArray:
        """Xw as a new float64 array."""

    @abstractmethod
    def _raw_columns(self, idx: Any) -> FloatArray:
        """X[:, idx] as a new float64 array in Fortran order."""

    def correlate(self, t: npt.ArrayLike) -> FloatArray:
        """Return Z't for an N-vector or an N x r matrix t."""
        t = np.asarray(t, dtype=np.float64)
        out = self._raw_correlate(t)
        if self._mean is not None:
            out -= np.multiply.outer(self._mean, t.sum(axis=0))
        if self._scale is not None:
            out /= self._scale if t.ndim == 1 else self._scale[:, None]
        return out

    def dot(self, w: npt.ArrayLike) -> FloatArray:
        """Return Zw for a full m-vector or an m x r matrix w."""
        w = np.asarray(w, dtype=np.float64)
        if self._scale is not None:
            w = w / (self._scale if w.ndim == 1 else self._scale[:, None])
        out = self._raw_dot(w)
        if self._mean is not None:
            out -= self._mean @ w
        return out

    def columns(self, idx: Any) -> FloatArray:
        """Return Z[:, idx] for indices, a mask or a slice; dense float64, Fortran order."""
        out = self._raw_columns(idx)
        if self._mean is not None:
            out -= self._mean[idx]
        if self._scale is not None:
            out *= 1.0 / self._scale[idx]
        return out

    def gram(self) -> FloatArray:
        """Return Z Z' (N x N), computed at the first call."""
        if self._gram is None:
            self._gram = read_only(self._compute_gram())
        return self._gram

    @cached_property
    def partial_gram(self) -> PartialGram:
        """Z Z' over some of the columns."""
        return PartialGram(self)

    def column_norms(self) -> FloatArray:
        """Return |z_j| for every column, computed at the first call."""
        if self._norms is None:
            self._norms = read_only(np.sqrt(self._square_sums()))
        return self._norms

    def rows(self, idx: Any) -> Design:
        """Return the design of some samples, with the same scaling; no data are copied."""
        return RowSubset(self, np.arange(self.shape[0])[idx])

    def square_sums(self, t: FloatArray) -> FloatArray:
        """Sums of squares of every column, rows weighted by t, an N x r matrix; m x r."""
        out = np.empty((self.shape[1], t.shape[1]))
        for block in self._blocks(self.shape[1]):
            out[block] = (self.columns(block) ** 2).T @ t
        return out

    def only(self, idx: npt.NDArray[np.intp]) -> Design:
        """The design of some columns, in memory of its own, for many passes over them."""

        return DenseDesign(self.columns(idx))

    def _compute_gram(self) -> FloatArray:
        return self._gram_of_columns(None)

    def _gram_of_columns(self, idx: npt.NDArray[np.intp] | None) -> FloatArray:
        """Z Z' over the given columns (None: all), block by block with half the usual flops."""
        n = self.shape[0]
        upper = np.zeros((n, n), order="F")
        for block in self._blocks(self.shape[1] if idx is None else idx.size):
            Z = self.columns(block if idx is None else idx[block])
            upper = dsyrk(1.0, Z, beta=1.0, c=upper, overwrite_c=1)
        return np.triu(upper) + np.triu(upper, 1).T

    def _square_sums(self, rows: npt.NDArray[np.intp] | None = None) -> FloatArray:
        """|z_j|^2 over the given rows (None: all) for every column."""
        sums = np.empty(self.shape[1])
        for block in self._blocks(self.shape[1]):
            Z = self.columns(block) if rows is None else self.columns(block)[rows]
            sums[block] = np.einsum("ij,ij->j", Z, Z)
        return sums

    def _blocks(self, size: int) -> Iterator[slice]:
        return column_blocks(self.shape[0], size)


class RowSubset(Design):
    """The rows `rows` (repeats allowed) of `parent`, scaled as the parent is: a view, not a copy.

    Every fold of a cross-validation shares the data and the Gram matrix of the whole. A pass over
    the subset is one over the whole, which is cheaper than cutting out four fifths of the rows.
    """

    def __init__(self, parent: Design, rows: npt.NDArray[np.intp]) -> None:
        super().__init__((rows.size, parent.shape[1]))
        self._mean, self._scale = parent.mean, parent.scale
        self._parent, self._rows = parent, rows

    @property
    def cost(self) -> int:
        return self._parent.cost

    def rows(self, idx: Any) -> Design:
        return RowSubset(self._parent, self._rows[idx])

    def _raw_correlate(self, t: FloatArray) -> FloatArray:
        spread = np.zeros((self._parent.shape[0], *t.shape[1:]))
        np.add.at(spread, self._rows, t)
        return self._parent._raw_correlate(spread)

    def _raw_dot(self, w: FloatArray) -> FloatArray:
        return self._parent._raw_dot(w)[self._rows]

    def _raw_columns(self, idx: Any) -> FloatArray:
        return np.asfortranarray(self._parent._raw_columns(idx)[self._rows])

    def _compute_gram(self) -> FloatArray:
        # A small part of a parent whose Gram matrix nobody needed yet is computed for itself.
        if self._parent._gram is None and 2 * self.shape[0] < self._parent.shape[0]:
            return self._gram_of_columns(None)
        return self._parent.gram()[np.ix_(self._rows, self._rows)]

    def _square_sums(self, rows: npt.NDArray[np.intp] | None = None) -> FloatArray:
        return self._parent._square_sums(self._rows if rows is None else self._rows[rows])


def read_only(array: FloatArray) -> FloatArray:
    """Return the same array, protected against being written to."""
    array.flags.writeable = False
    return array


def _column_vector(name: str, values: npt.ArrayLike | None, size: int) -> FloatArray | None:
    if values is None:
        return None
    vector = np.array(values, dtype=np.float64)
    if vector.shape != (size,) or not np.all(np.isfinite(vector)):
        raise DataError(f"expected {size} finite numbers as {name}, got shape {vector.shape}")
    return read_only(vector)


# --------------------------------------------------------------------------------------------------
# Designs of ordinary arrays, in memory or memory-mapped.
#
# float64 data are multiplied where they are. float32 data are turned into float64 one block of
# columns after another, so that every sum is one of float64 numbers and no second copy of X exists.


class DenseDesign(Design):
    """A two-dimensional float32 or float64 array; other types are converted to float64."""

    def __init__(
        self,
        X: npt.NDArray[Any],
        mean: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
    ) -> None:
        if X.ndim != 2:
            raise DataError(f"expected a matrix (rows, columns), got an array of shape {X.shape}")
        super().__init__(X.shape, mean, scale)
        kept = X.dtype in (np.float32, np.float64)
        self._X = (X if kept else X.astype(np.float64)).view()
        self._X.flags.writeable = False

    @property
    def cost(self) -> int:
        return self._X.size

    def _raw_correlate(self, t: FloatArray) -> FloatArray:
        if self._X.dtype == np.float64:
            return self._X.T @ t
        out = np.empty((self.shape[1], *t.shape[1:]))
        for block in self._blocks(self.shape[1]):
            out[block] = self._X[:, block].astype(np.float64).T @ t
        return out

    def _raw_dot(self, w: FloatArray) -> FloatArray:
        if self._X.dtype == np.float64:
            return self._X @ w
        out = np.zeros((self.shape[0], *w.shape[1:]))
        for block in self._blocks(self.shape[1]):
            out += self._X[:, block].astype(np.float64) @ w[block]
        return out

    def _raw_columns(self, idx: Any) -> FloatArray:
        part = self._X[:, idx]
        own = part if part.base is None or not np.shares_memory(part, self._X) else part.copy("F")
        return np.asarray(own, dtype=np.float64, order="F")


# --------------------------------------------------------------------------------------------------
# Designs of sparse matrices, kept once, by columns (CSC), and never filled by centring.
#
# The Gram matrix is most of the work of a cold fit. A column with n_j non-zeros costs n_j^2
# multiplications of about 1.5 ns as a sparse product (summed into a dense matrix, by blocks that
# stay in the cache), or N^2 of 0.025 ns when it is written out in a dense block and given to BLAS.
# The columns are divided between the two by that measure.
#
# Centring a mostly empty column by a rank-one correction is safe: by Cauchy-Schwarz a column with a
# share p of non-zeros has mean^2 <= p E[x^2], so that nothing cancels for small p. Fuller columns,
# where |mean| may be far above the deviation, are centred inside their dense block.


DENSE_SHARE = 0.13  # share of non-zeros above which BLAS is the faster one (measured)
BLOCK_NONZEROS = 2**16  # stored entries of a block in a sparse product: 0.8 MB


class SparseDesign(Design):
    """A scipy sparse matrix of float32 or float64; other types are converted to float64."""

    def __init__(
        self, X: Any, mean: npt.ArrayLike | None = None, scale: npt.ArrayLike | None = None
    ) -> None:
        super().__init__(X.shape, mean, scale)
        self._X = canonical_csc(X)

    @property
    def cost(self) -> int:
        return int(self._X.nnz)

    def _raw_correlate(self, t: FloatArray) -> FloatArray:
        return self._X.T @ t

    def _raw_dot(self, w: FloatArray) -> FloatArray:
        return self._X @ w

    def _raw_columns(self, idx: Any) -> FloatArray:
        return self._X[:, idx].astype(np.float64, copy=False).toarray(order="F")

    def square_sums(self, t: FloatArray) -> FloatArray:
        data = self._X.data.astype(np.float64)
        if self._mean is None:
            out: FloatArray = self._with_data(data**2).T @ t
        else:
            data -= np.repeat(self._mean, np.diff(self._X.indptr))
            stored = self._with_data(np.ones_like(data)).T @ t
            out = self._with_data(data**2).T @ t
            out += (t.sum(axis=0) - stored) * self._mean[:, None] ** 2
        return out if self._scale is None else out / self._scale[:, None] ** 2

    def only(self, idx: npt.NDArray[np.intp]) -> Design:
        part = self._X[:, idx]
        if part.nnz > DENSE_SHARE * part.shape[0] * part.shape[1]:
            return super().only(idx)
        mean, scale = (None if v is None else v[idx] for v in (self._mean, self._scale))
        return SparseDesign(part, mean, scale)

    def _compute_gram(self) -> FloatArray:
        full = np.diff(self._X.indptr) > DENSE_SHARE * self.shape[0]
        if full.all():
            return self._gram_of_columns(None)
        gram = self._gram_of_sparse(np.flatnonzero(~full))
        if full.any():
            gram += self._gram_of_columns(np.flatnonzero(full))
        return gram

    def _gram_of_sparse(self, idx: npt.NDArray[np.intp]) -> FloatArray:
        """Z Z' over columns with few non-zeros, by sparse products and rank-one corrections."""
        n = self.shape[0]
        gram, cross = np.zeros((n, n)), np.zeros(n)
        shift = self._shift(idx)
        for block in self._sparse_blocks(idx):
            part = self._scaled_columns(idx[block])
            gram += safe_sparse_dot(part.tocsr(), part.T, dense_output=True)
            cross += part @ shift[block]
        if self._mean is not None:
            gram -= np.add.outer(cross, cross) - shift @ shift
        return gram

    def _scaled_columns(self, idx: npt.NDArray[np.intp]) -> Any:
        """The columns of X / scale, sparse and float64."""
        part = self._X[:, idx].astype(np.float64)
        if self._scale is not None:
            part.data /= np.repeat(self._scale[idx], np.diff(part.indptr))
        return part

    def _shift(self, idx: npt.NDArray[np.intp]) -> FloatArray:
        """What centring subtracts from the columns of X / scale."""
        mean = np.zeros(idx.size) if self._mean is None else self._mean[idx]
        return mean if self._scale is None else mean / self._scale[idx]

    def _sparse_blocks(self, idx: npt.NDArray[np.intp]) -> Iterator[slice]:
        """Cut columns into blocks that stay in the cache and outweigh adding up N x N results."""
        entries = max(BLOCK_NONZEROS, self.shape[0] ** 2 // 2)
        ends = np.cumsum(np.diff(self._X.indptr)[idx])
        start = 0
        while start < idx.size:
            before = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + entries, side="right")))
            yield slice(start, stop)
            start = stop

    def _square_sums(self, rows: npt.NDArray[np.intp] | None = None) -> FloatArray:
        n = self.shape[0]
        repeats = np.ones(n) if rows is None else np.bincount(rows, minlength=n).astype(np.float64)
        n_rows = float(repeats.sum())
        data = self._X.data.astype(np.float64, copy=False)
        sums: FloatArray = self._with_data(np.square(data)).T @ repeats
        if self._mean is not None:
            sums += self._mean * (n_rows * self._mean - 2.0 * (self._X.T @ repeats))
            full = np.flatnonzero(np.diff(self._X.indptr) > DENSE_SHARE * n)
            for block in column_blocks(n, full.size):  # where the terms would cancel
                part = self._X[:, full[block]].toarray() - self._mean[full[block]]
                sums[full[block]] = repeats @ part**2
        return sums if self._scale is None else sums / self._scale**2

    def _with_data(self, data: FloatArray) -> Any:
        """A matrix of the same pattern with other entries."""
        return sp.csc_array((data, self._X.indices, self._X.indptr), shape=self.shape)


# --------------------------------------------------------------------------------------------------
# The one place that chooses a design for a given matrix.


def make_design(
    X: Any, *, mean: npt.ArrayLike | None = None, scale: npt.ArrayLike | None = None
) -> Design:
    """Return the design of Z = (X - mean) / scale for an array or any scipy sparse matrix.

    float32 and float64 data are kept as they are (a memory-mapped array stays on disk), anything
    else becomes float64. `mean` None means zero, `scale` None means one, for every column.
    """
    if sp.issparse(X):
        return SparseDesign(X, mean, scale)
    return DenseDesign(np.asarray(X), mean, scale)


# --------------------------------------------------------------------------------------------------
# Means and scales that standardise the columns of a design, whatever unit each is measured in.
#
# Every column can be brought to mean 0 and deviation 1 (`standardisation`). In tables of words,
# pixels or genes it is often better that a column which varies little for the size of its values
# counts less: a word that hardly any text has, a gene that is the same in everybody but for noise
# (`damped_scale`). Which of both serves a table, its labelled rows say
# (hipad/estimator/problem_factory.py).


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
