"""Regions side by side: what their ranges and parallel rows decide about all pairs at once.

Two regions are apart if their ranges of some column are, or if a row of one has no point in the
ranges of both, or if two rows face each other with a gap between them. They meet if no row on
several columns ties them together, or if a few steps from the middle of their ranges find a point.
A region lies in another if its ranges alone, or parallel rows, give every row of the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy import sparse

from hipad.arrays import BoolArray, FloatArray, IntArray
from hipad.rules.analysis.box import ROUNDING
from hipad.rules.analysis.pairwise.region import Region
from hipad.rules.analysis.pairwise.regions import Regions
from hipad.rules.compiling.rows import Row

_SWEEPS = 12
_TINY = float(np.finfo(np.float64).tiny)
_MOST = 30_000_000  # entries of a matrix of regions by columns or rows; beyond, one by one


class Together:
    """Regions that are not empty, side by side: what their ranges and parallel rows decide."""

    def __init__(self, regions: Regions, own: list[Region]) -> None:
        self.regions, self.own = regions, own
        self.rows = [row for region in own for row in region.rows]
        self.starts = np.cumsum([0] + [len(region.rows) for region in own])[:-1]
        self.owner = np.repeat(np.arange(len(own)), [len(region.rows) for region in own])

    @property
    def n(self) -> int:
        """How many regions there are."""
        return len(self.own)

    @cached_property
    def ranges(self) -> tuple[FloatArray, FloatArray] | None:
        """The ends of every region on every column; None where that would be large."""
        width = len(self.regions.group_lo)
        if self.n * width > _MOST:
            return None
        lo, hi = (
            np.tile(end, (self.n, 1)) for end in (self.regions.group_lo, self.regions.group_hi)
        )
        for at, region in enumerate(self.own):
            lo[at, region.columns], hi[at, region.columns] = region.ends
        return lo, hi

    @cached_property
    def narrowed(self) -> dict[int, IntArray]:
        """The regions that narrow each column by a row of its own."""
        found: dict[int, list[int]] = defaultdict(list)
        for row, at in zip(self.rows, self.owner.tolist(), strict=True):
            if len(row.columns) == 1 and at not in found[int(row.columns[0])][-1:]:
                found[int(row.columns[0])].append(at)
        return {column: np.array(regions) for column, regions in found.items()}

    @cached_property
    def wide(self) -> list[int]:
        """The rows on several columns."""
        return [k for k, row in enumerate(self.rows) if len(row.columns) > 1]

    @cached_property
    def apart(self) -> BoolArray:
        """Pairs that have no common point, as far as that is seen."""
        found = np.zeros((self.n, self.n), dtype=bool)
        for _, levels in self._facing():
            (rows, bounds), (others, limits) = levels
            gap = bounds[:, None] + limits < -self._rounding(bounds, limits)
            np.logical_or.at(found, np.ix_(self.owner[rows], self.owner[others]), gap)
        if self.ranges is not None:
            self._add_ranges_apart(found)
            self._add_rows_apart(found)
        return found | found.T

    def _rounding(self, bounds: FloatArray, limits: FloatArray) -> FloatArray:
        return ROUNDING * np.maximum(np.abs(bounds)[:, None], np.abs(limits))

    def _add_ranges_apart(self, found: BoolArray) -> None:
        assert self.ranges is not None
        for column, at in self.narrowed.items():
            lo, hi = self.ranges[0][at, column], self.ranges[1][at, column]
            found[np.ix_(at, at)] |= lo[:, None] - hi > self._rounding(lo, hi)

    def _add_rows_apart(self, found: BoolArray) -> None:
        """A row that no point meets where it lies in the ranges of two regions."""
        assert self.ranges is not None
        lo, hi = self.ranges
        for k in self.wide:
            row, at = self.rows[k], self.owner[k]
            others = self._narrowing(row)
            if not len(others):
                continue
            place = np.ix_(others, row.columns)
            low = np.maximum(lo[at, row.columns], lo[place])
            high = np.minimum(hi[at, row.columns], hi[place])
            least = np.where(row.values > 0, low, high) @ row.values
            size = np.maximum(np.abs(low), np.abs(high)) @ np.abs(row.values) + abs(row.bound)
            found[at, others] |= least > row.bound + ROUNDING * size

    def _narrowing(self, row: Row) -> IntArray:
        """The regions that narrow some column of a row."""
        own = [self.narrowed[j] for j in row.columns.tolist() if j in self.narrowed]
        return np.unique(np.concatenate(own)) if own else np.empty(0, np.int64)

    def _by_direction(self) -> dict[tuple[bytes, bytes], IntArray]:
        found: dict[tuple[bytes, bytes], list[int]] = defaultdict(list)
        for k in self.wide:
            found[self.rows[k].direction].append(k)
        return {key: np.array(rows) for key, rows in found.items()}

    def _facing(self) -> Iterator[tuple[object, tuple[tuple[IntArray, FloatArray], ...]]]:
        """Wide rows of one direction and those of the opposite one, each with its levels."""
        known = self._by_direction()
        for key, rows in known.items():
            others = known.get(self.rows[rows[0]].opposite)
            if others is not None and rows[0] < others[0]:
                yield key, tuple((some, self._levels(some)) for some in (rows, others))

    def _levels(self, rows: IntArray) -> FloatArray:
        return np.array([self.rows[k].level for k in rows])

    def _incidence(self, rows: list[int]) -> sparse.csr_array:
        """For each region the columns of some of its rows."""
        shape = (self.n, len(self.regions.group_lo))
        if not rows:
            return sparse.csr_array(shape)
        columns = np.concatenate([self.rows[k].columns for k in rows])
        at = np.repeat(self.owner[rows], [len(self.rows[k].columns) for k in rows])
        return sparse.csr_array((np.ones(len(at)), (at, columns)), shape=shape)

    @cached_property
    def unbound(self) -> BoolArray:
        """Pairs that meet, since their ranges do and no row on several columns ties the two."""
        wide = self._incidence(self.wide)
        named = self._incidence(list(range(len(self.rows))))
        tied = (wide @ named.T).astype(bool).toarray()
        if self.ranges is None:
            tied |= (named @ named.T).astype(bool).toarray()
        return ~(tied | tied.T | self.apart)

    @cached_property
    def within(self) -> tuple[BoolArray, BoolArray]:
        """Entry (i, j): region i is seen to lie in region j; it is seen not to."""
        inside = np.zeros((self.n, self.n), dtype=bool)
        if self.ranges is None or self.n * len(self.rows) > _MOST or not self.n:
            return inside, inside.copy()
        highest, bounds = self._highest(), np.array([row.bound for row in self.rows])[:, None]
        given = highest <= bounds
        for rows in self._by_direction().values():
            levels = self._levels(rows)
            np.logical_or.at(given, np.ix_(rows, self.owner[rows]), levels <= levels[:, None])
        named = _stacked_columns(self.rows, len(self.regions.group_lo))
        free = ~(named @ self._incidence(self.wide).T).astype(bool).toarray()  # ranges decide
        slack = np.array([self.regions.slack(row) for row in self.rows])[:, None]
        beyond = free & (highest > bounds + slack)
        inside = np.logical_and.reduceat(given, self.starts, axis=0).T
        return inside, np.logical_or.reduceat(beyond, self.starts, axis=0).T

    @cached_property
    def stacked(self) -> tuple[FloatArray, FloatArray] | None:
        """The wide rows of each region, the k-th of all in one matrix; None where that is large."""
        width = len(self.regions.group_lo)
        most = max((len(region.wide_rows) for region in self.own), default=0)
        if self.ranges is None or self.n * most * width > _MOST:
            return None
        A, d = np.zeros((most, self.n, width)), np.full((most, self.n), np.inf)
        for at, region in enumerate(self.own):
            for k, row in enumerate(region.wide_rows):
                A[k, at, row.columns], d[k, at] = row.values, row.bound
        return A, d

    def met_by_steps(self, at: int, others: IntArray) -> BoolArray:
        """Which others have a common point with a region, as far as steps onto its rows find.

        All start in the middle of the ranges that a pair has in common.
        """
        found = np.zeros(len(others), dtype=bool)
        if self.stacked is None or self.ranges is None:
            return found
        lo, hi = (np.asarray(end[at]) for end in self.ranges)
        columns = np.union1d(self.own[at].columns, self._wide_columns(others))
        place = np.ix_(others, columns)
        lo = np.maximum(lo[columns], self.ranges[0][place])
        hi = np.minimum(hi[columns], self.ranges[1][place])
        A, d = self.stacked
        rows = [(row[None, at, columns], bound[None, at]) for row, bound in zip(A, d, strict=True)]
        rows += [(row[place], bound[others]) for row, bound in zip(A, d, strict=True)]
        return _met_by_steps([each for each in rows if np.isfinite(each[1]).any()], lo, hi)

    def _wide_columns(self, regions: IntArray) -> IntArray:
        own = [row.columns for at in regions for row in self.own[at].wide_rows]
        return np.unique(np.concatenate([*own, np.empty(0, np.int64)])).astype(np.int64)

    def _highest(self) -> FloatArray:
        """The highest value of each row in the ranges of each region."""
        assert self.ranges is not None
        lo, hi = (np.ascontiguousarray(end.T) for end in self.ranges)
        found = np.empty((len(self.rows), self.n))
        for k, row in enumerate(self.rows):
            rises = row.values > 0
            up, down = row.columns[rises], row.columns[~rises]
            found[k] = row.values[rises] @ hi[up] + row.values[~rises] @ lo[down]
        return found


def _stacked_columns(rows: list[Row], width: int) -> sparse.csr_array:
    indptr = np.cumsum([0] + [len(row.columns) for row in rows])
    indices = np.concatenate([row.columns for row in rows])
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), width))


def _met_by_steps(
    rows: list[tuple[FloatArray, FloatArray]], lo: FloatArray, hi: FloatArray
) -> BoolArray:
    """Which lines of the boxes have a point that meets all rows, as far as a few sweeps show."""
    x, square = (lo + hi) / 2, (hi - lo) ** 2
    reach = [np.maximum((row**2 * square).sum(axis=1), _TINY) for row, _ in rows]
    for _ in range(_SWEEPS):
        for (row, bound), size in zip(rows, reach, strict=True):
            excess = np.maximum((row * x).sum(axis=1) - bound, 0.0)
            x = np.clip(x - (1.1 * excess / size)[:, None] * row * square, lo, hi)
    met = (lo <= hi).all(axis=1)
    for row, bound in rows:
        size = (np.abs(row) * np.abs(x)).sum(axis=1) + np.where(
            np.isfinite(bound), np.abs(bound), 0
        )
        met &= (row * x).sum(axis=1) <= bound + ROUNDING * size
    return np.asarray(met)
