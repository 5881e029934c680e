"""Points of B x <= d, with or without a box: the shortest, and any.

Both are exact and need no linear programme while the matrix is small: Lawson and Hanson's
least-distance programme turns them into one nonnegative least-squares problem. Inside a box its
answer cannot be in doubt, since no point of the box is far away. Every point is tried on the rows
themselves before it is given out, so that no rounding makes one where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import nnls

from hipad.arrays import FloatArray
from hipad.rules.analysis.box import ROUNDING, knapsack, minimise

_TINY = 60  # rows and sides of the box up to which least squares is faster than looking around
_SMALL = 200  # and up to which it is faster than HiGHS
_NEAR = 1e-7  # of its reach: a row that a point may have missed through rounding


def least_norm(B: sparse.csr_array, d: FloatArray) -> FloatArray | None:
    """The shortest z with B z <= d, or None if there is none.

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
    """The shortest z with B z <= d, for rows of length about one.

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
    """A point of the box lo <= x <= hi with A x <= d, as near to the middle as is cheap, or None.

    >>> some_point(np.array([[-1.0, -1.0]]), np.array([-3.0]), np.zeros(2), np.full(2, 2.0))
    array([1.5, 1.5])
    """
    if (lo > hi).any():
        return None
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    size = abs(A)
    room = ROUNDING * (size @ (np.abs(middle) + half) + np.abs(d))
    excess = A @ middle - d
    if (excess <= room).all():
        return middle
    reach = size @ half
    if (excess - reach > room).any():
        return None
    if len(d) == 1:
        row = A.toarray()[0] if sparse.issparse(A) else A[0]
        return middle - np.sign(row) * half * (excess[0] / reach[0])
    dense = A.toarray() if sparse.issparse(A) else A
    if len(d) == 2:
        x = _meeting_of_two(dense, d + room / 2, lo, hi)
    else:
        x = _by_search(dense, d, room, lo, hi)
    return None if x is None else _tried(dense, d, room, lo, hi, x)


def _by_search(
    A: FloatArray, d: FloatArray, room: FloatArray, lo: FloatArray, hi: FloatArray
) -> FloatArray | None:
    """A point of the box that meets three rows or more, up to rounding, or None."""
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    excess = A @ middle - d
    sides = len(d) + 2 * len(lo)
    z = _projected(A * half, room / 2 - excess) if sides > _TINY else None
    if z is None and sides > _SMALL:
        return minimise(np.zeros(len(lo)), sparse.csr_array(A), d, lo, hi).x
    if z is None:
        z = _in_cube(A * half, room / 2 - excess)
    return None if z is None else np.clip(middle + half * z, lo, hi)


def _tried(
    A: FloatArray, d: FloatArray, room: FloatArray, lo: FloatArray, hi: FloatArray, x: FloatArray
) -> FloatArray | None:
    """The point, moved by what it misses rows through rounding; None if it still misses one."""
    half = (hi - lo) / 2
    reach = _NEAR * (abs(A) @ half)
    for _ in range(4):
        excess = A @ x - d
        if (excess <= room).all():
            return x
        if (excess > reach + room).any():
            return None
        close = excess > -reach
        free = (x > lo) & (x < hi)
        scaled = (A[close] * np.where(free, half, 0.0)) / np.maximum(reach[close], 1e-300)[:, None]
        wanted = -np.maximum(excess[close], 0.0) / np.maximum(reach[close], 1e-300)
        step = np.linalg.lstsq(scaled, wanted, rcond=None)[0]
        x = np.clip(x + half * np.where(free, step, 0.0), lo, hi)
    return None


def _meeting_of_two(A: Any, d: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray | None:
    """A point of the box that meets two rows, or None.

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
    """A z with B z <= d and |z_j| <= 1 by steps onto one row after another; None if not found."""
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
    """The shortest z with B z <= d and |z_j| <= 1, or None; rows of zeros must be met already."""
    norms = np.linalg.norm(B, axis=1)
    B, d, norms = B[norms > 0], d[norms > 0], norms[norms > 0]
    sides = np.eye(B.shape[1])
    rows = np.vstack([B / norms[:, None], sides, -sides])
    bounds = np.concatenate([d / norms, np.ones(2 * B.shape[1])])
    return _least_distance(rows, bounds, farthest=2 * np.sqrt(B.shape[1]))
