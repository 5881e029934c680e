"""What a fit needs of the data, made once and shared by all refits on them.

Labels become y in {-1, +1}, weights become shares p that sum to one, columns are scaled
implicitly, and the Gram matrix stays with the design.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hipad.data.moments import canonical_csc
from hipad.designs import Design, make_design
from hipad.designs.base import FloatArray
from hipad.designs.scaling import standardisation
from hipad.rules import Box, CompiledRule, ScaledRule, Witnesses
from hipad.solver import FeaturePrices, Problem, RuleBlock


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

    @classmethod
    def of(
        cls,
        X: Any,
        y: FloatArray,
        weights: FloatArray,
        p: FloatArray,
        standardize: bool,
        source: Any = None,
    ) -> TrainingData:
        """Scale the columns to weighted mean 0 and deviation 1; `source` is what X came from."""
        sums = row_sums(X)
        if issparse(X):
            X = canonical_csc(X)
        mean, scale = standardisation(X, weights) if standardize else (None, None)
        return cls(X, y, weights, p, make_design(X, mean=mean, scale=scale), source, sums)

    @property
    def total(self) -> float:
        """Number of patients."""
        return float(self.weights.sum())

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
        return digest.hexdigest()

    def same_as(
        self,
        source: Any,
        X: Any,
        y: FloatArray,
        weights: FloatArray,
        p: FloatArray,
        standardize: bool,
    ) -> bool:
        """Whether a refit may reuse this: the same matrix object, labels, weights and scaling.

        Sums of the rows tell when the matrix was changed in place.
        """
        return (
            self.source is source
            and np.array_equal(self.row_sums, row_sums(X))
            and (self.design.scale is not None) == standardize
            and np.array_equal(self.y, y)
            and np.array_equal(self.weights, weights)
            and np.array_equal(self.p, p)
        )

    def scaled(self, rules: tuple[CompiledRule, ...]) -> tuple[ScaledRule, ...]:
        """Rules in the design's units."""
        return tuple(rule.scaled(self.design.mean, self.design.scale) for rule in rules)

    def patients(self, rules: tuple[CompiledRule, ...]) -> Witnesses:
        """The training rows as rules see them."""
        return Witnesses.of(rules, self.X, self.y, self.weights)

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


def row_sums(X: Any) -> FloatArray:
    """The sum of each row of an array or sparse matrix."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def shares(
    y: FloatArray, weights: FloatArray, class_weight: str | dict[float, float] | None
) -> FloatArray:
    """Sample weights that sum to one; "balanced" gives each class one half."""
    p = weights.astype(float)
    if class_weight == "balanced":
        for sign in (-1.0, 1.0):
            p[y == sign] *= 0.5 / p[y == sign].sum()
    elif isinstance(class_weight, dict):
        p = p * np.where(y > 0, class_weight[1.0], class_weight[-1.0])
    return p / p.sum()
