"""Rules on data: how many rows fire, how many are right, where rules overlap and contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.arrays import BoolArray, FloatArray, IntArray
from hipad.data.gaps import Gaps
from hipad.errors import DataError
from hipad.rules.compiling.compiled import CompiledRule
from hipad.rules.compiling.rows import on_columns, rows_met
from hipad.wording import count


@dataclass(frozen=True, eq=False)
class RuleCounts:
    """What one rule does on one set of rows; the arrays hold row numbers.

    `gaps` are rows without a value in a feature that the rule names, of which it does not speak;
    those of them that meet every condition which can be read are `undecided`.
    """

    label: str
    n_rows: int
    fired: IntArray
    right: IntArray
    wrong: IntArray
    gaps: IntArray
    undecided: IntArray

    @property
    def precision(self) -> float:
        """Share of the firing rows that are right; nan if none fires."""
        return len(self.right) / len(self.fired) if len(self.fired) else float("nan")

    @property
    def numbers(self) -> dict[str, int]:
        """The counts alone."""
        parts = ("fired", "right", "wrong", "gaps", "undecided")
        return {"rows": self.n_rows} | {part: len(getattr(self, part)) for part in parts}

    def __str__(self) -> str:
        if not len(self.fired):
            text = f"fires on none of {count(self.n_rows, 'row')}"
        else:
            text = (
                f"fires on {len(self.fired):,} of {count(self.n_rows, 'row')}, "
                f"right on {len(self.right):,} ({self.precision:.0%})"
            )
        return f"{text}, {self.no_value}" if len(self.gaps) else text

    @property
    def no_value(self) -> str:
        """Of how many rows the rule cannot speak, or nothing where it has all values."""
        if not len(self.gaps):
            return ""
        return f"no value: {len(self.gaps):,} of {self.n_rows:,}"


def rule_counts(rule: CompiledRule, X: Any, y: Any, *, missing: Any = None) -> RuleCounts:
    """Try one rule on rows with outcomes y in {-1, +1}.

    `missing` (`Gaps`, or marks of the shape of X) are the cells of X that were filled in: they are
    no values, as cells that are nan are none.

    >>> from hipad.rules.compiling.compile import compile_rules
    >>> (rule,) = compile_rules("x0 >= 2 => positive", n_features=1)
    >>> print(rule_counts(rule, [[1], [2], [3]], [-1, 1, -1]))
    fires on 2 of 3 rows, right on 1 (50%)
    """
    X = X if sparse.issparse(X) else np.asarray(X)
    outcomes = np.asarray(y, dtype=np.float64)
    if X.shape[0] != len(outcomes):
        raise DataError(f"expected one outcome per row, got {len(outcomes)} for {X.shape[0]} rows")
    fires = rule.fires(X)
    values = _with_gaps(rule, X, missing)
    gaps = undecided = np.zeros(len(fires), dtype=bool)
    if values is not None:
        gaps, undecided = np.asarray(np.isnan(values).any(axis=1)), _undecided(rule, values)
        fires &= ~gaps
    agrees = outcomes == rule.sign
    rows = (fires, fires & agrees, fires & ~agrees, gaps, undecided)
    return RuleCounts(rule.label, len(fires), *(np.flatnonzero(mask) for mask in rows))


def _with_gaps(rule: CompiledRule, X: Any, missing: Any) -> FloatArray | None:
    """The features that the rule names, with nan in their gaps; None where they have none."""
    named = X[:, rule.columns]
    if isinstance(missing, Gaps):
        named = missing.put_into(named, rule.columns)
    elif missing is not None:
        marks: Any = (missing if sparse.issparse(missing) else np.asarray(missing))[:, rule.columns]
        cells = Gaps.of(marks.toarray() if sparse.issparse(marks) else marks)
        named = cells.put_into(named, np.arange(len(rule.columns)))
    if not np.isnan(named.data if sparse.issparse(named) else np.asarray(named)).any():
        return None
    return np.asarray(named.toarray() if sparse.issparse(named) else named, dtype=np.float64)


def _undecided(rule: CompiledRule, values: FloatArray) -> BoolArray:
    """Rows that would fire if each condition with a missing value were met."""
    found = np.zeros(len(values), dtype=bool)
    rows = np.flatnonzero(np.isnan(values).any(axis=1))
    if len(rows):
        B = on_columns(rule.B, rule.columns)
        unknown = np.isnan(values[rows]).T
        met = rows_met(B, rule.d, np.where(unknown, 0.0, values[rows].T))
        unread = abs(B) @ unknown.astype(np.float64) > 0
        found[rows] = (met | unread).all(axis=0)
    return found


@dataclass(frozen=True, eq=False)
class Overlap:
    """How often rules fire on the same rows, and how often they then contradict each other."""

    labels: tuple[str, ...]
    together: IntArray
    conflict: IntArray
    contested: IntArray
    covered: int


def rule_overlap(rules: Sequence[CompiledRule], X: Any, *, gaps: Gaps | None = None) -> Overlap:
    """Counts for every pair of rules; `contested` rows fire for both outcomes."""
    X = X if sparse.issparse(X) else np.asarray(X)
    return overlap_of(rules, [rule.fires(X, gaps) for rule in rules], X.shape[0])


def overlap_of(rules: Sequence[CompiledRule], fired: Sequence[BoolArray], n_rows: int) -> Overlap:
    """The overlap of rules of which it is known on which rows each fires."""
    fires = np.array(fired, dtype=bool).reshape(len(rules), n_rows)
    counts = fires.astype(np.float64)  # exact for any number of rows, and fast
    together = (counts @ counts.T).astype(np.int64)
    signs = np.array([rule.sign for rule in rules])
    conflict = np.where(signs[:, None] * signs < 0, together, 0)
    both = fires[signs > 0].any(axis=0) & fires[signs < 0].any(axis=0)
    labels = tuple(rule.label for rule in rules)
    return Overlap(labels, together, conflict, np.flatnonzero(both), int(fires.any(axis=0).sum()))


def rules_alone(
    rules: Sequence[CompiledRule], X: Any, *, gaps: Gaps | None = None
) -> npt.NDArray[np.float64]:
    """The vote of the rules without a classifier: the sum of the signs of those that fire."""
    X = X if sparse.issparse(X) else np.asarray(X)
    votes = np.zeros(X.shape[0])
    for rule in rules:
        votes += rule.sign * rule.fires(X, gaps)
    return votes
