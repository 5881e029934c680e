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
from hipad.rules.compiling.naming.names import FeatureIndex

ROUNDING = 32 * float(np.finfo(np.float64).eps)
"""By how much a row may be missed through rounding, relative to the parts that it adds up."""

FAR = 1e3  # stands for an end that is infinite, in units of the thresholds of its column
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


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
        """The range of each column of the data, missing values aside; without values no end."""
        if sparse.issparse(X):
            ends = [np.asarray(e.toarray()).ravel() for e in (X.min(axis=0), X.max(axis=0))]
            return cls(ends[0].astype(np.float64), ends[1].astype(np.float64))
        X = np.asarray(X)
        lo, hi = (each.reduce(X).astype(np.float64) for each in (np.fmin, np.fmax))
        return cls(np.where(np.isnan(lo), -np.inf, lo), np.where(np.isnan(hi), np.inf, hi))

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
    slack = ROUNDING * (float(np.abs(a) @ np.maximum(np.abs(lo), np.abs(hi))) + abs(d))
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
    origin, width = _unit_cube(lo, hi, column_scales(A, d))
    scaled = sparse.csr_array(A * width)
    bound = d - A @ origin
    size = abs(scaled).max(axis=1).toarray().ravel()
    size[size < np.finfo(float).tiny] = 1.0  # an empty row keeps its bound, which must stay finite
    rows = sparse.csr_array(scaled / size[:, None])
    cost = c * width
    ends = np.column_stack([(lo - origin) / width, (hi - origin) / width])
    largest = np.abs(cost).max(initial=0.0) or 1.0
    answer = linprog(cost / largest, rows, bound / size, bounds=ends, options=_EXACT)
    if answer.status == 3:
        return UNBOUNDED
    if answer.x is None:
        return INFEASIBLE
    x = np.clip(origin + width * answer.x, lo, hi)
    return Minimum(float(c @ x), x)


def column_scales(A: sparse.csr_array, d: FloatArray) -> FloatArray:
    """How large the numbers are that rows compare each column with; one where that is not said.

    >>> column_scales(sparse.csr_array([[-2.0, 0.0], [1.0, -1.0]]), np.array([-1e-9, 0.0]))
    array([5.e-10, 5.e-10])
    """
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    weight = np.abs(A.data)
    scales = np.zeros(A.shape[1])
    for _ in range(3):  # rows such as a >= b hand the scale of one column on to another
        parts = weight * scales[A.indices]
        largest = np.abs(d)
        np.maximum.at(largest, row, parts)
        np.maximum.at(scales, A.indices, largest[row] / weight)
    return np.where(scales > 0, scales, 1.0)


def with_ends(lo: FloatArray, hi: FloatArray, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ends of a box, those that are infinite far away in units of the columns' thresholds."""
    far = FAR * np.maximum(scales, np.where(np.isfinite(lo), np.abs(lo), 0.0))
    far = np.maximum(far, FAR * np.where(np.isfinite(hi), np.abs(hi), 0.0))
    return np.where(np.isneginf(lo), -far, lo), np.where(np.isposinf(hi), far, hi)


def _unit_cube(lo: FloatArray, hi: FloatArray, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    finite = np.isfinite(lo) & np.isfinite(hi)
    origin = np.where(finite, lo, 0.0)
    width = np.where(finite & (hi > lo), np.where(finite, hi, 1.0) - origin, scales)
    return origin, width
