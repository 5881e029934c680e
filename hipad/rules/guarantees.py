"""How far a rule holds for a classifier (w, b): worst case, prototype and threshold.

The worst case is a linear programme over the box of plausible values; the prototype is the shortest
point that meets the premise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, nnls

from hipad.exceptions import HipadError
from hipad.rules.compiled_rule import on_columns
from hipad.rules.names import FeatureIndex
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# Linear programmes over a box of plausible values: min c'x with A x <= d and lo <= x <= hi.
#
# A column that A does not touch goes to its better end. One row is a fractional knapsack: start at
# the best corner, then give way where a unit of the row costs least. Only what is left goes to
# HiGHS, scaled so that the box is the unit cube.


ROUNDING = 32 * float(np.finfo(np.float64).eps)
"""By how much a row may be missed through rounding, relative to the parts that it adds up."""

FAR = 1e3  # stands for an end that is infinite, in units of the thresholds of its column
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class BoxPoint:
    """Values of the features that matter; all other features are free.

    >>> patient = BoxPoint(np.array([0, 2]), np.array([148.0, 33.6]))
    >>> patient.named(FeatureIndex(["Glucose", "Age", "BMI"]))
    {'Glucose': 148.0, 'BMI': 33.6}
    """

    columns: IntArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.columns)

    def named(self, features: FeatureIndex | None = None) -> dict[str, float]:
        """Return feature name to value."""
        name = features.name if features is not None else "x{}".format
        return {name(int(j)): float(v) for j, v in zip(self.columns, self.values, strict=True)}

    def filled(self, others: FloatArray) -> FloatArray:
        """Return a whole row: these values, and `others` for the free features."""
        row = np.array(others, dtype=np.float64)
        row[self.columns] = self.values
        return row

    @classmethod
    def of(cls, values: Mapping[int, float]) -> BoxPoint:
        """Return from column number to value."""
        return cls(np.array(list(values), np.int64), np.array(list(values.values()), np.float64))


@dataclass(frozen=True)
class Box:
    """Lower and upper ends of plausible values, one per column, or one for all."""

    lo: FloatArray | float
    hi: FloatArray | float

    @classmethod
    def observed(cls, X: Any) -> Box:
        """Return the range of each column of the data, missing values aside; without values
        no end.
        """
        if sparse.issparse(X):
            ends = [np.asarray(e.toarray()).ravel() for e in (X.min(axis=0), X.max(axis=0))]
            return cls(ends[0].astype(np.float64), ends[1].astype(np.float64))
        X = np.asarray(X)
        lo, hi = (each.reduce(X).astype(np.float64) for each in (np.fmin, np.fmax))
        return cls(np.where(np.isnan(lo), -np.inf, lo), np.where(np.isnan(hi), np.inf, hi))

    def ends(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends of some columns."""
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
    """Return the least c'x over the rows and the box."""
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
    """Return the minimum over a box and one row, in closed form."""
    x = np.where(np.where(c != 0, c, a) > 0, lo, hi)
    excess = float(a @ x) - d
    slack = ROUNDING * (float(np.abs(a) @ np.maximum(np.abs(lo), np.abs(hi))) + abs(d))
    if excess > 0:
        gives = np.flatnonzero(c * a < 0)
        gives = gives[np.argsort(np.abs(c[gives] / a[gives]), kind="stable")]
        span = np.abs(a[gives]) * (hi[gives] - lo[gives])
        taken = np.minimum(span, np.maximum(excess - np.cumsum(span) + span, 0.0))
        x[gives] += -np.sign(a[gives]) * taken / np.abs(a[gives])
        x = np.clip(x, lo, hi)
        excess -= float(taken.sum())
    return INFEASIBLE if excess > slack else Minimum(float(c @ x), x)


