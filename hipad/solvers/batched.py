"""Many elastic-net SVMs solved side by side by a batched interior point, for folds and paths."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hipad.designs import Design
from hipad.solvers.exact import WarmStart
from hipad.solvers.interior_point import (
    WARM,
    ComplementaryPair,
    cholesky,
    solve_cholesky,
    typical_multiplier,
)
from hipad.solvers.losses import RowLosses
from hipad.solvers.problem import Problem, SignPenalties
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# Columns of a design, each row with the sign of its label: read once, kept while there is room.


COLUMN_CACHE_SIZE = 2**24  # numbers
FIRST = 64  # columns that there is room for at once


class SignedColumns:
    """The problems of a path ask for the same columns again and again, and for few of all."""

    def __init__(self, design: Design, y: FloatArray) -> None:
        self._design, self.y = design, y
        self._place = np.full(design.shape[1], -1)
        self._kept = np.empty((0, y.size))
        self._count = 0

    def some(self, names: np.ndarray) -> FloatArray:
        """Some columns, one row for each: of all samples."""
        return self._kept[self._place[names]] if self._has(names) else self._read(names)

    def dot(self, names: np.ndarray, w: FloatArray) -> FloatArray:
        """The sum of some columns, each by its weight; several columns of weights, several sums."""
        return self.some(names).T @ w

    def places(self, names: np.ndarray) -> np.ndarray | None:
        """The rows of `kept` that hold these columns; None where there is no room for them."""
        return self._place[names] if self._has(names) else None

    @property
    def kept(self) -> FloatArray:
        """The columns that are kept, one row for each; each stays in its row."""
        return self._kept[: self._count]

    def _has(self, names: np.ndarray) -> bool:
        """Whether these columns are kept, which they are from now on if there is room."""
        fresh = names[self._place[names] < 0]
        if (self._count + fresh.size) * self.y.size > COLUMN_CACHE_SIZE:
            return False
        if fresh.size:
            self._keep(fresh)
        return True

    def _keep(self, fresh: np.ndarray) -> None:
        end = self._count + fresh.size
        if end > len(self._kept):
            larger = np.empty((max(FIRST, 2 * end), self.y.size))
            larger[: self._count] = self._kept[: self._count]
            self._kept = larger
        self._kept[self._count : end] = self._read(fresh)
        self._place[fresh] = np.arange(self._count, end)
        self._count = end

    def _read(self, names: np.ndarray) -> FloatArray:
        return np.ascontiguousarray((self._design.columns(names) * self.y[:, None]).T)


# --------------------------------------------------------------------------------------------------
# The features that may be in while problems go to their optimum, and which of them are in.


FEW_ACTIVE = 0.25  # share of the numbers in all columns


@dataclass(frozen=True)
class RestrictedProblem:
    """Features that may be in: their design, names, quadratic coefficients and coupling to u.

    `limits` are the penalties of their weights; these and `ridge` have one column per problem, each
    with its own scale of a feature. `fixed`, one column per problem too, says which may be in at
    all; lambda1 is then left out, and only a known sign holds a feature at zero.
    """

    design: Design
    columns: SignedColumns
    names: np.ndarray
    ridge: FloatArray
    C: FloatArray
    limits: SignPenalties
    fixed: np.ndarray | None = None

    def signed(self, at: np.ndarray) -> FloatArray:
        """The columns of some of the features, one row for each, with the signs of the labels."""
        return self.columns.some(self.names[at])

    def part(self, problems: np.ndarray) -> RestrictedProblem:
        """The same for some of the problems."""
        up, down = (np.take(bound, problems, axis=1) for bound in self.limits)
        return replace(
            self,
            ridge=np.take(self.ridge, problems, axis=1),
            limits=SignPenalties(up, down),
            fixed=None if self.fixed is None else np.take(self.fixed, problems, axis=1),
        )

    def margins(self, w: FloatArray) -> FloatArray:
        """y Z w of all samples: by the columns that are in, or by all where most are."""
        kept = np.flatnonzero(w.any(axis=1))
        if kept.size * self.columns.y.size < FEW_ACTIVE * self.design.cost:
            return self.columns.dot(self.names[kept], w[kept])
        return self.columns.y[:, None] * self.design.dot(w)

    def weights(self, gradient: FloatArray) -> FloatArray:
        """The weights that go with a gradient."""
        weights = self.limits.shrink(gradient)
        weights *= self._inverse
        return weights

    def curved(self, w: FloatArray) -> tuple[np.ndarray, FloatArray]:
        """Features that are in in some problem, and 1/ridge where they are, else zero."""
        inside = w != 0
        if self._free is not None:
            inside |= self._free
        kept = np.flatnonzero(inside.any(axis=1))
        return kept, inside[kept] * self._inverse[kept]

    @property
    def is_linear(self) -> bool:
        """Whether the features are known and pay nothing: weights are linear in the gradient."""
        return self.fixed is not None and not any(bound.any() for bound in self.limits)

    def all_curved(self) -> tuple[np.ndarray, FloatArray]:
        """The same as `curved`, were every feature in that may be."""
        kept = np.flatnonzero(self._inverse.any(axis=1))
        return kept, self._inverse[kept]

    @cached_property
    def _inverse(self) -> FloatArray:
        """1/ridge; zero where a feature may not be in."""
        return 1.0 / self.ridge if self.fixed is None else self.fixed / self.ridge

    @cached_property
    def _free(self) -> np.ndarray | None:
        """Where any weight costs nothing; None where that is nowhere."""
        free = self.limits.unpenalized
        return free if free.any() else None


# --------------------------------------------------------------------------------------------------
# Where many problems stand on their way, and what each of them lacks; one column a problem.


class BatchIterate(NamedTuple):
    """Where all problems stand: vectors x >= 0 with multipliers z >= 0, and the intercepts.

    One below the other stand alpha with s, t with xi, and u with pi: their products go to zero.
    """

    x: FloatArray
    z: FloatArray
    b: FloatArray

    def moved(self, by: BatchIterate, step: FloatArray) -> BatchIterate:
        """A step further in this direction, of another length in each problem."""
        return BatchIterate(self.x + step * by.x, self.z + step * by.z, self.b + step * by.b)

    def max_step(self, by: BatchIterate) -> FloatArray:
        """The longest step of each problem that keeps all numbers non-negative."""
        return ComplementaryPair(self.x, self.z).max_step(ComplementaryPair(by.x, by.z))

    def part(self, problems: np.ndarray) -> BatchIterate:
        """Where some of the problems stand."""
        return BatchIterate(self.x[:, problems], self.z[:, problems], self.b[problems])

    def with_part(self, problems: np.ndarray, part: BatchIterate) -> BatchIterate:
        """The same, but some of the problems stand elsewhere."""
        x, z, b = self.x.copy(), self.z.copy(), self.b.copy()
        x[:, problems], z[:, problems], b[problems] = part
        return BatchIterate(x, z, b)


class Residuals(NamedTuple):
    """What is missing to feasibility: margins of rows, gradient in u, balance, duals."""

    rows: FloatArray
    u: FloatArray
    b: FloatArray
    t: FloatArray


class Step(NamedTuple):
    """Newton steps: alpha, intercept and multipliers."""

    alpha: FloatArray
    b: FloatArray
    u: FloatArray


# --------------------------------------------------------------------------------------------------
# The curvature of one problem's dual over the features that are in, and its Newton system.
#
# With h = 1/ridge on the features that are in and 0 elsewhere, a step (dalpha, db, du) solves
#
#     (Z h Z' + D) dalpha + V du + labels db  = rows      V = [ -Z h C' ; -thresholds ]
#                -V'dalpha + inner du         = u         inner = curvature - C h C' + pi/u
#          -labels'dalpha                     = b
#
# Z h Z' is kept from step to step: only features that enter or leave are multiplied. While few
# features are in, no matrix of the size of the rows is formed, but one of the size of the features.


FEW_CHANGED = 0.5  # share of the rows below which the features that are in are few
LITTLE = 5_000_000  # multiplications that take less time than to look for fewer


class Curvature:
    """One problem: its training rows, and Z h Z' over the features that were last in."""

    _half: FloatArray | None  # U / sqrt(D) while few features are in

    def __init__(self, problem: Problem, rows: np.ndarray) -> None:
        self.rows, self.stack = rows, problem.stack
        self.labels = np.r_[problem.y[rows], problem.stack.of_b]
        self._names = np.zeros(0, dtype=int)
        self._h = np.zeros(0)
        self._gram: FloatArray | None = None

    def factorize(
        self,
        restricted: RestrictedProblem,
        kept: np.ndarray,
        h: FloatArray,
        D: FloatArray,
        theta: FloatArray,
        gram: FloatArray | None = None,
    ) -> None:
        """Prepare `solve` for features that are in, their 1/ridge, and the diagonals.

        `gram` is Z h Z' of these features, where it is known.
        """
        C = restricted.C[:, kept]
        named = np.flatnonzero(C.any(axis=0))
        hC = h[named] * C[:, named]
        inner = self.stack.curvature - hC @ C[:, named].T + np.diag(theta)
        self._inner = cholesky(inner.copy())
        self._V = np.vstack([-self._seen(restricted, kept[named]).T @ hC.T, -self.stack.thresholds])
        if kept.size < FEW_CHANGED * self.rows.size:
            self._factorize_features(self._seen(restricted, kept).T, 1.0 / h, inner, D)
        else:
            self._factorize_rows(D, self._updated(restricted, kept, h) if gram is None else gram)
        self._border = self._apply(self.labels)
        self._pivot = float(self.labels @ self._border)

    def solve(self, rows: FloatArray, b: float, u: FloatArray) -> Step:
        """The step for these residuals."""
        first = self._apply(rows - self._V @ solve_cholesky(self._inner, u))
        db = (self.labels @ first + b) / self._pivot
        alpha = first - db * self._border
        return Step(alpha, db, solve_cholesky(self._inner, u + self._V.T @ alpha))

    def _factorize_features(
        self, Z: FloatArray, ridge: FloatArray, inner: FloatArray, D: FloatArray
    ) -> None:
        """D + U Q U' is inverted by a matrix of the size of Q = diag(1/ridge, inner^-1)."""
        n, k = Z.shape
        U = np.zeros((D.size, k + inner.shape[0]))
        U[:n, :k], U[:, k:] = Z, self._V
        self._root = 1.0 / np.sqrt(D)
        self._half = self._root[:, None] * U
        small = self._half.T @ self._half  # symmetric: half of the work
        small[np.arange(k), np.arange(k)] += ridge
        small[k:, k:] += inner
        self._factor = cholesky(small)

    def _factorize_rows(self, D: FloatArray, gram: FloatArray) -> None:
        n = self.rows.size
        M = np.zeros((D.size, D.size))
        if self._V.size:
            M += self._V @ solve_cholesky(self._inner, self._V.T)
        M[:n, :n] += gram
        M[np.diag_indices_from(M)] += D
        self._half, self._factor = None, cholesky(M)

    def _apply(self, r: FloatArray) -> FloatArray:
        """The inverse of Z h Z' + V inner^-1 V' + D, times r."""
        if self._half is None:
            return solve_cholesky(self._factor, r)
        r = self._root * r
        return self._root * (r - self._half @ solve_cholesky(self._factor, self._half.T @ r))

    def _updated(
        self, restricted: RestrictedProblem, kept: np.ndarray, h: FloatArray
    ) -> FloatArray:
        """Z h Z', from what it was before where that is less work."""
        if kept.size * self.rows.size**2 < LITTLE:
            self._gram = None
            return self._product(restricted, kept, h)
        names = restricted.names[kept]
        _, old, new = np.intersect1d(self._names, names, assume_unique=True, return_indices=True)
        left = np.delete(np.arange(self._names.size), old)
        came = np.delete(np.arange(names.size), new)
        gone = np.searchsorted(restricted.names, self._names[left])
        known = np.array_equal(restricted.names[gone % restricted.names.size], self._names[left])
        same = known and np.array_equal(self._h[old], h[new])
        if self._gram is not None and same and left.size + came.size < names.size:
            joined = self._product(restricted, kept[came], h[came])
            self._gram = self._gram + joined - self._product(restricted, gone, self._h[left])
        else:
            self._gram = self._product(restricted, kept, h)
        self._names, self._h = names, h
        return self._gram

    def _product(self, restricted: RestrictedProblem, at: np.ndarray, h: FloatArray) -> FloatArray:
        Z = self._seen(restricted, at)
        Z *= np.sqrt(h)[:, None]
        return Z.T @ Z

    def _seen(self, restricted: RestrictedProblem, at: np.ndarray) -> FloatArray:
        return restricted.signed(at)[:, self.rows]


