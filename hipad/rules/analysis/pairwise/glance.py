"""What a few points tell about all pairs of regions at once, before any pair is looked at alone.

A region has a point near its middle and, mostly, its best corner: where the box gives its rows the
most room. A pair meets if some such points, put together, lie in both regions; a region does not
lie in another if a point of it lies outside. What no point decides is left to `regions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from hipad.arrays import BoolArray, FloatArray, IntArray
from hipad.rules.analysis.box import ROUNDING
from hipad.rules.analysis.pairwise.region import Region
from hipad.rules.analysis.pairwise.regions import Regions
from hipad.rules.budget import Budget

_BATCH = 4_000_000  # numbers held at once


@dataclass(frozen=True, eq=False)
class Glance:
    """The rows of regions that are not empty, stacked; `starts` is where each region begins."""

    R: sparse.csr_array
    d: FloatArray
    starts: IntArray
    inside: sparse.csr_array  # one row for each region: 1 on its groups
    middles: sparse.csr_array  # one row for each region: a point of it
    corners: sparse.csr_array
    lo: FloatArray
    hi: FloatArray
    slack: FloatArray  # by how much a point must miss each row to lie outside

    @classmethod
    def of(cls, regions: Regions, alive: Sequence[int]) -> Glance:
        """The regions with these numbers, each of which has a point."""
        lo, hi = regions.group_lo, regions.group_hi
        own = [regions.regions[i] for i in alive]
        rows = [row for region in own for row in region.rows]
        R = _stacked([row.columns for row in rows], [row.values for row in rows], len(lo))
        d = np.array([row.bound for row in rows], dtype=np.float64)
        starts = np.cumsum([0] + [len(region.rows) for region in own])[:-1]
        named = [region.columns for region in own]
        points = [(_point(region), _corner(region)) for region in own]
        stacks = [
            _stacked(named, [np.ones(len(columns)) for columns in named], len(lo)),
            _stacked(named, [point for point, _ in points], len(lo)),
            _stacked(named, [corner for _, corner in points], len(lo)),
        ]
        slack = np.array([regions.slack(row) for row in rows], dtype=np.float64)
        return cls(R, d, starts, stacks[0], stacks[1], stacks[2], lo, hi, slack)

    @property
    def n(self) -> int:
        """How many regions there are."""
        return len(self.starts)

    @cached_property
    def owner(self) -> IntArray:
        """The region that each row belongs to."""
        return np.repeat(np.arange(self.n), np.diff(np.append(self.starts, len(self.d))))

    @cached_property
    def _size(self) -> FloatArray:
        """The largest size of each row over the box, by which rounding is measured."""
        largest = np.maximum(np.abs(self.lo), np.abs(self.hi))
        return np.abs(self.d) + abs(self.R) @ largest

    def meetings(self, budget: Budget) -> BoolArray:
        """True for pairs that are seen to meet; a budget that ends leaves pairs undecided."""
        found = np.zeros((self.n, self.n), dtype=bool)
        points = (self.middles, self.corners)
        for part in self._parts(self.n, budget):
            for own in points:
                for others in points:
                    found[part] |= self._held(part, own, others, self.inside)
        return found | found.T

    def outside(self, budget: Budget) -> BoolArray:
        """Entry (i, j) is True if a point of region i is seen that is not in region j."""
        found = np.zeros((self.n, self.n), dtype=bool)
        worst = np.where(self.R.data > 0, self.hi[self.R.indices], self.lo[self.R.indices])
        farthest = sparse.csr_array((worst, self.R.indices, self.R.indptr), self.R.shape)
        named = sparse.csr_array((np.ones_like(worst), self.R.indices, self.R.indptr), self.R.shape)
        reach = self.R.multiply(farthest).tocsr()
        highest = reach.sum(axis=1)
        beyond = self.d + self.slack
        for part in self._parts(len(self.d), budget):
            for own in (self.middles, self.corners):
                # The farthest point for a row, and a point of the region where the row is silent.
                escapes = self._held(part, own, farthest, named) & (highest > beyond)
                # A point of the region, and the farthest for the row where the region is silent.
                there = (self.R @ own[part].T).toarray().T
                there += highest - (reach @ self.inside[part].T).toarray().T
                found[part] |= np.logical_or.reduceat(escapes | (there > beyond), self.starts, 1)
        return found

    def _held(
        self,
        part: slice,
        own: sparse.csr_array,
        others: sparse.csr_array,
        named: sparse.csr_array,
    ) -> BoolArray:
        """Entry (i, j) says whether region i of the part holds a point mixed from two.

        Its values are those of `others[j]` on the groups in `named[j]`, and of `own[i]` elsewhere.
        """
        first = self.starts[part.start]
        last = self.starts[part.stop] if part.stop < self.n else len(self.d)
        R = self.R[first:last]
        kept = R.multiply(own[self.owner[first:last]]).tocsr()
        values = kept.sum(axis=1)[:, None] + (R @ others.T).toarray()
        values -= (kept @ named.T).toarray()
        room = (self.d + ROUNDING * self._size)[first:last, None]
        return np.asarray(np.logical_and.reduceat(values <= room, self.starts[part] - first, 0))

    def _parts(self, width: int, budget: Budget) -> Iterator[slice]:
        """Slices of regions, each small enough for a dense matrix of rows by `width` columns."""
        ends = np.append(self.starts[1:], len(self.d))
        first = 0
        while first < self.n and not budget.is_spent:
            most = self.starts[first] + max(1, _BATCH // max(1, width))
            last = max(first + 1, int(np.searchsorted(ends, most, "right")))
            yield slice(first, last)
            first = last


def _point(region: Region) -> FloatArray:
    assert region.point is not None
    return region.point


def _corner(region: Region) -> FloatArray:
    """The corner of the narrowed box that gives the rows most room, if the region holds it."""
    pull = np.zeros(len(region.columns))
    for row in region.wide_rows:
        pull[np.searchsorted(region.columns, row.columns)] += row.values / (row.size or 1.0)
    lo, hi = region.ends
    corner = np.where(pull > 0, lo, np.where(pull < 0, hi, _point(region)))
    for row in region.wide_rows:
        if row.values @ corner[np.searchsorted(region.columns, row.columns)] > row.bound:
            return _point(region)
    return corner


def _stacked(columns: list[IntArray], values: list[FloatArray], width: int) -> sparse.csr_array:
    indptr = np.cumsum([0] + [len(own) for own in columns])
    indices = np.concatenate([*columns, np.empty(0, np.int64)])
    data = np.concatenate([*values, np.empty(0)])
    return sparse.csr_array((data, indices, indptr), shape=(len(columns), width))
