"""The region of one rule inside the box of plausible values: its ends, its rows, a point of it.

A row on a single column only narrows the box. What is left are rows on several columns at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.rules.analysis.box import ROUNDING
from hipad.rules.analysis.points import some_point
from hipad.rules.compiling.rows import Row


@dataclass(frozen=True, eq=False)
class Region:
    """Part of a box: narrower ends on some columns, and rows on several columns at once."""

    columns: IntArray
    rows: tuple[Row, ...]
    outer_lo: FloatArray
    outer_hi: FloatArray

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The box narrowed by the rows on one column."""
        lo, hi = self.outer_lo.copy(), self.outer_hi.copy()
        for row in self.rows:
            if len(row.columns) == 1:
                j = np.searchsorted(self.columns, row.columns[0])
                end = row.bound / row.values[0]
                if row.values[0] > 0:
                    hi[j] = min(hi[j], end)
                else:
                    lo[j] = max(lo[j], end)
        return touching(lo, hi)

    @cached_property
    def wide_rows(self) -> tuple[Row, ...]:
        """The rows on several columns, and those on none that can never be met."""
        return tuple(row for row in self.rows if len(row.columns) != 1)

    @cached_property
    def point(self) -> FloatArray | None:
        """A point of the region on its columns, or None if it is empty."""
        return some_point(*row_matrix(self.wide_rows, self.columns), *self.ends)

    @cached_property
    def directions(self) -> dict[tuple[bytes, bytes], Row]:
        """Each row by its direction, to be compared with parallel rows."""
        rows = sorted((row for row in self.rows if row.size), key=lambda row: -row.level)
        return {row.direction: row for row in rows}  # of parallel rows the tightest stays

    @cached_property
    def is_whole_box(self) -> bool:
        """True if every point of the box meets the rows."""
        A, d = row_matrix(self.rows, self.columns)
        middle, half = (self.outer_lo + self.outer_hi) / 2, (self.outer_hi - self.outer_lo) / 2
        highest = A @ middle + abs(A) @ half
        return bool(
            (highest <= d + ROUNDING * largest_sums(A, d, self.outer_lo, self.outer_hi)).all()
        )


def touching(lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends that cross by no more than rounding are made to touch."""
    close = (lo > hi) & (lo - hi <= ROUNDING * np.maximum(np.abs(lo), np.abs(hi)))
    return np.where(close, hi, lo), hi


def largest_sums(A: Any, d: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """The size of what each row adds up, at most, in a box."""
    return np.asarray(abs(A) @ np.maximum(np.abs(lo), np.abs(hi)) + np.abs(d))


def row_matrix(rows: Sequence[Row], columns: IntArray) -> tuple[Any, FloatArray]:
    """Rows as a matrix on some sorted columns; dense unless that is large."""
    bounds = np.array([row.bound for row in rows])
    places = [np.searchsorted(columns, row.columns) for row in rows]
    if len(rows) * len(columns) > 1_000_000:
        indptr = np.cumsum([0] + [len(place) for place in places])
        values = np.concatenate([row.values for row in rows])
        shape = (len(rows), len(columns))
        return sparse.csr_array((values, np.concatenate(places), indptr), shape=shape), bounds
    A: npt.NDArray[np.float64] = np.zeros((len(rows), len(columns)))
    for own, place, row in zip(A, places, rows, strict=True):
        own[place] = row.values
    return A, bounds
