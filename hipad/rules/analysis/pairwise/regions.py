"""Regions of several rules in the box of plausible values: does one hold another, do two meet?

Columns that have the same weight in every rule act as one, their sum, so a rule on a block of a
thousand features is a rule on one number. Little is then left to decide, and most of it by a glance
at parallel rows or at the middle of a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hipad.arrays import BoolArray, FloatArray, IntArray
from hipad.rules.analysis.box import ROUNDING, Box, Patient, column_scales, with_ends
from hipad.rules.analysis.pairwise.region import Region, largest_sums, row_matrix, touching
from hipad.rules.analysis.points import some_point
from hipad.rules.compiling.compiled import CompiledRule
from hipad.rules.compiling.rows import Row, on_columns
from hipad.rules.language.model import Condition

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
        """Regions on groups of columns that no rule tells apart."""
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

    def patient(self, groups: IntArray, values: FloatArray) -> Patient:
        """A patient whose groups of columns have these sums.

        Within a group every column lies at the same share of its range.
        """
        width = self.group_hi[groups] - self.group_lo[groups]
        above = values - self.group_lo[groups]
        share = np.full(len(self.group_lo), np.nan)
        share[groups] = np.divide(above, width, out=np.zeros_like(above), where=width > 0)
        own = np.flatnonzero(np.isfinite(share[self.group]))
        lo, hi = self.lo[own], self.hi[own]
        return Patient(self.columns[own], lo + share[self.group[own]] * (hi - lo))

    def witness(self, i: int) -> Patient:
        """A patient of region i, which must not be empty."""
        region = self.regions[i]
        assert region.point is not None
        return self.patient(region.columns, region.point)

    def inside(self, i: int, j: int) -> bool:
        """True if region i lies in region j."""
        inner, outer = self.regions[i], self.regions[j]
        if inner.point is None or outer.point is None:
            return inner.point is None
        parallel = inner.directions
        return all(
            (key in parallel and parallel[key].level <= row.level) or self._implied(inner, row)
            for key, row in outer.directions.items()
        )

    def _implied(self, inner: Region, row: Row) -> bool:
        """True if every point of the region meets the row."""
        groups = np.union1d(inner.columns, row.columns)
        lo, hi = touching(*self._ends([inner], groups))
        slack = self.slack(row)
        beyond = Row.of(row.columns, -row.values, -row.bound - slack)
        return some_point(*row_matrix((*inner.wide_rows, beyond), groups), lo, hi) is None

    def slack(self, row: Row) -> float:
        """By how much a point must miss a row to be told from one that meets it."""
        lo, hi = self.group_lo[row.columns], self.group_hi[row.columns]
        largest = np.maximum(np.abs(lo), np.abs(hi))
        size = np.abs(row.values)
        return _MORE * float(size @ (hi - lo)) + _STRICT / 2 * (
            abs(row.bound) + float(size @ largest)
        )

    def meeting(self, i: int, j: int) -> Patient | None:
        """A patient of both regions, or None."""
        first, second = self.regions[i], self.regions[j]
        if first.point is None or second.point is None:
            return None
        groups = np.union1d(first.columns, second.columns)
        lo, hi = touching(*self._ends([first, second], groups))
        x = some_point(*row_matrix(first.wide_rows + second.wide_rows, groups), lo, hi)
        return None if x is None else self.patient(groups, x)

    def _ends(self, regions: list[Region], groups: IntArray) -> tuple[FloatArray, FloatArray]:
        """The ends of these groups, which include those of the regions, narrowed by each region."""
        lo, hi = self.group_lo[groups], self.group_hi[groups]
        for region in regions:
            own = np.searchsorted(groups, region.columns)
            lo[own] = np.maximum(lo[own], region.ends[0])
            hi[own] = np.minimum(hi[own], region.ends[1])
        return lo, hi


def _same_weights(matrices: list[sparse.csr_array], n: int) -> IntArray:
    """A number for each column, equal for columns that are equal in every matrix.

    Equal columns have bitwise equal products with random vectors, and no others do in practice.
    """
    if not n:
        return np.empty(0, np.int64)
    A = sparse.csc_array(sparse.vstack(matrices))
    marks = A.T @ np.random.default_rng(0).standard_normal((A.shape[0], 2))
    return np.unique(marks, axis=0, return_inverse=True)[1].ravel()


def _grouped_rows(B: sparse.csr_array, d: FloatArray, group: IntArray) -> tuple[Row, ...]:
    """The rows of B with one entry for each group."""
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
    """The ends of the columns; one that is infinite lies beyond all that the rules compare with."""
    lo, hi = box.ends(columns)
    if np.isfinite(lo).all() and np.isfinite(hi).all():
        return lo, hi
    d = np.concatenate([rule.d for rule in rules])
    return with_ends(lo, hi, column_scales(sparse.vstack(matrices, "csr"), d))


def _bounds(B: sparse.csr_array, rule: CompiledRule, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """The bounds of a rule; that of a strict row lies a little inside, so that borders part."""
    strict = strict_rows(rule)
    return rule.d - _STRICT * largest_sums(B, rule.d, lo, hi) * strict if strict.any() else rule.d


def strict_rows(rule: CompiledRule) -> BoolArray:
    """Which rows come from `<` or `>`, so that their border itself is not meant.

    >>> from hipad.rules.compiling.compile import compile_rules
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
