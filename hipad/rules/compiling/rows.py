"""Rows of B x <= d: which of them matter, and which points meet them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.rules.language.model import Condition

Direction = tuple[bytes, bytes]

ULPS = 16.0
"""Room of a comparison, in units in the last place of the terms."""

ROUNDING = 1e-7
"""Relative slack of a comparison: data are often kept in single precision, where 1.9 is not 1.9."""


@dataclass(frozen=True, eq=False)
class Row:
    """One row: sum of values[j] * x[columns[j]] <= bound, and the condition it comes from.

    `size` is the largest coefficient, by which rows are made comparable.
    """

    columns: IntArray
    values: FloatArray
    bound: float
    size: float
    origin: Condition | str = ""

    @classmethod
    def of(
        cls, columns: IntArray, values: FloatArray, bound: float, origin: Condition | str = ""
    ) -> Row:
        """The row with its size."""
        size = float(np.abs(values).max()) if len(values) else 0.0
        return cls(columns, values, bound, size, origin)

    @property
    def source(self) -> str:
        """The origin in words, made only when asked for."""
        return str(self.origin)

    @property
    def level(self) -> float:
        """The bound of the row scaled to size one."""
        return self.bound / self.size

    @cached_property
    def _unit(self) -> FloatArray:
        return (self.values / self.size).round(12)

    @property
    def direction(self) -> Direction:
        """Equal for rows that differ only by a positive factor and the bound."""
        return self.columns.tobytes(), self._unit.tobytes()

    @property
    def opposite(self) -> Direction:
        """The direction of the row with its signs turned round."""
        return self.columns.tobytes(), (-self._unit).tobytes()


def columns_of(B: sparse.csr_array) -> IntArray:
    """The columns that some rows name, in order."""
    return np.unique(B.indices).astype(np.int64)


def on_columns(B: sparse.csr_array, columns: IntArray) -> sparse.csr_array:
    """B on some sorted columns, which must include all it uses; fast however wide B is."""
    where = np.searchsorted(columns, B.indices)
    return sparse.csr_array((B.data, where, B.indptr), shape=(B.shape[0], len(columns)))


def rows_met(B: sparse.csr_array, d: FloatArray, X: FloatArray) -> npt.NDArray[np.bool_]:
    """For each row of B and each column x of X whether B x <= d, up to rounding.

    The room is a few units in the last place of what is added up. A value that was once kept in
    single precision meets the number that it stood for: 1.9 there is not 1.9 here.
    """
    bound = d[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        room = comparison_room(abs(B) @ np.abs(X), bound)
        met = np.asarray(bound + room >= B @ X)
        single = np.flatnonzero(np.diff(B.indptr) == 1)
        for i in single:
            met[i] |= same_in_single(X[B.indices[B.indptr[i]]], d[i] / B.data[B.indptr[i]])
    return met


def comparison_room(sizes: FloatArray, bound: FloatArray | float) -> FloatArray:
    """How far a sum of terms of this size may lie from a bound and still be on it."""
    return np.asarray(ULPS * np.finfo(np.float64).eps * (sizes + np.abs(bound)))


def same_in_single(x: FloatArray, level: float) -> npt.NDArray[np.bool_]:
    """Where x is a broken number of single precision, and the one nearest to the level."""
    short = x.astype(np.float32)
    return np.asarray((short == np.float32(level)) & (short == x) & (x % 1 != 0))


def needed_rows(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """The rows that matter, and remarks on those left out or never met."""
    if _unlike(rows):
        return rows, []
    kept: dict[Direction, Row] = {}
    sources = Counter(row.source for row in rows)
    remarks: list[str] = []
    for row in rows:
        if not row.size:
            if row.bound < 0:
                return [row], [f"'{row.source}' can never be true, so the rule never fires"]
            part = "part of " if sources[row.source] > 1 else ""
            remarks.append(f"{part}'{row.source}' is always true and was left out")
            continue
        key = row.direction
        other = kept.get(key)
        if other is None:
            kept[key] = row
            continue
        loose, tight = (row, other) if row.level >= other.level else (other, row)
        kept[key] = tight
        remarks.append(_left_out(loose, tight))
    remarks += [
        f"'{row.source}' and '{kept[opposite].source}' exclude each other, so the rule never fires"
        for key, row in kept.items()
        if (opposite := row.opposite) in kept
        and key < opposite
        and row.level + kept[opposite].level < 0
    ]
    nothing = Row.of(np.empty(0, np.int64), np.empty(0), 0.0, "always")
    return list(kept.values()) or [nothing], list(dict.fromkeys(remarks))


def _unlike(rows: list[Row]) -> bool:
    """True if a glance shows that no row follows from another and no two exclude each other."""
    levels: dict[tuple[bytes, bool], float] = {}
    for row in rows:
        if not row.size:
            return False
        columns, rises = row.columns.tobytes(), bool(row.values[0] > 0)
        if (columns, rises) in levels or levels.get((columns, not rises), np.inf) + row.level < 0:
            return False
        levels[columns, rises] = row.level
    return True


def _left_out(loose: Row, tight: Row) -> str:
    if loose.level == tight.level:
        return f"'{loose.source}' repeats '{tight.source}' and was left out"
    return f"'{loose.source}' follows from '{tight.source}' and was left out"
