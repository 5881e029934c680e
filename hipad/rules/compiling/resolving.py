"""From the terms of a condition to sparse rows: names become columns, equal ones are added up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from hipad.arrays import FloatArray, IntArray
from hipad.rules.compiling.naming.members import block_for_feature, each_once
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.compiling.rows import Row
from hipad.rules.compiling.settling.values import ColumnValues
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import quote_name, rule_error
from hipad.rules.language.terms import Name, Term

EXTREMES = ("min", "max")

Weighted = list[tuple[float, Term]]
"""Terms with the coefficients they have on the left of `... <= 0`."""

Part = tuple[IntArray, float]
"""Columns, and the weight that each of them has."""

MAX_ROWS = 2_000

_CANCELLED = 1e-12  # what is left of 0.1 + 0.2 - 0.3, relative to its parts
_NO_COLUMNS = np.empty(0, np.int64)


def inequalities(condition: Condition) -> list[tuple[Weighted, bool]]:
    """Weighted terms, each list meaning sum <= 0, and whether the sum must be below.

    >>> a, three = Term(1.0, ("a",)), Term(3.0)
    >>> for terms, strict in inequalities(Condition(((a,), (three,)), (">",))):
    ...     print([(weight, term.body) for weight, term in terms], strict)
    [(-1.0, 'a'), (3.0, '')] True
    """
    found: list[tuple[Weighted, bool]] = []
    steps = zip(condition.sides, condition.relations, condition.sides[1:], strict=False)
    for left, relation, right in steps:
        difference = [(t.coefficient, t) for t in left] + [(-t.coefficient, t) for t in right]
        strict = relation in ("<", ">")
        if relation[0] in "<=":
            found.append((difference, strict))
        if relation[0] in ">=":
            found.append(([(-weight, term) for weight, term in difference], strict))
    return found


class Resolver:
    """Turns names into columns, and says what a reader should know about the result."""

    def __init__(
        self,
        index: FeatureIndex,
        blocks: Mapping[str, IntArray],
        values: ColumnValues | None = None,
    ) -> None:
        self.index = index
        self.blocks = blocks
        self.values = values
        self.remarks: list[str] = []

    def rows(self, condition: Condition) -> Iterator[Row]:
        """The rows of one condition; `>` on values with steps begins half-way to the next one."""
        for terms, strict in inequalities(condition):
            for row in self._rows(terms, condition):
                if strict and self.values is not None:
                    bound = self.values.strict_bound(row.columns, row.values, row.bound)
                    yield replace(row, bound=bound)
                else:
                    yield row

    def _rows(self, terms: Weighted, origin: Condition) -> Iterator[Row]:
        bound = 0.0
        fixed: list[Part] = []
        extremes: Weighted = []
        for weight, term in terms:
            if not term.names:
                bound -= weight
            elif term.function in EXTREMES:
                extremes.append((weight, term))
            else:
                fixed.append(self._spread(weight, term))
        for chosen in self._choices(extremes, origin) if extremes else [[]]:
            yield _added_up(fixed + chosen, bound, origin)

    def _choices(self, extremes: Weighted, origin: Condition) -> Iterator[list[Part]]:
        """One feature of each group, in every combination: min(K) >= c holds for all of K."""
        groups = [self.columns(term) for _, term in extremes]
        if math.prod(map(len, groups)) > MAX_ROWS:
            raise rule_error(
                f"'{origin}' makes more than {MAX_ROWS:,} rows, one per feature: "
                "write mean(...) or name fewer features",
                column=extremes[0][1].column,
            )
        weights = [weight for weight, _ in extremes]
        for choice in itertools.product(*groups):
            yield [(np.array([j]), weight) for j, weight in zip(choice, weights, strict=True)]

    def _spread(self, weight: float, term: Term) -> Part:
        columns = self.columns(term)
        return columns, weight / len(columns) if term.function == "mean" else weight

    def columns(self, term: Term) -> IntArray:
        """The columns that a term names, each once."""
        if not term.function:
            return np.array([self._feature(str(term.names[0]), term.column)])
        parts = [self._group(name, term.column) for name in term.names]
        if len(parts) == 1 and len(parts[0]):
            return parts[0]
        together = np.concatenate(parts)
        columns = each_once(together)
        if len(columns) < len(together):
            self.remarks.append(f"{term.body} names a feature twice; it counts once")
        if not len(columns):
            raise rule_error(
                f"{term.body} has no features: fill the block first", column=term.column
            )
        return columns

    def _feature(self, name: str, column: int | None) -> int:
        if name in self.blocks and self.index.position(name) is None:
            raise block_for_feature(name, column)
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


def _added_up(parts: list[Part], bound: float, origin: Condition) -> Row:
    weights = [weight for _, weight in parts]
    if len(parts) == 1 and weights[0]:
        columns = parts[0][0]
        return Row(columns, np.full(len(columns), weights[0]), bound, abs(weights[0]), origin)
    columns = np.concatenate([_NO_COLUMNS, *(columns for columns, _ in parts)])
    values = np.repeat(np.array(weights), [len(columns) for columns, _ in parts])
    order = columns.argsort(kind="stable")
    columns, values = columns[order], values[order]
    repeats = np.count_nonzero(columns[1:] == columns[:-1])
    if repeats or not all(weights):
        columns, values = _each_once(columns, values)
    return Row.of(columns, values, bound, origin)


def _each_once(columns: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Each column with the sum of its values, without those that cancel."""
    columns, where = np.unique(columns, return_inverse=True)
    total = np.bincount(where, values, len(columns)).astype(np.float64)
    size = np.bincount(where, np.abs(values), len(columns))
    keep = np.abs(total) > _CANCELLED * size
    return columns[keep], total[keep]
