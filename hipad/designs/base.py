"""What every design has in common: implicit scaling, caches, blocks and subsets of rows.

A design is an N x m matrix Z = (X - e mean') diag(1/scale) that is never formed. The solvers ask
of it

    gram()          Z Z', once
    correlate(t)    Z't, one pass over the data
    dot(w)          Zw, one pass over the data
    columns(idx)    Z[:, idx], dense
    column_norms()  |z_j|, once
    rows(idx)       the same for some of the samples

A subclass supplies three operations on the stored X, without scaling, and the cost of a pass.

Numerical hazard: mean'e't is subtracted from X't afterwards, which loses a factor |mean|/std of
precision. X itself was rounded by as much, so this does no harm. In Z Z' the loss would be squared;
there the columns are centred before they are multiplied.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsyrk

from hipad.arrays import FloatArray
from hipad.data.moments import column_blocks
from hipad.designs.partial import PartialGram
from hipad.errors import DataError

__all__ = ["Design", "FloatArray", "RowSubset", "column_blocks", "read_only"]


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
        from hipad.designs.dense import DenseDesign

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
