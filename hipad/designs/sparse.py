"""Designs of sparse matrices, kept once, by columns (CSC), and never filled by centring.

The Gram matrix is most of the work of a cold fit. A column with n_j non-zeros costs n_j^2
multiplications of about 5 ns as a sparse product, or N^2 of 0.025 ns when it is written out in a
dense block and given to BLAS; the columns are divided between the two by that measure.

Centring a mostly empty column by a rank-one correction is safe: by Cauchy-Schwarz a column with a
share p of non-zeros has mean^2 <= p E[x^2], so that nothing cancels for small p. Fuller columns,
where |mean| may be far above the deviation, are centred inside their dense block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.designs.base import Design, FloatArray

DENSE_SHARE = 0.07  # share of non-zeros above which BLAS is the faster one (measured)


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

    def _compute_gram(self) -> FloatArray:
        full = np.diff(self._X.indptr) > DENSE_SHARE * self.shape[0]
        if full.all():
            return self._gram_of_columns(None)
        gram = self._gram_of_sparse(np.flatnonzero(~full))
        if full.any():
            gram += self._gram_of_columns(np.flatnonzero(full))
        return gram

    def _gram_of_sparse(self, idx: npt.NDArray[np.intp]) -> FloatArray:
        """Z Z' over columns with few non-zeros, by a sparse product and rank-one corrections."""
        part = self._X[:, idx].astype(np.float64)
        if self._scale is not None:
            part.data /= np.repeat(self._scale[idx], np.diff(part.indptr))
        gram: FloatArray = (part.tocsr() @ part.T).toarray()
        if self._mean is not None:
            shift = self._mean[idx] if self._scale is None else self._mean[idx] / self._scale[idx]
            cross = part @ shift
            gram -= np.add.outer(cross, cross) - shift @ shift
        return gram

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


def canonical_csc(X: Any) -> Any:
    """Return X by columns, float32 or float64, sorted and without duplicates; X is not changed."""
    matrix = sp.csc_array(X)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix
