"""What a fit needs of the data, made once and shared by all refits on them.

Labels become y in {-1, +1}, weights become shares p that sum to one, columns are scaled
implicitly, and the Gram matrix stays with the design.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.sparse import issparse

from hipad.arrays import IntArray
from hipad.data.gaps import Gaps, same_gaps
from hipad.data.moments import canonical_csc, column_statistics
from hipad.designs import Design, make_design
from hipad.designs.base import FloatArray
from hipad.estimator.choosing.folds import content_key
from hipad.estimator.damping import standardised_design
from hipad.rules import Box, CompiledRule, ScaledRule, Witnesses
from hipad.solver import FeaturePrices, Problem, RuleBlock

MOST_INFERRED: Final = 400  # rows that get a label from rules: more cost time and tell no more


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Data of one fit. `weights` count patients: a row of weight two is two patients."""

    X: Any
    y: FloatArray
    weights: FloatArray
    p: FloatArray
    design: Design
    source: Any
    row_sums: FloatArray
    unlabelled: Any = None  # rows without a label, as they came
    n_inferred: int = 0  # how many of the last rows have their label from rules
    groups: IntArray | None = None  # equal numbers belong together: rows of y, then unlabelled ones
    gaps: Gaps | None = None  # cells of X that were filled
    unlabelled_gaps: Gaps | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: FloatArray,
        weights: FloatArray,
        p: FloatArray,
        standardize: bool,
        source: Any = None,
        unlabelled: Any = None,
        groups: IntArray | None = None,
        gaps: tuple[Gaps | None, Gaps | None] = (None, None),
    ) -> TrainingData:
        """Scale the columns as serves these rows best (damping.py); `source` is what X came from.

        Rows without a label count one each in means and deviations. `gaps` are the cells that were
        filled, of X and of the rows without a label.
        """
        sums = row_sums(X if unlabelled is None else stacked_rows(X, unlabelled))
        if issparse(X):
            X = canonical_csc(X)
        if not standardize:
            design = make_design(X)
            return cls(X, y, weights, p, design, source, sums, unlabelled, 0, groups, *gaps)
        moments = None
        if unlabelled is not None:
            counts = np.r_[weights, np.ones(unlabelled.shape[0])]
            moments = column_statistics(stacked_rows(X, unlabelled), counts)
        design = standardised_design(X, y, weights, moments)
        return cls(X, y, weights, p, design, source, sums, unlabelled, 0, groups, *gaps)

    def with_rule_labels(
        self, rules: Sequence[CompiledRule], weights: Sequence[float | None]
    ) -> TrainingData | None:
        """Return these rows and, after them, unlabelled ones with the labels that rules give.

        The weight of a rule is spread evenly over the unlabelled rows that it covers. Where rules
        disagree on a row, the heavier side has it, at the difference. Each class keeps its share of
        the loss. None where no row gets a label.
        """
        if self.unlabelled is None:
            return None
        votes = np.zeros(self.unlabelled.shape[0])
        for rule, weight in zip(rules, weights, strict=True):
            covered = rule.fires(self.unlabelled, self.unlabelled_gaps)
            if weight and covered.any():
                votes[covered] += rule.sign * weight / np.count_nonzero(covered)
        labelled = np.flatnonzero(np.abs(votes) > 1e-9 * np.abs(votes).max(initial=0.0))
        if not labelled.size:
            return None
        labelled, votes = self._spread(labelled, votes)
        X = stacked_rows(self.X, self.unlabelled[labelled])
        if issparse(X):
            X = canonical_csc(X)
        y = np.r_[self.y, np.sign(votes[labelled])]
        counts, p = np.r_[self.weights, np.abs(votes[labelled])], np.zeros(y.size)
        for sign in (-1.0, 1.0):
            own = y == sign
            p[own] = counts[own] * self.p[self.y == sign].sum() / counts[own].sum()
        design = make_design(X, mean=self.design.mean, scale=self.design.scale)
        groups, gaps = self.groups, self.gaps
        if groups is not None:
            groups = np.r_[groups[: self.y.size], groups[self.y.size :][labelled]]
        if gaps or self.unlabelled_gaps:
            added = None if self.unlabelled_gaps is None else self.unlabelled_gaps.take(labelled)
            gaps = Gaps.stacked([(gaps, self.y.size), (added, labelled.size)])
        made = {"X": X, "y": y, "weights": counts, "p": p, "design": design}
        return replace(self, **made, groups=groups, gaps=gaps, n_inferred=labelled.size)

    def _spread(self, rows: np.ndarray, votes: FloatArray) -> tuple[np.ndarray, FloatArray]:
        """At most `MOST_INFERRED` of these rows, spread over their range, with the votes of all."""
        if rows.size <= MOST_INFERRED:
            return rows, votes
        X = self.unlabelled[rows]
        design = make_design(
            canonical_csc(X) if issparse(X) else X, mean=self.design.mean, scale=self.design.scale
        )
        sign, own = np.sign(votes[rows]), np.abs(votes[rows])
        key, kept, scaled = content_key(design, sign, own / own.sum()), [], votes.copy()
        for side in (np.flatnonzero(sign < 0), np.flatnonzero(sign > 0)):
            if not side.size:
                continue
            count = max(MOST_INFERRED * side.size // rows.size, 1)
            middles = (2 * np.arange(count) + 1) * side.size // (2 * count)
            taken = side[np.lexsort((own[side], key[side]))][middles]
            scaled[rows[taken]] *= own[side].sum() / own[taken].sum()
            kept.append(rows[taken])
        return np.sort(np.concatenate(kept)), scaled

    @cached_property
    def total(self) -> float:
        """Number of labelled patients: rows by their weights, or groups by the mean of theirs."""
        weights = self.weights[: self.n_labelled]
        if self.groups is None:
            return float(weights.sum())
        groups = np.unique(self.groups[: self.n_labelled], return_inverse=True)[1]
        return float((np.bincount(groups, weights) / np.bincount(groups)).sum())

    @property
    def patient_weights(self) -> FloatArray:
        """The weights of the rows, scaled to sum to the number of labelled patients."""
        if self.groups is None:
            return self.weights
        return self.weights * (self.total / float(self.weights[: self.n_labelled].sum()))

    @property
    def n_labelled(self) -> int:
        """Rows whose label was given, which come first."""
        return int(self.y.size - self.n_inferred)

    @property
    def labelled(self) -> tuple[Design, FloatArray, FloatArray]:
        """Design, signs and shares of the rows whose label was given."""
        if not self.n_inferred:
            return self.design, self.y, self.p
        rows = slice(self.n_labelled)
        y, weights, p = self.y[rows], self.weights[rows], np.zeros(self.n_labelled)
        for sign in (-1.0, 1.0):
            own = y == sign
            p[own] = weights[own] * self.p[self.y == sign].sum() / weights[own].sum()
        return self.design.rows(rows), y, p

    @cached_property
    def box(self) -> Box:
        """The observed range of every feature, in the user's units."""
        return Box.observed(self.X)

    @cached_property
    def sha256(self) -> str:
        """A hash of the matrix, the labels and the weights, to know the same data again."""
        digest = hashlib.sha256(f"{self.X.shape} {self.X.dtype.str}".encode())
        parts: Iterable[np.ndarray] = (self.X[i : i + 256] for i in range(0, self.X.shape[0], 256))
        if issparse(self.X):
            parts = (self.X.indptr.astype("<i8"), self.X.indices.astype("<i8"), self.X.data)
        for part in (*parts, self.y, self.weights):
            digest.update(np.ascontiguousarray(part).data)
        if self.unlabelled is not None:
            rest = self.unlabelled.toarray() if issparse(self.unlabelled) else self.unlabelled
            digest.update(np.ascontiguousarray(rest).data)
        if self.groups is not None:
            digest.update(np.ascontiguousarray(self.groups, dtype="<i8").data)
        return digest.hexdigest()

    def same_as(
        self,
        source: Any,
        X: Any,
        y: FloatArray,
        weights: FloatArray,
        p: FloatArray,
        standardize: bool,
        unlabelled: Any = None,
        groups: IntArray | None = None,
        gaps: tuple[Gaps | None, Gaps | None] = (None, None),
    ) -> bool:
        """Whether a refit may reuse this: the same matrix object, labels, weights and scaling.

        Sums of the rows tell when the matrix was changed in place.
        """
        rows = X if unlabelled is None else stacked_rows(X, unlabelled)
        return (
            self.source is source
            and np.array_equal(self.row_sums, row_sums(rows))
            and (self.design.scale is not None) == standardize
            and np.array_equal(self.y, y)
            and np.array_equal(self.weights, weights)
            and np.array_equal(self.p, p)
            and _same_groups(self.groups, groups)
            and same_gaps(self.gaps, gaps[0])
            and same_gaps(self.unlabelled_gaps, gaps[1])
        )

    def scaled(self, rules: tuple[CompiledRule, ...]) -> tuple[ScaledRule, ...]:
        """Rules in the design's units."""
        return tuple(rule.scaled(self.design.mean, self.design.scale) for rule in rules)

    def patients(self, rules: tuple[CompiledRule, ...]) -> Witnesses:
        """The training rows as rules see them; labels that rules gave do not speak for them."""
        n = self.n_labelled
        gaps = None if self.gaps is None else self.gaps.take(slice(n))
        if self.unlabelled is not None and (gaps or self.unlabelled_gaps):
            parts = [(gaps, n), (self.unlabelled_gaps, self.unlabelled.shape[0])]
            gaps = Gaps.stacked(parts)
        rows = (self.X[:n], self.y[:n], self.weights[:n], self.unlabelled)
        return Witnesses.of(rules, *rows, gaps=gaps)

    def problem(
        self,
        rules: tuple[RuleBlock, ...],
        lambda1: float,
        lambda2: float,
        scope: Any,
        prices: FeaturePrices | None = None,
    ) -> Problem:
        """The optimisation problem on these data."""
        own = prices or FeaturePrices()
        return Problem(self.design, self.y, self.p, lambda1, lambda2, rules, scope, own)

    def to_user_units(
        self, features: np.ndarray, w: FloatArray, b: float
    ) -> tuple[FloatArray, float]:
        """Weights and intercept for x instead of z = (x - mean) / scale."""
        mean, scale = self.design.mean, self.design.scale
        if scale is not None:
            w = w / scale[features]
        if mean is not None:
            b -= float(mean[features] @ w)
        return w, b


def _same_groups(one: IntArray | None, other: IntArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def stacked_rows(X: Any, others: Any) -> Any:
    """Rows of two arrays or sparse matrices under one another."""
    if issparse(X) or issparse(others):
        return sparse.vstack([X, others], format="csr")
    return np.vstack([X, others])


def row_sums(X: Any) -> FloatArray:
    """The sum of each row of an array or sparse matrix."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def shares(
    y: FloatArray, weights: FloatArray, class_weight: str | dict[float, float] | None
) -> FloatArray:
    """Sample weights that sum to one; "balanced" gives each class of y the same share."""
    p = weights.astype(float)
    classes = np.unique(y)
    if class_weight == "balanced":
        for label in classes:
            p[y == label] *= 1.0 / (classes.size * p[y == label].sum())
    elif isinstance(class_weight, dict):
        for label in classes:
            p[y == label] *= class_weight[float(label)]
    return p / p.sum()
