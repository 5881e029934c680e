"""Designs of ordinary arrays, in memory or memory-mapped.

float64 data are multiplied where they are. float32 data are turned into float64 one block of
columns after another, so that every sum is one of float64 numbers and no second copy of X exists.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hipad.arrays import FloatArray
from hipad.designs.base import Design
from hipad.errors import DataError


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