# --------------------------------------------------------------------------------------------------
# The Newton systems of many small problems, solved as one stack of matrices.
#
# Python's own time would be most of it, were small problems solved one by one (batched.py, which
# says what is solved). A row that a problem may not see has a system of its own: the number one.


GRAMS = 2**21  # numbers in all Gram matrices that are kept
LARGEST = 45  # rows or features: beyond, problems one by one are faster
ANEW = 0.7  # share of the features that are in: where more changed, all are multiplied anew
PRODUCTS = 2**20  # numbers in the columns that are multiplied at once
LEAST_DIAGONAL = 1e-13  # relative, added so that rounding leaves a matrix positive


class RowProblems(NamedTuple):
    """Problems whose features are known, seen from their rows alone: no weight is asked for.

    `kept` features are in with 1/ridge `h`, one column a problem; Z h Z', Z h C' and C h C' have
    one slice a problem.
    """

    kept: np.ndarray
    h: FloatArray
    gram: FloatArray
    cross: FloatArray
    inner: FloatArray

    def margins(self, alpha: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """y Z w of all samples and C w, at duals of samples and multipliers."""
        of_rows, of_rules = _times(self.gram, alpha.T), np.zeros((len(self.gram), 0))
        if u.size:
            of_rows = of_rows - _times(self.cross, u.T)
            of_rules = _times(np.swapaxes(self.cross, 1, 2), alpha.T) - _times(self.inner, u.T)
        return of_rows.T, of_rules.T


class StackedSystems:
    """The problems of `left`; arrays have one slice a problem, in that order."""

    _over: FloatArray | None

    def __init__(self, problem: Problem, seen: np.ndarray) -> None:
        self.stack, self._seen = problem.stack, seen
        self._labels = np.r_[problem.y, problem.stack.of_b]
        self._n, count = problem.n_samples, seen.shape[1]
        self._places = np.zeros(0, dtype=int)  # of the columns whose products are in the Gram
        self._h = np.zeros((0, count))  # matrices, and with which 1/ridge; by their place
        size = self._n if self._labels.size <= LARGEST or self._grams_size <= GRAMS else 0
        self._grams = np.zeros((count, size, size))
        self._known: FloatArray | None = None  # 1/ridge of all problems that the matrices have

    def part(self, problems: np.ndarray) -> StackedSystems:
        """The same for some of the problems."""
        part = copy(self)
        part._seen = self._seen[:, problems]
        part._h, part._grams, part._known = self._h[:, problems], self._grams[problems], None
        return part

    @property
    def _grams_size(self) -> int:
        return self._seen.shape[1] * self._n**2

    def known_gram(self, h: FloatArray, k: int) -> FloatArray | None:
        """The Gram matrix of a problem that has just this 1/ridge, if that is known."""
        rows = self._seen[: self._n, k]
        if h is not self._known:
            return None
        return self._grams[k] if rows.all() else self._grams[k][np.ix_(rows, rows)]

    def suits(self, features: int) -> bool:
        """Whether the systems of this many features are small."""
        return min(features + self.stack.n_rows, self._labels.size) <= LARGEST

    def factorize(
        self,
        restricted: RestrictedProblem,
        kept: np.ndarray,
        h: FloatArray,
        D: FloatArray,
        theta: FloatArray,
        left: np.ndarray,
    ) -> np.ndarray:
        """Prepare `solve`; which problems rounding lets go no further."""
        self._here = self._seen[:, left].T
        labels = self._labels * self._here
        whole, h = h, h[:, left]
        self._D = np.where(self._here, D[:, left].T, 1.0)
        K = self.stack.n_rows
        stuck = np.zeros(left.size, dtype=bool)
        inner = self._inner = np.zeros((left.size, K, K))
        self._V = np.zeros((left.size, self._labels.size, K))
        if K:
            named = np.flatnonzero(restricted.C[:, kept].any(axis=0))
            C = restricted.C[:, kept[named]]
            hC = h[named].T[:, None, :] * C
            inner = self.stack.curvature - hC @ C.T + _diagonals(theta[:, left].T)
            self._inner, stuck = _root(inner)
            self._V = self._coupling(restricted.signed(kept[named]).T, hC)
        if kept.size + K < labels.shape[1]:
            M = self._of_features(restricted.signed(kept).T, h.T, inner)
        else:
            if whole is not self._known:
                self._update(restricted, kept, h, left)
            M = self._of_rows(left)
        self._root, bad = _root(M)
        self._labels_here, self._border = labels, self._apply(labels)
        self._pivot = np.sum(labels * self._border, axis=1)
        return stuck | bad

    def solve(self, rows: FloatArray, b: FloatArray, u: FloatArray) -> Step:
        """The steps for these residuals; one row a problem."""
        rules = u.shape[1] > 0
        first = self._apply(rows - _times(self._V, _solved(self._inner, u)) if rules else rows)
        db = (np.sum(self._labels_here * first, axis=1) + b) / self._pivot
        alpha = first - db[:, None] * self._border
        if rules:
            u = _solved(self._inner, u + _times(np.swapaxes(self._V, 1, 2), alpha))
        return Step(alpha, db, u)

    def _coupling(self, Z: FloatArray, hC: FloatArray) -> FloatArray:
        of_samples = -(Z @ np.swapaxes(hC, 1, 2))
        of_rules = np.broadcast_to(-self.stack.thresholds, (len(hC), *self.stack.thresholds.shape))
        return np.concatenate([of_samples, of_rules], axis=1) * self._here[:, :, None]

    def row_problems(self, restricted: RestrictedProblem) -> RowProblems | None:
        """All problems as those of their rows, where these are few and the features known."""
        has_grams = self._grams.shape[1] == self._n  # a part of a larger batch has none
        if not has_grams or self._grams_size > GRAMS or not restricted.is_linear:
            return None
        kept, h = restricted.all_curved()
        self._update(restricted, kept, h, np.arange(self._seen.shape[1]))
        self._known = h
        named = np.flatnonzero(restricted.C[:, kept].any(axis=0))
        C, Z = restricted.C[:, kept[named]], restricted.signed(kept[named])
        hC = h[named].T[:, None, :] * C
        cross = np.swapaxes(hC @ Z, 1, 2) * self._seen[: self._n].T[:, :, None]
        return RowProblems(kept, h, self._grams, cross, hC @ C.T)

    def _of_rows(self, left: np.ndarray) -> FloatArray:
        """Z h Z' + V inner^-1 V' + D."""
        self._over = None
        size = self._labels.size
        M = np.zeros((left.size, size, size))
        M[:, : self._n, : self._n] = (
            self._grams if left.size == len(self._grams) else (self._grams[left])
        )
        np.einsum("kii->ki", M)[:] += self._D
        if self._V.shape[2]:
            half = self._inner @ np.swapaxes(self._V, 1, 2)
            M += np.swapaxes(half, 1, 2) @ half
        return M

    def _update(
        self, restricted: RestrictedProblem, kept: np.ndarray, h: FloatArray, left: np.ndarray
    ) -> None:
        """Bring the Gram matrices to the features that are in now: by those that came and went."""
        self._known = None
        places = restricted.columns.places(restricted.names[kept])
        if places is None:  # no room to remember columns
            self._places, self._h = np.zeros(0, dtype=int), self._h[:0]
            self._grams[left] = 0.0
            self._add(restricted.signed(kept), np.arange(kept.size), h, left)
            return
        columns = restricted.columns.kept
        if len(self._h) < len(columns):
            larger = np.zeros((2 * len(columns), self._h.shape[1]))
            larger[: len(self._h)] = self._h
            self._h = larger
        marks = np.zeros(len(self._h), dtype=bool)
        marks[self._places], marks[places] = True, False
        gone = np.flatnonzero(marks)
        before = self._h[np.ix_(places, left)], self._h[np.ix_(gone, left)]
        came = h - before[0]
        changed = np.count_nonzero(came) + np.count_nonzero(before[1])
        if changed > ANEW * np.count_nonzero(h):
            self._grams[left] = 0.0
            self._add(columns, places, h, left)
        elif changed:
            self._add(columns, np.r_[places, gone], np.vstack([came, -before[1]]), left)
        self._h[np.ix_(places, left)] = h
        self._h[np.ix_(gone, left)] = 0.0
        self._places = places if left.size == self._h.shape[1] else np.r_[places, gone]

    def _add(
        self, columns: FloatArray, at: np.ndarray, weights: FloatArray, left: np.ndarray
    ) -> None:
        """Add the products of some columns, of other ones to each matrix, by their weights."""
        problem, which = np.nonzero(weights.T)
        counts = np.bincount(problem, minlength=left.size)
        ends = np.cumsum(counts)
        start = 0
        while start < left.size:
            most = max(int(counts[start:].max()), 1)
            stop = min(left.size, start + max(PRODUCTS // (most * self._n), 1))
            own = slice(ends[start] - counts[start], ends[stop - 1])
            k = problem[own] - start
            place = np.arange(k.size) - (ends - counts)[problem[own]] + own.start
            some = np.zeros((stop - start, most), dtype=int)
            factor = np.zeros(some.shape)
            some[k, place] = at[which[own]]
            factor[k, place] = weights[which[own], problem[own]]
            Z = columns[some]
            Z *= self._seen[: self._n, left[start:stop]].T[:, None, :]
            self._grams[left[start:stop]] += np.swapaxes(Z * factor[:, :, None], 1, 2) @ Z
            start = stop

    def _of_features(self, Z: FloatArray, h: FloatArray, inner: FloatArray) -> FloatArray:
        """D + U Q U' is inverted by a matrix of the size of Q = diag(1/ridge, inner^-1)."""
        (n, k), count = Z.shape, len(h)
        U = np.zeros((count, self._D.shape[1], k + inner.shape[1]))
        U[:, :n, :k] = Z * self._here[:, :n, None] * (h > 0)[:, None, :]
        U[:, :, k:] = self._V
        self._over = U / self._D[:, :, None]
        M = np.swapaxes(U, 1, 2) @ self._over
        M[:, :k, :k] += _diagonals(1 / np.where(h > 0, h, 1.0))
        M[:, k:, k:] += inner
        return M

    def _apply(self, r: FloatArray) -> FloatArray:
        """The inverse of Z h Z' + V inner^-1 V' + D, times r."""
        if self._over is None:
            return _solved(self._root, r)
        inside = _solved(self._root, _times(np.swapaxes(self._over, 1, 2), r))
        return r / self._D - _times(self._over, inside)


def _root(M: FloatArray) -> tuple[FloatArray, np.ndarray]:
    """Inverses of Cholesky factors, and which matrices are not positive definite."""
    diagonal = np.einsum("kii->ki", M)
    diagonal += LEAST_DIAGONAL * np.abs(diagonal)
    try:
        return np.linalg.inv(np.linalg.cholesky(M)), np.zeros(len(M), dtype=bool)
    except np.linalg.LinAlgError:
        bad = np.array([not _is_positive(one) for one in M])
    M = np.where(bad[:, None, None], np.eye(M.shape[1]), M)
    return np.linalg.inv(np.linalg.cholesky(M)), bad


def _is_positive(M: FloatArray) -> bool:
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True


def _solved(root: FloatArray, r: FloatArray) -> FloatArray:
    return _times(np.swapaxes(root, 1, 2), _times(root, r))


def _times(M: FloatArray, x: FloatArray) -> FloatArray:
    product: FloatArray = np.matmul(M, x[:, :, None])[:, :, 0]
    return product


def _diagonals(values: FloatArray) -> FloatArray:
    """One diagonal matrix for each row."""
    return values[:, :, None] * np.eye(values.shape[1])


# --------------------------------------------------------------------------------------------------
# The Newton systems of all problems: small ones together, large ones each by itself.


class Systems:
    """All problems; `seen` says which rows (samples, then rules) count in each.

    `going` says which problems the last steps move.
    """

    def __init__(self, problem: Problem, seen: np.ndarray) -> None:
        self.problem, n = problem, problem.n_samples
        self._each = [Curvature(problem, np.flatnonzero(column[:n])) for column in seen.T]
        self._together = StackedSystems(problem, seen)
        self._begin(seen)

    def _begin(self, seen: np.ndarray) -> None:
        self.seen, self._joined, self._left = seen, False, np.zeros(0, dtype=int)
        self.going = np.zeros(seen.shape[1], dtype=bool)

    def row_problems(self, restricted: RestrictedProblem) -> RowProblems | None:
        """All problems as those of their rows, where that is less work."""
        return self._together.row_problems(restricted)

    def part(self, problems: np.ndarray) -> Systems:
        """The same for some of the problems."""
        part = copy(self)
        part._each = [self._each[k] for k in problems]
        part._together = self._together.part(problems)
        part._begin(self.seen[:, problems])
        return part

    def factorize(
        self,
        restricted: RestrictedProblem,
        kept: np.ndarray,
        h: FloatArray,
        D: FloatArray,
        theta: FloatArray,
        left: np.ndarray,
    ) -> np.ndarray:
        """Prepare the systems of `left`; those among them that can be solved.

        `h` is 1/ridge of the features `kept`; as D and theta it has one column a problem.
        """
        self._joined = self._together.suits(kept.size)
        if self._joined:
            stuck = self._together.factorize(restricted, kept, h, D, theta, left)
            solvable = left[~stuck]
            if stuck.any() and solvable.size:
                self._together.factorize(restricted, kept, h, D, theta, solvable)
        else:
            solvable = np.array(
                [k for k in left if self._succeeds(restricted, kept, h, D, theta, k)], int
            )
        self._left = solvable
        return solvable

    def solve(self, rows: FloatArray, b: FloatArray, u: FloatArray) -> Step:
        """Steps of the problems that could be prepared; others, and where rounding wins, stay."""
        step = Step(np.zeros_like(rows), np.zeros_like(b), np.zeros_like(u))
        if self._joined:
            here = np.where(self.seen, rows, 0.0)[:, self._left].T
            found = self._together.solve(here, b[self._left], u[:, self._left].T)
            for whole, part in zip(step, found, strict=True):
                whole.T[self._left] = part
        else:
            for k in self._left:
                seen = self.seen[:, k]
                step.alpha[seen, k], step.b[k], step.u[:, k] = self._each[k].solve(
                    rows[seen, k], float(b[k]), u[:, k]
                )
        self.going = np.zeros(b.size, dtype=bool)
        self.going[self._left] = True
        self.going &= np.isfinite(step.b)
        if self.going.all():
            return step
        return Step(*(np.where(self.going, part, 0.0) for part in step))

    def _succeeds(
        self,
        restricted: RestrictedProblem,
        kept: np.ndarray,
        h: FloatArray,
        D: FloatArray,
        theta: FloatArray,
        k: int,
    ) -> bool:
        own, rows = np.flatnonzero(h[:, k]), self.seen[:, k]
        gram = self._together.known_gram(h, k)
        try:
            self._each[k].factorize(restricted, kept[own], h[own, k], D[rows, k], theta[:, k], gram)
        except np.linalg.LinAlgError:
            return False
        return True


# --------------------------------------------------------------------------------------------------
# Many elastic-net SVMs side by side, as accurate as a choice between them needs.
#
# The problems share data and rules, and differ in the rows that they may see and in lambda2. The
# dual of each is a smooth function of few variables, one for each row and each multiplier u:
#
#     v = Z'alpha - C'u,    w = shrink(v, penalty) / ridge          the weights follow
#     margins = [ Z w + y b ; e b - d'u ],   margins + xi - s = 1,   alpha + t = upper
#
#     alpha s -> 0,   t xi -> 0,   u pi -> 0         predictor-corrector, as in interior_point.py
#
# The second derivative jumps where a feature enters or leaves; each step takes that of where it
# stands (a semismooth Newton method). So w needs no barrier of its own, and a step costs two
# products with the data, for all problems at once, and one factorisation for each (batched.py).
#
# Products go to zero in proportion to the weight of their row. So two equal rows go exactly the way
# of one row that counts twice, and no accuracy is needed to make a choice the same for both.
#
# Phase 2 is the same with the features fixed and without lambda1.


MOST_STEPS = 40
FEW_LEFT = 0.6  # share of the problems: where no more are left, they go on by themselves
STEP_FACTOR = 0.99  # shorter than that of a single problem: w jumps where a feature enters
RESIDUAL = 10.0  # tolerances: how much of a margin may be missing,
LEAST_RESIDUAL = 1e-6  # but no less
ROUNDING = 1e-4  # of the tolerance
SCALINGS = 4  # Newton steps towards the best multiple of a warm start
MOST_SCALED = 1e4  # or its inverse: the most that these steps scale

Active = tuple[np.ndarray, FloatArray]  # features that are in somewhere, and 1/ridge where they are


class BatchedInteriorPoint:
    """All problems; `problem` holds the rows and the rules of all.

    `weights_of_rows` has one column for each problem, zero for the rows that it may not see.
    `units`, one column per problem too, are the deviations of the features in the rows that it
    sees: where columns are standardised, a weight is penalised in units of what the problem knows.
    """

    _at: BatchIterate | None = None  # where the last steps ended
    margin = WARM  # how far inside its bounds a warm start begins
    steps = 0

    def __init__(
        self,
        problem: Problem,
        weights_of_rows: FloatArray,
        lambda2: FloatArray,
        units: FloatArray | None = None,
    ) -> None:
        stack, count = problem.stack, weights_of_rows.shape[1]
        self.problem, self.lambda2, self.units = problem, lambda2, units
        self.seen = np.vstack([weights_of_rows > 0, np.ones((stack.n_rules, count), dtype=bool)])
        sigma = np.repeat(stack.sigma[:, None], count, axis=1)
        self.weights_of_rows, self.upper, curvature = RowLosses.of(
            problem.loss, weights_of_rows, sigma
        )
        self.curvature = np.where(self.seen, curvature, 0.0)
        self.capped = self.seen & np.isfinite(self.upper)  # whose dual variable has an upper bound
        of_rules = self.weights_of_rows[problem.n_samples + stack.owner]
        capped = np.where(self.capped, self.weights_of_rows, 0.0)
        # what each product of a place counts: the weight of its row
        self.shares = np.vstack([self.weights_of_rows, capped, of_rules])
        self.labels = np.r_[problem.y, stack.of_b]
        self.alpha, self.b = 0.5 * self.weights_of_rows, np.zeros(count)
        self.u = np.full((stack.n_rows, count), typical_multiplier(self.problem.stack))
        self.columns = SignedColumns(problem.design, problem.y)
        self.systems = Systems(problem, self.seen)
        self.done = np.zeros(count, dtype=bool)  # which came to the end asked for

    def only(self, problems: np.ndarray) -> None:
        """Go on with some of the problems."""
        self.lambda2, self.b = self.lambda2[problems], self.b[problems]
        self.seen, self.weights_of_rows = self.seen[:, problems], self.weights_of_rows[:, problems]
        self.upper, self.curvature = self.upper[:, problems], self.curvature[:, problems]
        self.done = self.done[problems]
        self.capped, self.shares = self.capped[:, problems], self.shares[:, problems]
        self.alpha, self.u = self.alpha[:, problems], self.u[:, problems]
        self.units = None if self.units is None else self.units[:, problems]
        self._at = None if self._at is None else self._at.part(problems)
        self.systems = self.systems.part(problems)

    def restrict(self, names: np.ndarray, lambda1: float) -> RestrictedProblem:
        """Some features, in the order of their names."""
        problem = self.problem
        base = problem.with_parameters(lambda2=0.0).ridge(names)
        at, of = problem.rule_positions(names)
        C = np.zeros((problem.stack.n_rows, names.size))
        C[:, at] = problem.stack.coupling[:, of]
        everyone = names.size == problem.n_features
        design = problem.design if everyone else problem.design.only(names)
        units = self._units_of(names)
        ridge = base[:, None] + self.lambda2 * units**2
        return RestrictedProblem(design, self.columns, names, ridge, C, self.limits(names, lambda1))

    def limits(self, names: np.ndarray, lambda1: float) -> SignPenalties:
        """Penalties of the weights of some features, in the units of each problem."""
        units = self._units_of(names)
        up, down = self.problem.limits(names, lambda1)
        return SignPenalties(up[:, None] * units, down[:, None] * units)

    def _units_of(self, names: np.ndarray) -> FloatArray:
        return np.ones((names.size, self.b.size)) if self.units is None else self.units[names]

    def gradient_on_all(self) -> FloatArray:
        """How hard each feature is drawn away from zero, in its units; one column a problem."""
        problem, n = self.problem, self.problem.n_samples
        gradient = problem.design.correlate(problem.y[:, None] * self.alpha[:n])
        gradient[problem.stack.features] -= problem.stack.coupling.T @ self.u
        return gradient if self.units is None else gradient / self.units

    def solve(
        self,
        restricted: RestrictedProblem,
        tolerance: float | FloatArray,
        *,
        going_on: bool = False,
    ) -> FloatArray:
        """Go to the optimum from where the problems stand; their weights, one column each.

        The tolerance is one for all, or one for each problem; infinite: it stays where it is.
        `going_on`: with other features than before, but else as if it had not been interrupted.
        """
        assert self._at is not None or not going_on
        at = self._at if self._at is not None and going_on else self._warm(restricted)
        goal = np.broadcast_to(np.asarray(tolerance, dtype=float), self.b.shape)
        end, done = self._go(restricted, at, goal, MOST_STEPS)
        moved = np.isfinite(goal)
        self.done = np.where(moved, done, self.done)
        before, self._at = self._at, end
        if before is not None and not moved.all():
            self._at = before.with_part(np.flatnonzero(moved), end.part(np.flatnonzero(moved)))
        alpha, _, u = self._split(self._at.x)
        self.alpha = np.where(moved, np.where(self.seen, alpha, 0.0), self.alpha)
        self.u, self.b = np.where(moved, u, self.u), np.where(moved, self._at.b, self.b)
        return restricted.weights(self._gradient(restricted, self.alpha, self.u))

    def active_sets(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Multipliers and duals of a problem, on their bound where the other of a pair is more."""
        assert self._at is not None
        alpha, t, u = (part[:, k] for part in self._split(self._at.x))
        s, xi, pi = (part[:, k] for part in self._split(self._at.z))
        weights_of_rows, upper, own = self.weights_of_rows[:, k], self.upper[:, k], self.seen[:, k]
        low = own & (alpha < weights_of_rows * s)
        high = self.capped[:, k] & (t < weights_of_rows * xi)
        alpha = np.where(low, 0.0, np.where(high, upper, self.alpha[:, k]))
        return np.where(u > pi, u, 0.0), alpha

    def _split(self, stacked: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The parts of rows, of bounds and of multipliers."""
        n = len(self.seen)
        return stacked[:n], stacked[n : 2 * n], stacked[2 * n :]

    def _go(
        self, restricted: RestrictedProblem, at: BatchIterate, tolerance: FloatArray, most: int
    ) -> tuple[BatchIterate, np.ndarray]:
        """Steps of all problems, and which came to their end; once few are left, of these alone."""
        stuck = np.zeros(self.b.size, dtype=bool)
        rows = self.systems.row_problems(restricted)
        unfinished = np.ones(self.b.size, dtype=bool)
        for step in range(most):
            active, residual = self._look(restricted, rows, at)
            unfinished = self._unfinished(at, residual, tolerance)
            left = np.flatnonzero(unfinished & ~stuck)
            if left.size <= FEW_LEFT * self.b.size:
                if left.size == 0:
                    break
                some = copy(self)
                some.only(left)
                own, ended = some._go(
                    restricted.part(left), at.part(left), tolerance[left], most - step
                )
                self.steps += some.steps - self.steps
                unfinished[left] = ~ended
                return at.with_part(left, own), ~unfinished
            left = self._factorized(restricted, at, active(), left, stuck)
            if left.size == 0:
                break
            at = self._advance(at, residual)
            self.steps += 1
        return at, ~unfinished

    def _gradient(
        self, restricted: RestrictedProblem, alpha: FloatArray, u: FloatArray
    ) -> FloatArray:
        gradient = self._gradient_of_samples(restricted, alpha)
        if self.problem.stack.n_rows:
            gradient -= restricted.C.T @ u
        return gradient

    def _gradient_of_samples(self, restricted: RestrictedProblem, alpha: FloatArray) -> FloatArray:
        return restricted.design.correlate(
            self.problem.y[:, None] * alpha[: self.problem.n_samples]
        )

    def _look(
        self, restricted: RestrictedProblem, rows: RowProblems | None, at: BatchIterate
    ) -> tuple[Callable[[], Active], Residuals]:
        """Which features are in here, and what is missing to feasibility."""
        stack, n = self.problem.stack, self.problem.n_samples
        (alpha, t, u), (s, xi, pi) = self._split(at.x), self._split(at.z)
        alpha = np.where(self.seen, alpha, 0.0)
        of_samples, of_rules, active = self._respond(restricted, rows, alpha, u)
        margins = self._margins(of_samples, u, at.b)
        missing = pi
        if stack.n_rows:
            missing = pi - (of_rules + stack.curvature @ u + stack.thresholds.T @ alpha[n:])
        residual = Residuals(
            rows=np.where(self.seen, 1.0 - margins - xi + s - self.curvature * alpha, 0.0),
            u=missing,
            b=self.labels @ alpha,
            t=np.where(self.capped, self.upper - alpha - t, 0.0),
        )
        return active, residual

    def _respond(
        self,
        restricted: RestrictedProblem,
        rows: RowProblems | None,
        alpha: FloatArray,
        u: FloatArray,
    ) -> tuple[FloatArray, FloatArray, Callable[[], Active]]:
        """y Z w, C w, and which features are in, at the weights of these duals."""
        if rows is not None:
            known = rows.kept, rows.h
            return *rows.margins(alpha[: self.problem.n_samples], u), lambda: known
        w = restricted.weights(self._gradient(restricted, alpha, u))
        return restricted.margins(w), restricted.C @ w, lambda: restricted.curved(w)

    def _margins(self, margins: FloatArray, u: FloatArray, b: FloatArray) -> FloatArray:
        if self.problem.stack.n_rules:
            margins = np.vstack([margins, -self.problem.stack.thresholds @ u])
        return margins + self.labels[:, None] * b

    def _unfinished(
        self, at: BatchIterate, residual: Residuals, tolerance: FloatArray
    ) -> np.ndarray:
        """Problems whose gap, relative to the objective, or residual of margin is too large.

        Once the gap is next to nothing a step is all rounding, and lets the margins drift away.
        """
        alpha = self._split(at.x)[0]
        size = np.maximum(alpha.sum(axis=0, where=self.seen), 1e-8)
        gap = np.einsum("ij,ij->j", at.x, at.z) / size
        lacking = np.abs(residual.rows).max(axis=0) > np.maximum(
            RESIDUAL * tolerance, LEAST_RESIDUAL
        )
        return (gap > tolerance) | (lacking & (gap > ROUNDING * tolerance))

    def _factorized(
        self,
        restricted: RestrictedProblem,
        at: BatchIterate,
        active: Active,
        left: np.ndarray,
        stuck: np.ndarray,
    ) -> np.ndarray:
        """Prepare the Newton systems; problems that rounding lets go no further are stuck."""
        of_rows, of_caps, of_rules = self._split(at.z / at.x)
        D = of_rows + of_caps + self.curvature
        solvable = self.systems.factorize(restricted, *active, D, of_rules, left)
        stuck[np.setdiff1d(left, solvable)] = True
        return solvable

    def _advance(self, at: BatchIterate, residual: Residuals) -> BatchIterate:
        """One predictor-corrector step of the problems whose systems are prepared."""
        product = at.x * at.z
        affine = self._direction(at, residual, -product)
        moved = at.moved(affine, np.minimum(1.0, at.max_step(affine)))
        total = self.shares.sum(axis=0)
        mu, mu_affine = product.sum(axis=0), np.einsum("ij,ij->j", moved.x, moved.z)
        centring = np.minimum((mu_affine / mu) ** 3, 1.0) * mu / total
        target = centring * self.shares - product - affine.x * affine.z
        direction = self._direction(at, residual, target)
        return at.moved(direction, np.minimum(1.0, STEP_FACTOR * at.max_step(direction)))

    def _direction(self, at: BatchIterate, residual: Residuals, target: FloatArray) -> BatchIterate:
        goal, ratio = target / at.x, at.z / at.x
        (goal_alpha, goal_t, goal_u), (_, cap, _) = self._split(goal), self._split(ratio)
        rows = residual.rows + goal_alpha - goal_t + cap * residual.t
        d_alpha, db, du = self.systems.solve(rows, residual.b, residual.u + goal_u)
        going = self.systems.going
        dt = (going & self.capped) * (residual.t - d_alpha)
        dx = np.vstack([d_alpha, dt, du])
        dz = goal - ratio * dx
        dz[: len(dt)] *= going & self.seen
        dz[len(dt) : 2 * len(dt)] *= going & self.capped
        dz[2 * len(dt) :] *= going
        return BatchIterate(dx, dz, db)

    def _warm(self, restricted: RestrictedProblem) -> BatchIterate:
        """The best multiple of where the problems stand, moved well inside its bounds."""
        rows = self.systems.row_problems(restricted)
        alpha, upper = self.alpha * self._best_multiple(restricted, rows), self.upper
        alpha = np.clip(alpha, self.margin * self.weights_of_rows, (1 - self.margin) * upper)
        alpha = np.where(self.seen, alpha, 1.0)
        u = np.maximum(self.u, self.margin * typical_multiplier(self.problem.stack))
        seen = np.where(self.seen, alpha, 0.0)
        of_samples = self._respond(restricted, rows, seen, u)[0]
        residual = 1.0 - self._margins(of_samples, u, self.b)
        residual -= self.curvature * seen
        short, over = (
            np.maximum(residual, 0.0) + self.margin,
            np.maximum(-residual, 0.0) + self.margin,
        )
        x = np.vstack([alpha, np.where(self.capped, upper - alpha, 1.0), u])
        over, short = np.where(self.seen, over, 0.0), np.where(self.capped, short, 0.0)
        z = np.vstack([over, short, self.margin * self._split(self.shares)[2] / u])
        return BatchIterate(x, z, self.b)

    def _best_multiple(self, restricted: RestrictedProblem, rows: RowProblems | None) -> FloatArray:
        """The multiple of the duals at which the dual is largest along them; the rules stay.

        With another lambda1 the same duals give far smaller or larger weights.
        """
        total, square = self.alpha.sum(axis=0), np.sum(self.curvature * self.alpha**2, axis=0)
        if rows is not None:
            alpha = self.alpha[: self.problem.n_samples]
            own = rows.margins(alpha, np.zeros_like(self.u))[0]
            of_rules = rows.margins(np.zeros_like(alpha), self.u)[0]
            bend = np.einsum("ij,ij->j", alpha, own) + square
            best = (total - np.einsum("ij,ij->j", alpha, of_rules)) / np.where(bend > 0, bend, 1.0)
            return np.where(bend > 0, np.clip(best, 1 / MOST_SCALED, MOST_SCALED), 1.0)
        gradient = self._gradient_of_samples(restricted, self.alpha)
        rest = -(restricted.C.T @ self.u)
        multiple, rules = np.ones(total.size), self.problem.stack.n_rows > 0
        for _ in range(SCALINGS):
            w = restricted.weights(multiple * gradient + rest if rules else multiple * gradient)
            kept, h = restricted.curved(w)
            own = gradient[kept]
            slope = total - np.einsum("ij,ij->j", own, w[kept]) - multiple * square
            bend = np.einsum("ij,ij->j", own**2, h) + square
            step = slope / np.where(bend > 0, bend, np.inf)
            multiple = np.clip(multiple + step, 0.1 * multiple, 10 * multiple)
        return multiple


# --------------------------------------------------------------------------------------------------
# Phase 1 of many problems, at one lambda1 after another, without looking at all features.
#
#     1. roughly, with the features that were nearly in at the value before
#     2. to the end, with those that are nearly in now: the problems go on where they stood
#     3. where features were overlooked, the problems that want them go to the end with them
#
# Before 2, and after each time, the gradient of all features is looked at: one pass over the data.


EXACT = 1e-9
ROUGH = 0.03  # gap at which it shows which features may be in,
NEAR = 0.9  # namely those whose gradient is this share of lambda1
MOST_ROUNDS = 3


class WorkingSetSelector:
    """All problems of the batch; a tolerance for each, and by what factor a gradient may exceed
    lambda1 before a feature counts as overlooked.

    `needed` is the lambda1 that would hold each feature out where the problems stand.
    """

    def __init__(
        self, batch: BatchedInteriorPoint, tolerance: FloatArray, beyond: FloatArray
    ) -> None:
        self.batch, self.tolerance, self.beyond = batch, tolerance, beyond
        self.needed = 2.0 * self._needed()  # dual variables begin in the middle
        self._lambda1 = 0.0  # of the last problems

    def only(self, problems: np.ndarray) -> None:
        """Go on with some of the problems."""
        self.batch.only(problems)
        self.tolerance, self.beyond = self.tolerance[problems], self.beyond[problems]
        self.needed = self.needed[:, problems]

    def select(self, lambda1: float) -> tuple[RestrictedProblem, FloatArray]:
        """The features that were looked at last, and their weights, one column a problem."""
        batch = self.batch
        before, self._lambda1 = self._lambda1, lambda1
        batch.solve(batch.restrict(self._near(max(lambda1, before)), lambda1), ROUGH)
        self.needed = self._needed()
        restricted = batch.restrict(self._near(lambda1), lambda1)
        w = batch.solve(restricted, self.tolerance, going_on=True)
        for _ in range(MOST_ROUNDS):
            self.needed = self._needed()
            over = self.needed > self.beyond * lambda1
            over[restricted.names] = False
            wanting = over.any(axis=0)
            if not wanting.any():
                break
            restricted = batch.restrict(
                np.union1d(restricted.names, np.flatnonzero(over.any(axis=1))), lambda1
            )
            w = batch.solve(restricted, np.where(wanting, self.tolerance, np.inf))
        return restricted, w

    def _near(self, lambda1: float) -> np.ndarray:
        """Features that are nearly in, and those that may be in at any gradient."""
        near = np.flatnonzero(self.needed.max(axis=1) > NEAR * lambda1)
        return np.union1d(near, self.batch.problem.always_in).astype(int)

    def _needed(self) -> FloatArray:
        """The lambda1 that would hold each feature out, one column a problem."""
        return self.batch.problem.penalty_factors.needed(self.batch.gradient_on_all())


def near_optimum(problem: Problem) -> WarmStart:
    """Next to the optimum of a single problem: which features are in, and which rows are where."""
    batch = BatchedInteriorPoint(problem, problem.p[:, None], np.array([problem.lambda2]))
    selector = WorkingSetSelector(batch, np.array([EXACT]), np.array([1.0 + EXACT]))
    restricted, w = selector.select(problem.lambda1)
    kept = np.flatnonzero(w[:, 0])
    return WarmStart(restricted.names[kept], w[kept, 0], *batch.active_sets(0))
