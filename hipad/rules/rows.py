"""Rows of B x <= d: from the terms of a condition to sparse rows, without the needless ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.rules.linear import EXTREMES, Weighted, inequalities
from hipad.rules.model import Condition, Name, Term
from hipad.rules.names import FeatureIndex, IntArray
from hipad.rules.words import quote_name, rule_error

FloatArray = npt.NDArray[np.float64]

MAX_ROWS = 2_000
ROUNDING = 1e-7
"""Relative slack of a comparison: data are often kept in single precision, where 1.9 is not 1.9."""

_CANCELLED = 1e-12  # what is left of 0.1 + 0.2 - 0.3, relative to its parts


@dataclass(frozen=True, eq=False)
class Row:
    """One row: sum of values[j] * x[columns[j]] <= bound, and the condition it comes from."""

    columns: IntArray
    values: FloatArray
    bound: float
    source: str

    @cached_property
    def size(self) -> float:
        """The largest coefficient, by which rows are made comparable."""
        return float(np.abs(self.values).max(initial=0.0))

    @property
    def level(self) -> float:
        """The bound of the row scaled to size one."""
        return self.bound / self.size

    def direction(self, sign: float = 1.0) -> tuple[bytes, bytes]:
        """Equal for rows that differ only by a positive factor (times `sign`) and the bound."""
        unit = np.round(sign * self.values / self.size, 12)
        return self.columns.tobytes(), unit.tobytes()


class Resolver:
    """Turns names into columns, and says what a reader should know about the result."""

    def __init__(self, index: FeatureIndex, blocks: Mapping[str, IntArray]) -> None:
        self.index = index
        self.blocks = blocks
        self.remarks: list[str] = []

    def rows(self, condition: Condition) -> Iterator[Row]:
        """The rows of one condition."""
        for terms in inequalities(condition):
            yield from self._rows(terms, str(condition))

    def _rows(self, terms: Weighted, source: str) -> Iterator[Row]:
        bound = -sum(weight for weight, term in terms if term.is_number)
        extremes = [pair for pair in terms if pair[1].function in EXTREMES]
        fixed = [
            self._spread(weight, term)
            for weight, term in terms
            if term.names and term.function not in EXTREMES
        ]
        if not extremes and len(fixed) == 1 and fixed[0][1][0]:
            yield Row(*fixed[0], bound + 0.0, source)
            return
        groups = [self.columns(term) for _, term in extremes]
        if math.prod(map(len, groups)) > MAX_ROWS:
            raise rule_error(
                f"'{source}' makes more than {MAX_ROWS:,} rows, one a feature: "
                "write mean(...) or name fewer features",
                column=extremes[0][1].column,
            )
        factors = np.array([weight for weight, _ in extremes])
        for choice in itertools.product(*groups):
            parts = [*fixed, (np.array(choice, dtype=np.int64), factors)]
            yield _merged(parts, bound, source)

    def _spread(self, weight: float, term: Term) -> tuple[IntArray, FloatArray]:
        columns = self.columns(term)
        share = len(columns) if term.function == "mean" else 1
        return columns, np.full(len(columns), weight / share)

    def columns(self, term: Term) -> IntArray:
        """The columns that a term names, each once."""
        if not term.function:
            return np.array([self._feature(str(term.names[0]), term.column)])
        parts = [self._group(name, term.column) for name in term.names]
        if len(parts) == 1 and len(parts[0]):
            return parts[0]
        together = np.concatenate(parts)
        columns = np.unique(together)
        if len(columns) < len(together):
            self.remarks.append(f"{term.body} names a feature twice; it counts once")
        if not len(columns):
            raise rule_error(
                f"{term.body} has no features: fill the block first", column=term.column
            )
        return columns

    def _feature(self, name: str, column: int | None) -> int:
        if self.index.position(name) is None and name in self.blocks:
            quoted = quote_name(name)
            raise rule_error(
                f"{quoted} is a block of features: write mean({quoted}), sum({quoted}), "
                f"min({quoted}) or max({quoted})",
                column=column,
                suggestion=f"mean({quoted})",
            )
        return self.index.find(name, column, self.blocks)

    def _group(self, name: Name, column: int | None) -> IntArray:
        if isinstance(name, str):
            if name in self.blocks:
                return self.blocks[name]
            return np.array([self.index.find(name, column, self.blocks)])
        first, last = (self.index.find(end, column) for end in (name.first, name.last))
        if first > last:
            remedy = f"write {quote_name(name.last)}:{quote_name(name.first)}"
            raise rule_error(f"{name} runs backwards: {remedy}", column=column)
        return np.arange(first, last + 1)


def _merged(parts: list[tuple[IntArray, FloatArray]], bound: float, source: str) -> Row:
    columns = np.concatenate([part[0] for part in parts])
    values = np.concatenate([part[1] for part in parts])
    columns, where = np.unique(columns, return_inverse=True)
    total = np.bincount(where, values, len(columns)).astype(np.float64)
    size = np.bincount(where, np.abs(values), len(columns))
    keep = (np.abs(total) > _CANCELLED * size) | np.isinf(size)
    return Row(columns[keep], total[keep], bound + 0.0, source)


def on_columns(B: sparse.csr_array, columns: IntArray) -> sparse.csr_array:
    """B on a sorted set of columns that holds all its own, without work of the width of B."""
    where = np.searchsorted(columns, B.indices)
    return sparse.csr_array((B.data, where, B.indptr), shape=(B.shape[0], len(columns)))


def rows_met(B: sparse.csr_array, d: FloatArray, X: FloatArray) -> npt.NDArray[np.bool_]:
    """For each row of B and each column x of X whether B x <= d, up to rounding."""
    bound = d[:, None]
    with np.errstate(invalid="ignore"):
        room = ROUNDING * (abs(B) @ np.abs(X) + np.abs(bound))
        return np.asarray(bound + room >= B @ X)


def needed_rows(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """The rows that matter, and remarks on those left out or never met."""
    if len(rows) == 1 and rows[0].size:
        return rows, []
    kept: dict[tuple[bytes, bytes], Row] = {}
    remarks: list[str] = []
    for row in rows:
        if not row.size:
            if row.bound < 0:
                return [row], [f"'{row.source}' can never be true, so the rule never fires"]
            part = "part of " if sum(r.source == row.source for r in rows) > 1 else ""
            remarks.append(f"{part}'{row.source}' is always true and was left out")
            continue
        key = row.direction()
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
        if (opposite := row.direction(-1.0)) in kept
        and key < opposite
        and row.level + kept[opposite].level < 0
    ]
    nothing = Row(np.empty(0, np.int64), np.empty(0), 0.0, "always")
    return list(kept.values()) or [nothing], list(dict.fromkeys(remarks))


def _left_out(loose: Row, tight: Row) -> str:
    if loose.level == tight.level:
        return f"'{loose.source}' repeats '{tight.source}' and was left out"
    return f"'{loose.source}' follows from '{tight.source}' and was left out"
