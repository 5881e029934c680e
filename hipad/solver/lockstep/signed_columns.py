"""Columns of a design, each row with the sign of its label: read once, kept while there is room."""

from __future__ import annotations

import numpy as np

from hipad.designs.base import Design, FloatArray

ROOM = 2**24  # numbers
FIRST = 64  # columns that there is room for at once


class SignedColumns:
    """The problems of a path ask for the same columns again and again, and for few of all."""

    def __init__(self, design: Design, y: FloatArray) -> None:
        self._design, self.y = design, y
        self._place = np.full(design.shape[1], -1)
        self._kept = np.empty((0, y.size))
        self._count = 0

    def some(self, names: np.ndarray) -> FloatArray:
        """Some columns, one row for each: of all samples."""
        return self._kept[self._place[names]] if self._has(names) else self._read(names)

    def dot(self, names: np.ndarray, w: FloatArray) -> FloatArray:
        """The sum of some columns, each by its weight; several columns of weights, several sums."""
        if not self._has(names):
            return self._read(names).T @ w
        weights = np.zeros((self._count, w.shape[1]))
        weights[self._place[names]] = w
        return self._kept[: self._count].T @ weights

    def _has(self, names: np.ndarray) -> bool:
        """Whether these columns are kept, which they are from now on if there is room."""
        fresh = names[self._place[names] < 0]
        if (self._count + fresh.size) * self.y.size > ROOM:
            return False
        if fresh.size:
            self._keep(fresh)
        return True

    def _keep(self, fresh: np.ndarray) -> None:
        end = self._count + fresh.size
        if end > len(self._kept):
            larger = np.empty((max(FIRST, 2 * end), self.y.size))
            larger[: self._count] = self._kept[: self._count]
            self._kept = larger
        self._kept[self._count : end] = self._read(fresh)
        self._place[fresh] = np.arange(self._count, end)
        self._count = end

    def _read(self, names: np.ndarray) -> FloatArray:
        return np.ascontiguousarray((self._design.columns(names) * self.y[:, None]).T)
