"""Designs of sparse matrices, kept once, by columns (CSC), and never filled by centring.

The Gram matrix is most of the work of a cold fit. A column with n_j non-zeros costs n_j^2
multiplications of about 1.5 ns as a sparse product (summed into a dense matrix, by blocks that stay
in the cache), or N^2 of 0.025 ns when it is written out in a dense block and given to BLAS. The
columns are divided between the two by that measure.

Centring a mostly empty column by a rank-one correction is safe: by Cauchy-Schwarz a column with a
share p of non-zeros has mean^2 <= p E[x^2], so that nothing cancels for small p. Fuller columns,
where |mean| may be far above the deviation, are centred inside their dense block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot

from hipad.data.moments import canonical_csc
from hipad.designs.base import Design, FloatArray

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
        data = self._X.data.astype(np.float64)
        if self._mean is not None:
            data -= np.repeat(self._mean, np.diff(self._X.indptr))
        sums: FloatArray = self._with_data(data**2).T @ repeats
        if self._mean is not None:
            stored = self._with_data(np.ones_like(data)).T @ repeats
            sums += (repeats.sum() - stored) * self._mean**2
        return sums if self._scale is None else sums / self._scale**2

    def _with_data(self, data: FloatArray) -> Any:
        """A matrix of the same pattern with other entries."""
        return sp.csc_array((data, self._X.indices, self._X.indptr), shape=self.shape)
