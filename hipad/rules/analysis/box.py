"""Linear programmes over a box of plausible values: min c'x with A x <= d and lo <= x <= hi.

A column that A does not touch goes to its better end. One row is a fractional knapsack: start at
the best corner, then give way where a unit of the row costs least. Only what is left goes to
HiGHS, scaled so that the box is the unit cube.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from hipad.arrays import FloatArray, IntArray
from hipad.errors import HipadError
from hipad.rules.compiling.names import FeatureIndex

TOLERANCE = 1e-9  # relative: by how much a row may be missed through rounding


@dataclass(frozen=True, eq=False)
class Patient:
    """Values of the features that matter; all other features are free.

    >>> patient = Patient(np.array([0, 2]), np.array([148.0, 33.6]))
    >>> patient.named(FeatureIndex(["Glucose", "Age", "BMI"]))
    {'Glucose': 148.0, 'BMI': 33.6}
    """

    columns: IntArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.columns)

    def named(self, features: FeatureIndex | None = None) -> dict[str, float]:
        """Feature name to value."""
        name = features.name if features is not None else "x{}".format
        return {name(int(j)): float(v) for j, v in zip(self.columns, self.values, strict=True)}

    def filled(self, others: FloatArray) -> FloatArray:
        """A whole row: these values, and `others` for the free features."""
        row = np.array(others, dtype=np.float64)
        row[self.columns] = self.values
        return row

    @classmethod
    def of(cls, values: Mapping[int, float]) -> Patient:
        """From column number to value."""
        return cls(np.array(list(values), np.int64), np.array(list(values.values()), np.float64))


@dataclass(frozen=True)
class Box:
    """Lower and upper ends of plausible values, one per column, or one for all."""

    lo: FloatArray | float
    hi: FloatArray | float

    @classmethod
    def observed(cls, X: Any) -> Box:
        """The range of each column of the data, missing values aside."""
        if sparse.issparse(X):
            ends = [np.asarray(e.toarray()).ravel() for e in (X.min(axis=0), X.max(axis=0))]
            return cls(ends[0].astype(np.float64), ends[1].astype(np.float64))
        X = np.asarray(X)
        return cls(np.fmin.reduce(X).astype(np.float64), np.fmax.reduce(X).astype(np.float64))

    def ends(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """The ends of some columns."""
        lo, hi = (
            np.full(len(columns), float(end)) if np.ndim(end) == 0 else np.asarray(end)[columns]
            for end in (self.lo, self.hi)
        )
        if not (lo <= hi).all():
            raise HipadError("the box needs lo <= hi for every feature: exchange the ends")
        return lo.astype(np.float64), hi.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Minimum:
    """The least value and where it is attained; x is None if nothing is feasible or bounded."""

    value: float
    x: FloatArray | None

    @property
    def feasible(self) -> bool:
        """True if some point of the box meets every row."""
        return self.value < np.inf


INFEASIBLE = Minimum(np.inf, None)
UNBOUNDED = Minimum(-np.inf, None)


def minimise(
    c: FloatArray, A: sparse.csr_array, d: FloatArray, lo: FloatArray, hi: FloatArray
) -> Minimum:
    """The least c'x over the rows and the box."""
    empty = np.diff(A.indptr) == 0
    if (d[empty] < 0).any():
        return INFEASIBLE
    A, d = A[np.flatnonzero(~empty)], d[~empty]
    touched = np.unique(A.indices)
    x = np.where(c > 0, lo, hi)
    x[c == 0] = np.clip(0.0, lo, hi)[c == 0]
    inner = _restricted(c[touched], A[:, touched], d, lo[touched], hi[touched])
    if inner.x is None:
        return inner
    x[touched] = inner.x
    return Minimum(float(c @ x), x) if np.isfinite(x[c != 0]).all() else UNBOUNDED


def _restricted(
    c: FloatArray, A: sparse.csr_array, d: FloatArray, lo: FloatArray, hi: FloatArray
) -> Minimum:
    if not A.shape[0]:
        return Minimum(0.0, np.empty(0))
    if A.shape[0] == 1 and np.isfinite(lo).all() and np.isfinite(hi).all():
        return knapsack(c, A.toarray()[0], float(d[0]), lo, hi)
    return linear_programme(c, A, d, lo, hi)


def knapsack(c: FloatArray, a: FloatArray, d: float, lo: FloatArray, hi: FloatArray) -> Minimum:
    """One row, in closed form."""
    x = np.where(np.where(c != 0, c, a) > 0, lo, hi)
    excess = float(a @ x) - d
    slack = TOLERANCE * (float(np.abs(a) @ np.maximum(np.abs(lo), np.abs(hi))) + abs(d))
    if excess > 0:
        gives = np.flatnonzero(c * a < 0)
        gives = gives[np.argsort(np.abs(c[gives] / a[gives]), kind="stable")]
        room = np.abs(a[gives]) * (hi[gives] - lo[gives])
        taken = np.minimum(room, np.maximum(excess - np.cumsum(room) + room, 0.0))
        x[gives] += -np.sign(a[gives]) * taken / np.abs(a[gives])
        x = np.clip(x, lo, hi)
        excess -= float(taken.sum())
    return INFEASIBLE if excess > slack else Minimum(float(c @ x), x)


def linear_programme(
    c: FloatArray, A: sparse.csr_array, d: FloatArray, lo: FloatArray, hi: FloatArray
) -> Minimum:
    """Several rows, by HiGHS, in units in which the box is the unit cube and rows are of size 1."""
    origin, width = _unit_cube(lo, hi)
    scaled = sparse.csr_array(A * width)
    bound = d - A @ origin
    size = np.maximum(abs(scaled).max(axis=1).toarray().ravel(), np.finfo(float).tiny)
    rows = sparse.csr_array(scaled / size[:, None])
    cost = c * width
    ends = np.column_stack([(lo - origin) / width, (hi - origin) / width])
    largest = np.abs(cost).max(initial=0.0) or 1.0
    answer = linprog(cost / largest, A_ub=rows, b_ub=bound / size, bounds=ends, method="highs")
    if answer.status == 3:
        return UNBOUNDED
    if answer.x is None:
        return INFEASIBLE
    x = np.clip(origin + width * answer.x, lo, hi)
    return Minimum(float(c @ x), x)


def _unit_cube(lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    finite = np.isfinite(lo) & np.isfinite(hi)
    origin = np.where(finite, lo, 0.0)
    width = np.where(finite & (hi > lo), np.where(finite, hi, 1.0) - origin, 1.0)
    return origin, width
