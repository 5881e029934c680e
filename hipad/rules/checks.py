"""Static checks of rules over the box of plausible values, and of blocks on data."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage

from hipad.designs import column_moments
from hipad.rules.ast import Condition
from hipad.rules.compiled_rule import CompiledRule, Row, ScaledRule, on_columns
from hipad.rules.guarantees import ROUNDING, Box, BoxPoint, column_scales, some_point, with_ends
from hipad.rules.weights import (
    RuleEvidence,
    RuleGradient,
    RuleWeights,
    shortest_patient,
    weight_advice,
)
from hipad.utils import BoolArray, Budget, FloatArray, IntArray, count, listed

# --------------------------------------------------------------------------------------------------
# The region of one rule inside the box of plausible values: its ends, its rows, a point of it.
#
# A row on a single column only narrows the box. What is left are rows on several columns at once.


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
    """Return the size of what each row adds up, at most, in a box."""
    return np.asarray(abs(A) @ np.maximum(np.abs(lo), np.abs(hi)) + np.abs(d))


def row_matrix(rows: Sequence[Row], columns: IntArray) -> tuple[Any, FloatArray]:
    """Return rows as a matrix on some sorted columns; dense unless that is large."""
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


# --------------------------------------------------------------------------------------------------
# Regions of several rules in the box of plausible values: does one hold another, do two meet?
#
# Columns that have the same weight in every rule act as one, their sum, so a rule on a block of a
# thousand features is a rule on one number. Little is then left to decide, and most of it by a
# glance at parallel rows or at the middle of a box.


_STRICT = 8 * ROUNDING  # how far a border lies beyond `<`, relative to the parts of its row
_MORE = 1e-9  # of its reach: what a region may lie outside another through rounding


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions of several rules on groups of columns, and the way back to columns."""

    regions: tuple[Region, ...]
    columns: IntArray
    group: IntArray
    lo: FloatArray
    hi: FloatArray
    group_lo: FloatArray
    group_hi: FloatArray

    @classmethod
    def of(cls, rules: Sequence[CompiledRule], box: Box) -> Regions:
        """Return regions on groups of columns that no rule tells apart."""
        columns = np.unique(np.concatenate([rule.columns for rule in rules] or [np.empty(0, int)]))
        matrices = [on_columns(rule.B, columns) for rule in rules]
        group = _same_weights(matrices, len(columns))
        lo, hi = _finite(box, columns, matrices, rules)
        group_lo, group_hi = (np.bincount(group, end).astype(np.float64) for end in (lo, hi))
        regions = []
        for B, rule in zip(matrices, rules, strict=True):
            rows = _grouped_rows(B, _bounds(B, rule, lo, hi), group)
            named = np.unique(np.concatenate([row.columns for row in rows]))
            regions.append(Region(named, rows, group_lo[named], group_hi[named]))
        return cls(tuple(regions), columns, group, lo, hi, group_lo, group_hi)

    def patient(self, groups: IntArray, values: FloatArray) -> BoxPoint:
        """Return a patient whose groups of columns have these sums.

        Within a group every column lies at the same share of its range.
        """
        width = self.group_hi[groups] - self.group_lo[groups]
        above = values - self.group_lo[groups]
        share = np.full(len(self.group_lo), np.nan)
        share[groups] = np.divide(above, width, out=np.zeros_like(above), where=width > 0)
        own = np.flatnonzero(np.isfinite(share[self.group]))
        lo, hi = self.lo[own], self.hi[own]
        return BoxPoint(self.columns[own], lo + share[self.group[own]] * (hi - lo))

    def witness(self, i: int) -> BoxPoint:
        """Return a patient of region i, which must not be empty."""
        region = self.regions[i]
        assert region.point is not None
        return self.patient(region.columns, region.point)

    def inside(self, i: int, j: int) -> bool:
        """Return True if region i lies in region j."""
        inner, outer = self.regions[i], self.regions[j]
        if inner.point is None or outer.point is None:
            return inner.point is None
        parallel = inner.directions
        return all(
            (key in parallel and parallel[key].level <= row.level) or self._implied(inner, row)
            for key, row in outer.directions.items()
        )

    def _implied(self, inner: Region, row: Row) -> bool:
        """Return True if every point of the region meets the row."""
        groups = np.union1d(inner.columns, row.columns)
        lo, hi = touching(*self._ends([inner], groups))
        slack = self.slack(row)
        beyond = Row.of(row.columns, -row.values, -row.bound - slack)
        return some_point(*row_matrix((*inner.wide_rows, beyond), groups), lo, hi) is None

    def slack(self, row: Row) -> float:
        """Return by how much a point must miss a row to be told from one that meets it."""
        lo, hi = self.group_lo[row.columns], self.group_hi[row.columns]
        largest = np.maximum(np.abs(lo), np.abs(hi))
        size = np.abs(row.values)
        return _MORE * float(size @ (hi - lo)) + _STRICT / 2 * (
            abs(row.bound) + float(size @ largest)
        )

    def meeting(self, i: int, j: int) -> BoxPoint | None:
        """Return a patient of both regions, or None."""
        first, second = self.regions[i], self.regions[j]
        if first.point is None or second.point is None:
            return None
        groups = np.union1d(first.columns, second.columns)
        lo, hi = touching(*self._ends([first, second], groups))
        x = some_point(*row_matrix(first.wide_rows + second.wide_rows, groups), lo, hi)
        return None if x is None else self.patient(groups, x)

    def _ends(self, regions: list[Region], groups: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends of these groups, which include those of the regions, narrowed by each
        region.
        """
        lo, hi = self.group_lo[groups], self.group_hi[groups]
        for region in regions:
            own = np.searchsorted(groups, region.columns)
            lo[own] = np.maximum(lo[own], region.ends[0])
            hi[own] = np.minimum(hi[own], region.ends[1])
        return lo, hi


def _same_weights(matrices: list[sparse.csr_array], n: int) -> IntArray:
    """Return a number for each column, equal for columns that are equal in every matrix.

    Equal columns have bitwise equal products with random vectors, and no others do in practice.
    """
    if not n:
        return np.empty(0, np.int64)
    A = sparse.csc_array(sparse.vstack(matrices))
    marks = A.T @ np.random.default_rng(0).standard_normal((A.shape[0], 2))
    return np.unique(marks, axis=0, return_inverse=True)[1].ravel()


def _grouped_rows(B: sparse.csr_array, d: FloatArray, group: IntArray) -> tuple[Row, ...]:
    """Return the rows of B with one entry for each group."""
    found = []
    for start, end, bound in zip(B.indptr[:-1], B.indptr[1:], d, strict=True):
        groups, first = np.unique(group[B.indices[start:end]], return_index=True)
        found.append(Row.of(groups, B.data[start:end][first], float(bound)))
    return tuple(found)


def _finite(
    box: Box,
    columns: IntArray,
    matrices: list[sparse.csr_array],
    rules: Sequence[CompiledRule],
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the columns; one that is infinite lies beyond all that the rules compare
    with.
    """
    lo, hi = box.ends(columns)
    if np.isfinite(lo).all() and np.isfinite(hi).all():
        return lo, hi
    d = np.concatenate([rule.d for rule in rules])
    return with_ends(lo, hi, column_scales(sparse.vstack(matrices, "csr"), d))


def _bounds(B: sparse.csr_array, rule: CompiledRule, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the bounds of a rule; that of a strict row lies a little inside, so that
    borders part.
    """
    strict = strict_rows(rule)
    return rule.d - _STRICT * largest_sums(B, rule.d, lo, hi) * strict if strict.any() else rule.d


def strict_rows(rule: CompiledRule) -> BoolArray:
    """Return which rows come from `<` or `>`, so that their border itself is not meant.

    >>> from hipad.rules.compiler import compile_rules
    >>> (rule,) = compile_rules("1 <= x0 < 3 and x1 >= 2 => positive", n_features=2)
    >>> strict_rows(rule)
    array([False,  True, False])
    """
    found = np.zeros(len(rule.d), dtype=bool)
    for condition in {id(each): each for each in rule.origins}.values():
        if isinstance(condition, Condition):
            own = [k for k, origin in enumerate(rule.origins) if origin is condition]
            signs = [sign in ("<", ">") for sign in condition.relations]
            if all(signs) or len(signs) == len(own):
                found[own] = signs if len(signs) == len(own) else True
    return found


# --------------------------------------------------------------------------------------------------
# What a few points tell about all pairs of regions at once, before any pair is looked at alone.
#
# A region has a point near its middle and, mostly, its best corner: where the box gives its rows
# the most room. A pair meets if some such points, put together, lie in both regions; a region does
# not lie in another if a point of it lies outside. What no point decides is left to `regions`.


_BATCH = 4_000_000  # numbers held at once


@dataclass(frozen=True, eq=False)
class PairScreen:
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
    def of(cls, regions: Regions, alive: Sequence[int]) -> PairScreen:
        """Return the regions with these numbers, each of which has a point."""
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
        tolerance = (self.d + ROUNDING * self._size)[first:last, None]
        return np.asarray(
            np.logical_and.reduceat(values <= tolerance, self.starts[part] - first, 0)
        )

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
    """Return the corner of the narrowed box that gives the rows most room, if the region
    holds it.
    """
    gradient = np.zeros(len(region.columns))
    for row in region.wide_rows:
        gradient[np.searchsorted(region.columns, row.columns)] += row.values / (row.size or 1.0)
    lo, hi = region.ends
    corner = np.where(gradient > 0, lo, np.where(gradient < 0, hi, _point(region)))
    for row in region.wide_rows:
        if row.values @ corner[np.searchsorted(region.columns, row.columns)] > row.bound:
            return _point(region)
    return corner


def _stacked(columns: list[IntArray], values: list[FloatArray], width: int) -> sparse.csr_array:
    indptr = np.cumsum([0] + [len(own) for own in columns])
    indices = np.concatenate([*columns, np.empty(0, np.int64)])
    data = np.concatenate([*values, np.empty(0)])
    return sparse.csr_array((data, indices, indptr), shape=(len(columns), width))


# --------------------------------------------------------------------------------------------------
# Regions side by side: what their ranges and parallel rows decide about all pairs at once.
#
# Two regions are apart if their ranges of some column are, or if a row of one has no point in the
# ranges of both, or if two rows face each other with a gap between them. They meet if no row on
# several columns ties them together, or if a few steps from the middle of their ranges find a
# point. A region lies in another if its ranges alone, or parallel rows, give every row of the
# other.


_SWEEPS = 12
_TINY = float(np.finfo(np.float64).tiny)
_MOST = 30_000_000  # entries of a matrix of regions by columns or rows; beyond, one by one


class RegionTable:
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
        """Return the regions that narrow some column of a row."""
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
        """Return for each region the columns of some of its rows."""
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
        """Return which others have a common point with a region, as far as steps onto its rows
        find.

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
        """Return the highest value of each row in the ranges of each region."""
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
    """Return which lines of the boxes have a point that meets all rows, as far as a few sweeps
    show.
    """
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


# --------------------------------------------------------------------------------------------------
# Which pairs of rules meet or lie in each other: by a glance at all, then one by one.
#
# Every pair that needs work of its own costs a step of the budget. Rules with a pair that was not
# reached are remembered in `missed`.


class Pairs:
    """The pairs of some regions; what is asked twice is answered from memory."""

    def __init__(self, regions: Regions, budget: Budget) -> None:
        self.regions, self.budget = regions, budget
        self.missed: set[int] = set()
        self.reached = [i for i in range(len(regions.regions)) if self._reach(i)]
        self.alive = [i for i in self.reached if regions.regions[i].point is not None]
        self._place = {i: at for at, i in enumerate(self.alive)}
        self._glance = PairScreen.of(regions, self.alive)
        self._together = together = RegionTable(regions, [regions.regions[i] for i in self.alive])
        self._apart = together.apart
        self._meet = self._glance.meetings(budget) & ~self._apart | together.unbound
        self._within, outside = together.within
        self._near = self._shared() & ~outside & ~self._glance.outside(budget)
        self._inside: dict[tuple[int, int], bool] = {}

    def _reach(self, i: int) -> bool:
        """Find a point of the region, if the budget allows."""
        if not self.budget.spend():
            self.missed.add(i)
            return False
        _ = self.regions.regions[i].point  # kept there from now on
        return True

    def _shared(self) -> BoolArray:
        """Return which two regions name a common column."""
        shared = (self._glance.inside @ self._glance.inside.T).astype(bool).toarray()
        np.fill_diagonal(shared, False)
        return np.asarray(shared)

    def near(self, i: int) -> list[int]:
        """Return the regions that share a column with region i and may hold it."""
        return [self.alive[at] for at in np.flatnonzero(self._near[self._place[i]])]

    def inside(self, i: int, j: int) -> bool:
        """Return True if region i lies in region j; False as well when that was not reached."""
        place = self._place[i], self._place[j]
        if not self._near[place] or self._within[place]:
            return bool(self._near[place])
        if (i, j) not in self._inside:
            if not self.budget.spend():
                self.missed |= {i, j}
                return False
            self._inside[i, j] = self.regions.inside(i, j)
        return self._inside[i, j]

    def meeting(self, i: int, others: list[int]) -> list[int]:
        """Those of the others that have a common point with region i, as far as was reached."""
        own, places = self._place[i], np.array([self._place[j] for j in others], dtype=np.int64)
        open_ = places[~(self._meet[own, places] | self._apart[own, places])]
        if len(open_) > 1 and not self.budget.is_spent:
            self._meet[own, open_] = self._together.met_by_steps(own, open_)
        seen, apart = self._meet[own, places].tolist(), self._apart[own, places].tolist()
        return [
            j
            for j, met, never in zip(others, seen, apart, strict=True)
            if met or (not never and self._meets(i, j))
        ]

    def _meets(self, i: int, j: int) -> bool:
        if not self.budget.spend():
            self.missed |= {i, j}
            return False
        return self.regions.meeting(i, j) is not None


# --------------------------------------------------------------------------------------------------
# Static checks of rules over the box of plausible values: warnings, never refusals.
#
# Each finding says in a sentence what is odd, names the rules, shows a witness patient where there
# can be one, and what to do. The rules need no data beyond the box and, for their strength, the
# weights of the objective.


MAX_LISTED = 3  # rules that meet more opponents than this get one finding for all of them


@dataclass(frozen=True)
class Finding:
    """Something the author of the rules should know.

    `kind` is one of empty, unseen, always, average, duplicate, subsumed, conflict, contradicted,
    weak, unchecked.
    """

    kind: str
    severity: str
    rules: tuple[str, ...]
    sentence: str
    remedy: str
    witness: BoxPoint | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.severity}: {self.sentence}; {self.remedy}"


def check_rules(
    rules: Sequence[CompiledRule],
    lo: FloatArray | float,
    hi: FloatArray | float,
    *,
    scaled: Sequence[ScaledRule] | None = None,
    evidence: Sequence[RuleEvidence | None] | None = None,
    weights: Sequence[RuleWeights] | None = None,
    gradients: Sequence[RuleGradient] | None = None,
    budget: Budget | None = None,
) -> tuple[Finding, ...]:
    r"""Look for rules that contradict, repeat or outvote each other, are empty or too weak.

    Parameters
    ----------
    rules : sequence of CompiledRule
        In the user's units.
    lo, hi : float or ndarray of shape (n_features,)
        The least and the largest plausible value of each feature.
    scaled : sequence of ScaledRule, default=None
        The rules in scaled units (`RuleColumns.representative`).
    evidence : sequence of RuleEvidence, default=None
        What training patients say of each rule.
    weights : sequence of RuleWeights, default=None
        How strongly each rule acts; checked if `gradients` are given.
    gradients : sequence of RuleGradient, default=None
        The gradient of each rule at zero.
    budget : Budget, default=None
        How much work it may be. When it ends, a finding of kind "unchecked" says how many
        rules it did not reach.

    Returns
    -------
    tuple of Finding
        Each has a kind, the rules it is of, a sentence and a remedy.

    See Also
    --------
    compile_rules : Makes the rules linear.

    Examples
    --------
    >>> from hipad import check_rules, compile_rules
    >>> rules = compile_rules("a: x0 >= 2 => positive\nb: x0 >= 3 => positive", n_features=1)
    >>> [(finding.kind, finding.rules) for finding in check_rules(rules, 0.0, 9.0)]
    [('subsumed', ('b', 'a'))]
    """
    regions = Regions.of(rules, Box(lo, hi))
    pairs = Pairs(regions, budget or Budget())
    conflicts = list(_conflicts(rules, regions, pairs))  # first, they matter most
    found = [
        *_single_findings(rules, regions, pairs),
        *_containments(rules, regions, pairs),
        *conflicts,
    ]
    found[:0] = _unchecked(rules, pairs.missed)
    if evidence is not None:
        found += _contradicted_findings(rules, evidence)
    if scaled is not None:
        found += _average_findings(rules, scaled)
    if weights is not None and gradients is not None:
        found += _weak_findings(rules, weights, gradients)
    return tuple(found)


def _single_findings(
    rules: Sequence[CompiledRule], regions: Regions, pairs: Pairs
) -> Iterator[Finding]:
    for i in pairs.reached:
        rule, region = rules[i], regions.regions[i]
        if region.point is None and _is_impossible(rule):
            yield Finding(
                "empty",
                "warning",
                (rule.label,),
                f"nobody can meet '{rule.rule.premise}' of {rule.label}",
                "correct or remove a condition",
            )
        elif region.point is None:
            yield Finding(
                "unseen",
                "note",
                (rule.label,),
                f"{rule.label} speaks of patients beyond the range of these data, so they neither "
                "support nor contradict it",
                "leave it as it is if that is meant; if not, check the threshold and its units",
            )
        elif region.is_whole_box:
            yield Finding(
                "always",
                "warning",
                (rule.label,),
                f"{rule.label} fires for every patient in the range of plausible values",
                "tighten a threshold, or leave the rule out",
                regions.witness(i),
            )


def _is_impossible(rule: CompiledRule) -> bool:
    """Return True if nobody meets the premise, whatever the values."""
    (region,) = Regions.of([rule], Box(-np.inf, np.inf)).regions
    return region.point is None


def _containments(
    rules: Sequence[CompiledRule], regions: Regions, pairs: Pairs
) -> Iterator[Finding]:
    """Yield rules that say nothing beyond others of the same outcome."""
    for i in pairs.alive:
        same = [j for j in pairs.near(i) if rules[i].sign == rules[j].sign]
        wider = [j for j in same if pairs.inside(i, j)]
        equal = [j for j in wider if pairs.inside(j, i)]
        if any(j > i for j in equal):
            yield _duplicate(rules, regions, i, [j for j in equal if j > i])
        if len(wider) > len(equal):
            yield _subsumed(rules, regions, i, [j for j in wider if j not in equal])


def _duplicate(
    rules: Sequence[CompiledRule], regions: Regions, i: int, equal: list[int]
) -> Finding:
    labels = (rules[i].label, *(rules[j].label for j in equal))
    return Finding(
        "duplicate",
        "warning",
        labels,
        f"{listed(labels)} fire for the same patients and say the same",
        "keep one of them, and give it the worth of all",
        regions.witness(i),
    )


def _subsumed(rules: Sequence[CompiledRule], regions: Regions, i: int, wider: list[int]) -> Finding:
    label, others = rules[i].label, tuple(rules[j].label for j in wider)
    return Finding(
        "subsumed",
        "note",
        (label, *others),
        f"whoever meets {label} meets {listed(others, limit=MAX_LISTED)} too, which says the same",
        f"leave {label} out, unless its patients should count more",
        regions.witness(i),
    )


def _conflicts(rules: Sequence[CompiledRule], regions: Regions, pairs: Pairs) -> Iterator[Finding]:
    """Yield rules of opposite outcome that can fire together."""
    against = [j for j in pairs.alive if rules[j].sign < 0]
    for i in (i for i in pairs.alive if rules[i].sign > 0):
        met = pairs.meeting(i, against)
        apart = len(met) <= MAX_LISTED
        for group in [[j] for j in met] if apart else [met]:
            others = tuple(rules[j].label for j in group)
            yield Finding(
                "conflict",
                "note",
                (rules[i].label, *others),
                f"some patients meet both {rules[i].label} and "
                f"{listed(others, limit=MAX_LISTED)}, which say the opposite",
                "decide which should win there: give it more weight, or limit the other",
                regions.meeting(i, group[0]),
            )


def _unchecked(rules: Sequence[CompiledRule], missed: set[int]) -> Iterator[Finding]:
    if missed:
        yield Finding(
            "unchecked",
            "note",
            (),
            f"{len(missed):,} of {count(len(rules), 'rule')} were not compared with all others, "
            "which would take too long",
            "switch off or leave out rules to have the rest compared",
        )


def _contradicted_findings(
    rules: Sequence[CompiledRule], evidence: Sequence[RuleEvidence | None]
) -> Iterator[Finding]:
    for rule, said in zip(rules, evidence, strict=True):
        if said is not None and said.doubtful:
            written = rule.rule.worth is not None
            worth = "its written weight stays" if written else "its trust is learnt from all rows"
            yield Finding(
                "contradicted",
                "warning",
                (rule.label,),
                f"{said.contradiction(rule.label)} ({worth})",
                "check the outcome, the threshold and the units, or leave the rule out",
            )


def _average_findings(
    rules: Sequence[CompiledRule], scaled: Sequence[ScaledRule]
) -> Iterator[Finding]:
    for rule, representative in zip(rules, scaled, strict=True):
        z = shortest_patient(representative.B, representative.d)
        if z is not None and not z.any():
            yield Finding(
                "average",
                "warning",
                (rule.label,),
                f"the middle between the classes already meets '{rule.rule.premise}' of "
                f"{rule.label}, so the rule acts on no feature",
                "tighten the threshold beyond the middle",
            )


def _weakness(rule: CompiledRule, gradient: RuleGradient) -> str:
    if gradient.strongest > gradient.lambda1:
        return f"the patients point the other way than {rule.label}, so none of its features enters"
    return (
        f"{rule.label} has a gradient of {gradient.strongest:.3g} at zero, not above "
        f"lambda1 = {gradient.lambda1:.3g}, so "
        f"no feature enters for its {gradient.limit}"
    )


def _weak_findings(
    rules: Sequence[CompiledRule], weights: Sequence[RuleWeights], gradients: Sequence[RuleGradient]
) -> Iterator[Finding]:
    for rule, own, gradient in zip(rules, weights, gradients, strict=True):
        if not gradient.enters and gradient.limit in ("worth", "stiffness"):
            yield Finding(
                "weak",
                "warning",
                (rule.label,),
                _weakness(rule, gradient),
                weight_advice(gradient, own),
            )


# --------------------------------------------------------------------------------------------------
# Blocks and data: groups of features that rise and fall together, and features in two blocks.


def suggest_blocks(
    X: Any, *, least_correlation: float = 0.6, smallest: int = 3, most_features: int = 1_500
) -> dict[str, IntArray]:
    """Find groups of features that rise and fall together, among those that vary most.

    Parameters
    ----------
    X : array or sparse matrix
        One row per sample.
    least_correlation : float, default=0.6
        The least mean correlation of the features of a group.
    smallest : int, default=3
        The fewest features of a group.
    most_features : int, default=1500
        How many columns are compared, so that no matrix of all pairs is built.

    Returns
    -------
    dict of str to ndarray
        The columns of each group.

    See Also
    --------
    HIPADClassifier : Takes blocks, which rules may name.

    Examples
    --------
    >>> import numpy as np
    >>> from hipad import suggest_blocks
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(50, 1))
    >>> X = np.hstack([shared + 0.1 * rng.normal(size=(50, 4)), rng.normal(size=(50, 6))])
    >>> [columns.tolist() for columns in suggest_blocks(X).values()]
    [[0, 1, 2, 3]]
    """
    X = X if sparse.issparse(X) else np.asarray(X)
    _, spread = column_moments(X)
    varying = np.sort(np.argsort(-spread, kind="stable")[:most_features])
    varying = varying[spread[varying] > 0]
    if len(varying) < 2:
        return {}
    far = 1.0 - _correlations(X, varying)
    tree = linkage(far[np.triu_indices(len(varying), 1)], "average")
    groups = fcluster(tree, 1.0 - least_correlation, "distance")
    sizes = np.bincount(groups)
    members = [varying[groups == g] for g in np.flatnonzero(sizes >= smallest)]
    members.sort(key=lambda columns: int(columns[0]))
    return {f"B{n}": columns for n, columns in enumerate(members, 1)}


def _correlations(X: Any, columns: IntArray) -> FloatArray:
    part = X[:, columns]
    dense = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
    dense = np.nan_to_num(dense - np.nanmean(dense, axis=0))
    dense /= np.maximum(np.abs(dense).max(axis=0), np.finfo(float).tiny)  # squares stay in range
    dense /= np.maximum(np.linalg.norm(dense, axis=0), np.finfo(float).tiny)
    return np.clip(dense.T @ dense, -1.0, 1.0)


def block_overlaps(blocks: Mapping[str, IntArray]) -> list[tuple[str, str, IntArray]]:
    """Return pairs of blocks with the columns that they share, largest share first.

    >>> block_overlaps({"a": np.array([0, 1]), "b": np.array([1, 2]), "c": np.array([7])})
    [('a', 'b', array([1]))]
    """
    shared = [
        (a, b, np.intersect1d(blocks[a], blocks[b], assume_unique=True))
        for a, b in itertools.combinations(blocks, 2)
    ]
    return sorted((pair for pair in shared if len(pair[2])), key=lambda pair: -len(pair[2]))