def linear_programme(
    c: FloatArray, A: sparse.csr_array, d: FloatArray, lo: FloatArray, hi: FloatArray
) -> Minimum:
    """Return the minimum over a box and several rows, by HiGHS.

    Its units are those in which the box is the unit cube and rows are of size 1.
    """
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
    """Return how large the numbers are that rows compare each column with; one where that is not
    said.

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
    """Return the ends of a box, those that are infinite far away in units of the columns'
    thresholds.
    """
    far = FAR * np.maximum(scales, np.where(np.isfinite(lo), np.abs(lo), 0.0))
    far = np.maximum(far, FAR * np.where(np.isfinite(hi), np.abs(hi), 0.0))
    return np.where(np.isneginf(lo), -far, lo), np.where(np.isposinf(hi), far, hi)


def _unit_cube(lo: FloatArray, hi: FloatArray, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    finite = np.isfinite(lo) & np.isfinite(hi)
    origin = np.where(finite, lo, 0.0)
    width = np.where(finite & (hi > lo), np.where(finite, hi, 1.0) - origin, scales)
    return origin, width


# --------------------------------------------------------------------------------------------------
# Points of B x <= d, with or without a box: the shortest, and any.
#
# Both are exact and need no linear programme while the matrix is small: Lawson and Hanson's
# least-distance programme turns them into one nonnegative least-squares problem. Inside a box its
# answer cannot be in doubt, since no point of the box is far away. Every point is tried on the rows
# themselves before it is given out, so that no rounding makes one where there is none.


_TINY = 60  # rows and sides of the box up to which least squares is faster than looking around
_SMALL = 200  # and up to which it is faster than HiGHS
_NEAR = 1e-7  # of its reach: a row that a point may have missed through rounding


def least_norm(B: sparse.csr_array, d: FloatArray) -> FloatArray | None:
    """Return the shortest z with B z <= d, or None if there is none.

    >>> least_norm(sparse.csr_array([[-1.0, -1.0]]), np.array([-2.0]))
    array([1., 1.])
    """
    row = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
    squares = np.bincount(row, B.data**2, B.shape[0])
    if (d[squares == 0] < 0).any():
        return None
    if len(np.unique(B.indices)) == B.nnz:  # rows without a common column solve one by one
        steps = np.minimum(d, 0.0) / np.where(squares > 0, squares, 1.0)
        return np.bincount(B.indices, B.data * steps[row], B.shape[1]).astype(np.float64)
    rows = np.flatnonzero(squares > 0)
    norms = np.sqrt(squares[rows])
    return _least_distance(B.toarray()[rows] / norms[:, None], d[rows] / norms)


def _least_distance(B: FloatArray, d: FloatArray, farthest: float = 1e5) -> FloatArray | None:
    """Return the shortest z with B z <= d, for rows of length about one.

    The residual r of min |E u - f|, u >= 0, with E = -(B' ; d') and f = (0, 1), gives
    z = -r_head / r_last with |r_last| = 1 / (1 + |z|^2), d being scaled to size one. It vanishes
    if no z will do, up to rounding: a z beyond `farthest` is taken for none.
    """
    size = np.abs(d).max(initial=0.0) or 1.0
    E = -np.vstack([B.T, d / size])
    f = np.zeros(len(E))
    f[-1] = 1.0
    u, _ = nnls(E, f, maxiter=30 * E.shape[1])
    residual = E @ u - f
    if -residual[-1] < 1 / (1 + farthest**2):
        return None
    return np.asarray(-residual[:-1] / residual[-1] * size)


def some_point(A: Any, d: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray | None:
    """Return a point of the box lo <= x <= hi with A x <= d, as near to the middle as is cheap, or
    None.

    >>> some_point(np.array([[-1.0, -1.0]]), np.array([-3.0]), np.zeros(2), np.full(2, 2.0))
    array([1.5, 1.5])
    """
    if (lo > hi).any():
        return None
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    size = abs(A)
    tolerance = ROUNDING * (size @ (np.abs(middle) + half) + np.abs(d))
    excess = A @ middle - d
    if (excess <= tolerance).all():
        return middle
    reach = size @ half
    if (excess - reach > tolerance).any():
        return None
    if len(d) == 1:
        row = A.toarray()[0] if sparse.issparse(A) else A[0]
        return middle - np.sign(row) * half * (excess[0] / reach[0])
    dense = A.toarray() if sparse.issparse(A) else A
    if len(d) == 2:
        x = _meeting_of_two(dense, d + tolerance / 2, lo, hi)
    else:
        x = _by_search(dense, d, tolerance, lo, hi)
    return None if x is None else _tried(dense, d, tolerance, lo, hi, x)


def _by_search(
    A: FloatArray, d: FloatArray, tolerance: FloatArray, lo: FloatArray, hi: FloatArray
) -> FloatArray | None:
    """Return a point of the box that meets three rows or more, up to rounding, or None."""
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    excess = A @ middle - d
    sides = len(d) + 2 * len(lo)
    z = _projected(A * half, tolerance / 2 - excess) if sides > _TINY else None
    if z is None and sides > _SMALL:
        return minimise(np.zeros(len(lo)), sparse.csr_array(A), d, lo, hi).x
    if z is None:
        z = _in_cube(A * half, tolerance / 2 - excess)
    return None if z is None else np.clip(middle + half * z, lo, hi)


def _tried(
    A: FloatArray,
    d: FloatArray,
    tolerance: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    x: FloatArray,
) -> FloatArray | None:
    """Return the point, moved by what it misses rows through rounding; None if it still
    misses one.
    """
    half = (hi - lo) / 2
    reach = _NEAR * (abs(A) @ half)
    for _ in range(4):
        excess = A @ x - d
        if (excess <= tolerance).all():
            return x
        if (excess > reach + tolerance).any():
            return None
        close = excess > -reach
        free = (x > lo) & (x < hi)
        scaled = (A[close] * np.where(free, half, 0.0)) / np.maximum(reach[close], 1e-300)[:, None]
        wanted = -np.maximum(excess[close], 0.0) / np.maximum(reach[close], 1e-300)
        step = np.linalg.lstsq(scaled, wanted, rcond=None)[0]
        x = np.clip(x + half * np.where(free, step, 0.0), lo, hi)
    return None


def _meeting_of_two(A: Any, d: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray | None:
    """Return a point of the box that meets two rows, or None.

    The least value of one row among the points that meet the other is a fractional knapsack. From
    the middle of the box one goes only as far towards that point as both rows ask for.
    """
    x = knapsack(A[0], A[1], float(d[1]), lo, hi).x
    if x is None or A[0] @ x > d[0]:
        return None
    middle = (lo + hi) / 2
    before, after = A @ middle - d, A @ x - d
    share = before[before > 0] / np.maximum(before - after, before)[before > 0]
    return np.asarray(middle + min(float(share.max(initial=0.0)), 1.0) * (x - middle))


def _projected(B: FloatArray, d: FloatArray, sweeps: int = 8) -> FloatArray | None:
    """Return a z with B z <= d and |z_j| <= 1 by steps onto one row after another; None if not
    found.
    """
    squares = np.maximum(np.einsum("ij,ij->i", B, B), np.finfo(float).tiny)
    z = np.zeros(B.shape[1])
    for _ in range(sweeps):
        for row, bound, square in zip(B, d, squares, strict=True):
            excess = row @ z - bound
            if excess > 0:  # a little further than the row, lest the steps shrink for ever
                z = np.clip(z - 1.1 * excess / square * row, -1.0, 1.0)
        if (B @ z <= d).all():
            return z
    return None


def _in_cube(B: FloatArray, d: FloatArray) -> FloatArray | None:
    """Return the shortest z with B z <= d and |z_j| <= 1, or None; rows of zeros must be met
    already.
    """
    norms = np.linalg.norm(B, axis=1)
    B, d, norms = B[norms > 0], d[norms > 0], norms[norms > 0]
    sides = np.eye(B.shape[1])
    rows = np.vstack([B / norms[:, None], sides, -sides])
    bounds = np.concatenate([d / norms, np.ones(2 * B.shape[1])])
    return _least_distance(rows, bounds, farthest=2 * np.sqrt(B.shape[1]))


# --------------------------------------------------------------------------------------------------
# How far a rule holds for a classifier (w, b): worst case, prototype, threshold.
#
# For a rule B x <= d => s (w'x + b) >= 1 and the box lo <= x <= hi of plausible values:
#
#     worst      = min { s (w'x + b) : B x <= d, lo <= x <= hi }
#     prototype  = the patient of B x <= d nearest to the average one, in units of spread
#     threshold  = min { B_i x : s (w'x + b) <= margin, the other rows, the box }
#
# The threshold is a linear programme of the same kind with objective and row exchanged: for any
# bound d_i below it, every patient of the region is past the margin.


Ends = FloatArray | float
NEARLY = 1e-9  # of the reach of a row


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The least s (w'x + b) over the region, and the patient that attains it.

    `value` is +inf if nobody in the box meets the premise, -inf if the box has no end.
    """

    value: float
    patient: BoxPoint
    feasible: bool

    @property
    def holds(self) -> bool:
        """True if every patient of the region is classified as the rule says."""
        return self.value >= 0

    def sentence(self, features: FeatureIndex | None = None) -> str:
        """Return the guarantee in words."""
        if not self.feasible:
            return "nobody in the box meets the premise"
        if self.holds:
            margin = " with the full margin" if self.value >= 1 else ""
            return f"holds for every patient in the box{margin} (worst {self.value:.3g})"
        shown = [f"{k} = {v:.4g}" for k, v in list(self.patient.named(features).items())[:4]]
        more = ", ..." if len(self.patient) > 4 else ""
        return f"fails in the worst case ({self.value:.3g}), for {', '.join(shown)}{more}"


