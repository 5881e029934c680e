"""Which values of a matrix were measured, once its gaps are filled.

A model needs a number in every cell. What rules say of patients must not rest on numbers that
nobody measured: a rule is neither met nor contradicted where it names a gap. One bit a row is kept
for each column that has gaps, and nothing for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hipad.arrays import BoolArray, IntArray

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Gaps:
    """The cells of a matrix that were filled; `bits` has a row for each of the sorted `columns`.

    >>> gaps = Gaps.of(np.array([[False, True], [False, False], [False, True]]))
    >>> gaps.columns.tolist(), gaps.rows([0, 1]).tolist()
    ([1], [True, False, True])
    """

    columns: IntArray
    bits: Bits
    n_rows: int

    @classmethod
    def none(cls, n_rows: int) -> Gaps:
        """No gap in so many rows."""
        return cls(np.empty(0, np.intp), np.empty((0, (n_rows + 7) // 8), np.uint8), n_rows)

    @classmethod
    def of(cls, mask: Any, columns: Any = None) -> Gaps:
        """The marked cells; `columns` are those of the mask, if they are not the first ones."""
        marked = np.asarray(mask, dtype=bool)
        found = np.flatnonzero(marked.any(axis=0))
        bits = np.packbits(marked[:, found], axis=0).T.copy()
        own = found if columns is None else np.asarray(columns, dtype=np.intp)[found]
        order = np.argsort(own)
        return cls(own[order].astype(np.intp), bits[order], marked.shape[0])

    @classmethod
    def at(cls, rows: IntArray, columns: IntArray, n_rows: int) -> Gaps:
        """The cells at these places."""
        named, where = np.unique(columns, return_inverse=True)
        bits = np.zeros((len(named), (n_rows + 7) // 8), np.uint8)
        np.bitwise_or.at(bits, (where, rows // 8), (128 >> (rows % 8)).astype(np.uint8))
        return cls(named.astype(np.intp), bits, n_rows)

    @classmethod
    def stacked(cls, parts: Sequence[tuple[Gaps | None, int]]) -> Gaps:
        """Rows of several matrices under one another; each part with its number of rows."""
        known = [own if own is not None else cls.none(n) for own, n in parts]
        columns = np.unique(np.concatenate([own.columns for own in known])).astype(np.intp)
        total = sum(own.n_rows for own in known)
        return (
            cls.of(np.vstack([own.mask(columns) for own in known]), columns)
            if len(columns)
            else cls.none(total)
        )

    def __bool__(self) -> bool:
        return bool(len(self.columns))

    def mask(self, columns: Any) -> BoolArray:
        """Which cells of these columns are gaps, one column for each."""
        wanted = np.asarray(columns, dtype=np.intp)
        found = np.zeros((self.n_rows, len(wanted)), dtype=bool)
        if len(self.columns) and len(wanted):
            at = np.minimum(np.searchsorted(self.columns, wanted), len(self.columns) - 1)
            here = np.flatnonzero(self.columns[at] == wanted)
            if len(here):
                cells = np.unpackbits(self.bits[at[here]], axis=1, count=self.n_rows)
                found[:, here] = cells.T.astype(bool)
        return found

    def rows(self, columns: Any) -> BoolArray:
        """The rows that have a gap in one of these columns."""
        wanted = np.intersect1d(self.columns, columns)
        found = np.zeros(self.n_rows, dtype=bool)
        for k in range(0, len(wanted), 256):
            found |= self.mask(wanted[k : k + 256]).any(axis=1)
        return found

    def take(self, rows: Any) -> Gaps:
        """The same for some of the rows."""
        chosen = np.arange(self.n_rows)[rows]
        parts = []
        for k in range(0, len(self.columns), 256):
            cells = np.unpackbits(self.bits[k : k + 256], axis=1, count=self.n_rows)[:, chosen]
            parts.append((cells.any(axis=1), np.packbits(cells, axis=1)))
        if not parts:
            return Gaps.none(len(chosen))
        left = np.concatenate([some for some, _ in parts])
        return Gaps(self.columns[left], np.vstack([bits for _, bits in parts])[left], len(chosen))

    def keep(self, columns: Any) -> Gaps:
        """The same for some of the columns, in their order."""
        wanted = np.asarray(columns, dtype=np.intp)
        at = np.minimum(np.searchsorted(self.columns, wanted), max(len(self.columns) - 1, 0))
        if not len(self.columns) or not len(wanted):
            return Gaps.none(self.n_rows)
        here = np.flatnonzero(self.columns[at] == wanted)
        return Gaps(here.astype(np.intp), self.bits[at[here]], self.n_rows)

    def put_into(self, part: Any, columns: Any) -> Any:
        """Some columns of the matrix with nan where they have gaps; a copy, if there are any."""
        marked = self.mask(columns)
        if not marked.any():
            return part
        dense = part.toarray() if hasattr(part, "toarray") else np.array(part)
        dense = dense.astype(np.result_type(dense.dtype, np.float32), copy=False)
        dense[marked] = np.nan
        return dense


def same_gaps(one: Gaps | None, other: Gaps | None) -> bool:
    """Whether the same cells are gaps; None has none."""
    if not one or not other:
        return not one and not other
    return (
        one.n_rows == other.n_rows
        and np.array_equal(one.columns, other.columns)
        and np.array_equal(one.bits, other.bits)
    )