@dataclass(frozen=True, eq=False)
class Prototype:
    """The least unusual patient that meets the premise, and s (w'x + b) for them."""

    margin: float
    patient: BoxPoint
    feasible: bool


def worst_case(
    B: sparse.csr_array,
    d: FloatArray,
    sign: float,
    w: FloatArray,
    b: float,
    lo: Ends,
    hi: Ends,
) -> WorstCase:
    """Return the worst case of one rule over the box; only columns of w or B that are not zero
    matter.

    >>> B = sparse.csr_array([[-1.0, 0.0]])
    >>> worst_case(B, np.array([-2.0]), 1.0, np.array([1.0, 0.5]), -1.0, 0.0, 3.0).value
    1.0
    """
    w = np.asarray(w, dtype=np.float64)
    columns = np.union1d(np.flatnonzero(w), B.indices).astype(np.int64)
    found = minimise(sign * w[columns], on_columns(B, columns), d, *Box(lo, hi).ends(columns))
    value = found.value + sign * float(b)
    return WorstCase(value, _patient(found, columns), found.feasible)


def prototype(
    B: sparse.csr_array,
    d: FloatArray,
    sign: float,
    w: FloatArray,
    b: float,
    mean: FloatArray | None = None,
    scale: FloatArray | None = None,
) -> Prototype:
    """Return the patient of the region nearest to the average one; features not named stay average.

    `mean` and `scale` are the scaling z = (x - mean) / scale in which nearness is measured, None
    if x is already in such units.

    >>> B = sparse.csr_array([[-1.0, -1.0]])
    >>> found = prototype(B, np.array([-2.0]), 1.0, np.array([3.0, 0.0]), -1.0)
    >>> found.patient.values, found.margin
    (array([1., 1.]), 2.0)
    """
    w = np.asarray(w, dtype=np.float64)
    columns = np.unique(B.indices).astype(np.int64)
    centre = np.zeros(len(columns)) if mean is None else np.asarray(mean)[columns]
    spread = np.ones(len(columns)) if scale is None else np.asarray(scale)[columns]
    named = on_columns(B, columns)
    z = least_norm(sparse.csr_array(named * spread), d - named @ centre)
    if z is None:
        return Prototype(np.inf, BoxPoint.of({}), False)
    average = float(b) + (0.0 if mean is None else float(w @ np.asarray(mean, dtype=np.float64)))
    margin = sign * (average + float(w[columns] @ (spread * z)))
    return Prototype(margin, BoxPoint(columns, centre + spread * z), True)


def tightest_bound(
    B: sparse.csr_array,
    d: FloatArray,
    sign: float,
    w: FloatArray,
    b: float,
    lo: Ends,
    hi: Ends,
    *,
    row: int = 0,
    margin: float = 0.0,
) -> float | None:
    """Return the loosest d[row] for which every patient of the region is past the margin.

    +inf if any bound would do, None if no bound that leaves somebody in the region would.

    >>> B, d, w = sparse.csr_array([[-1.0, 0.0]]), np.array([-2.0]), np.array([1.0, 0.5])
    >>> tightest_bound(B, d, 1.0, w, -2.5, 0.0, 3.0)  # holds from x0 >= 2.5 on
    -2.5
    """
    w = np.asarray(w, dtype=np.float64)
    columns = np.union1d(np.flatnonzero(w), B.indices).astype(np.int64)
    ends = Box(lo, hi).ends(columns)
    named = on_columns(B, columns)
    others = np.flatnonzero(np.arange(B.shape[0]) != row)
    goal = named[[row]].toarray()[0]
    nearest = minimise(goal, named[others], d[others], *ends)
    wrong = sparse.vstack([named[others], sparse.csr_array(sign * w[columns][None, :])], "csr")
    failing = minimise(goal, wrong, np.append(d[others], margin - sign * float(b)), *ends)
    if not failing.feasible:
        return np.inf
    gap = failing.value - nearest.value
    if not np.isfinite(gap) or gap <= _least_gap(goal, *ends):
        return None
    return failing.value


def _least_gap(goal: FloatArray, lo: FloatArray, hi: FloatArray) -> float:
    """Return what two values of a row must differ by: a little of its reach in the box, or
    rounding.
    """
    ends = np.array([lo, hi])[:, goal != 0]
    size = np.abs(goal[goal != 0])
    reach = float(size @ (ends[1] - ends[0]))
    largest = np.where(np.isfinite(ends), np.abs(ends), 0.0).max(axis=0)
    return max(NEARLY * reach if np.isfinite(reach) else 0.0, ROUNDING * float(size @ largest))


def _patient(found: Minimum, columns: IntArray) -> BoxPoint:
    return BoxPoint.of({}) if found.x is None else BoxPoint(columns, found.x)
