"""Many elastic-net SVMs solved side by side by a batched interior point, for folds and paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
        if not self._has(names):
            return self._read(names).T @ w
        weights = np.zeros((self._count, w.shape[1]))
        weights[self._place[names]] = w
        return self._kept[: self._count].T @ weights

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

    def margins(self, w: FloatArray) -> FloatArray:
        """y Z w of all samples: by the columns that are in, or by all where most are."""
        kept = np.flatnonzero(w.any(axis=1))
        if kept.size * self.columns.y.size < FEW_ACTIVE * self.design.cost:
            return self.columns.dot(self.names[kept], w[kept])
        return self.columns.y[:, None] * self.design.dot(w)

    def weights(self, gradient: FloatArray) -> FloatArray:
        """The weights that go with a gradient."""
        weights = self.limits.shrink(gradient) / self.ridge
        return weights if self.fixed is None else np.where(self.fixed, weights, 0.0)

    def curved(self, w: FloatArray) -> FloatArray:
        """1/ridge of the features that are in, and zero for all others; one column a problem."""
        kept = (w != 0) | self._free
        return np.where(kept if self.fixed is None else kept & self.fixed, 1 / self.ridge, 0.0)

    @cached_property
    def _free(self) -> np.ndarray:
        return self.limits.unpenalized


# --------------------------------------------------------------------------------------------------
# Where many problems stand on their way, and what each of them lacks; one column a problem.


class BatchIterate(NamedTuple):
    """Where all problems stand: (alpha, s), (t, xi), (u, pi) and the intercepts."""

    rows: ComplementaryPair
    caps: ComplementaryPair
    rules: ComplementaryPair
    b: FloatArray

    def moved(self, by: BatchIterate, step: FloatArray) -> BatchIterate:
        rows, caps, rules = (one.moved(other, step) for one, other in self.beside(by))
        return BatchIterate(rows, caps, rules, self.b + step * by.b)

    def max_step(self, by: BatchIterate) -> FloatArray:
        return np.min([one.max_step(other) for one, other in self.beside(by)], axis=0)

    def beside(self, by: BatchIterate) -> Iterator[tuple[ComplementaryPair, ComplementaryPair]]:
        """The pairs of two places, one beside the other."""
        return zip(self.pairs, by.pairs, strict=True)

    @property
    def pairs(self) -> tuple[ComplementaryPair, ComplementaryPair, ComplementaryPair]:
        return self.rows, self.caps, self.rules


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
        self, restricted: RestrictedProblem, h: FloatArray, D: FloatArray, theta: FloatArray
    ) -> None:
        """Prepare `solve` for 1/ridge of features and the diagonals of rows and multipliers."""
        kept = np.flatnonzero(h)
        C, h = restricted.C[:, kept], h[kept]
        named = np.flatnonzero(C.any(axis=0))
        hC = h[named] * C[:, named]
        inner = self.stack.curvature - hC @ C[:, named].T + np.diag(theta)
        self._inner = cholesky(inner.copy())
        self._V = np.vstack([-self._seen(restricted, kept[named]).T @ hC.T, -self.stack.thresholds])
        if kept.size < FEW_CHANGED * self.rows.size:
            self._factorize_features(self._seen(restricted, kept).T, 1.0 / h, inner, D)
        else:
            self._factorize_rows(restricted, kept, h, D)
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

    def _factorize_rows(
        self, restricted: RestrictedProblem, kept: np.ndarray, h: FloatArray, D: FloatArray
    ) -> None:
        n = self.rows.size
        M = np.zeros((D.size, D.size))
        if self._V.size:
            M += self._V @ solve_cholesky(self._inner, self._V.T)
        M[:n, :n] += self._updated(restricted, kept, h)
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


LARGEST = 45  # rows or features: beyond, problems one by one are faster
LEAST_DIAGONAL = 1e-13  # relative, added so that rounding leaves a matrix positive


class StackedSystems:
    """The problems of `left`; arrays have one slice a problem, in that order."""

    _over: FloatArray | None

    def __init__(self, problem: Problem, seen: np.ndarray) -> None:
        self.stack, self._seen = problem.stack, seen
        self._labels = np.r_[problem.y, problem.stack.of_b]

    def suits(self, features: int) -> bool:
        """Whether the systems of this many features are small."""
        return min(features + self.stack.n_rows, self._labels.size) <= LARGEST

    def factorize(
        self,
        restricted: RestrictedProblem,
        h: FloatArray,
        D: FloatArray,
        theta: FloatArray,
        left: np.ndarray,
    ) -> np.ndarray:
        """Prepare `solve`; which problems rounding lets go no further."""
        kept = np.flatnonzero(h[:, left].any(axis=1))
        self._here = self._seen[:, left].T
        labels = self._labels * self._here
        h, C = h[np.ix_(kept, left)].T, restricted.C[:, kept]
        self._D = np.where(self._here, D[:, left].T, 1.0)
        Z = restricted.signed(kept).T
        hC = h[:, None, :] * C
        inner = self.stack.curvature - hC @ C.T + _diagonals(theta[:, left].T)
        self._inner, stuck = _root(inner)
        self._V = self._coupling(Z, hC)
        few = kept.size + inner.shape[1] < labels.shape[1]
        M = self._of_features(Z, h, inner) if few else self._of_rows(Z, h)
        self._root, bad = _root(M)
        self._labels_here, self._border = labels, self._apply(labels)
        self._pivot = np.sum(labels * self._border, axis=1)
        return stuck | bad

    def solve(self, rows: FloatArray, b: FloatArray, u: FloatArray) -> Step:
        """The steps for these residuals; one row a problem."""
        first = self._apply(rows - _times(self._V, _solved(self._inner, u)))
        db = (np.sum(self._labels_here * first, axis=1) + b) / self._pivot
        alpha = first - db[:, None] * self._border
        du = _solved(self._inner, u + _times(np.swapaxes(self._V, 1, 2), alpha))
        return Step(alpha, db, du)

    def _coupling(self, Z: FloatArray, hC: FloatArray) -> FloatArray:
        of_samples = -(Z @ np.swapaxes(hC, 1, 2))
        of_rules = np.broadcast_to(-self.stack.thresholds, (len(hC), *self.stack.thresholds.shape))
        return np.concatenate([of_samples, of_rules], axis=1) * self._here[:, :, None]

    def _of_rows(self, Z: FloatArray, h: FloatArray) -> FloatArray:
        """Z h Z' + V inner^-1 V' + D."""
        n, M = Z.shape[0], _diagonals(self._D)
        here = self._here[:, :n]
        gram = (Z * h[:, None, :]) @ Z.T
        M[:, :n, :n] += gram * (here[:, :, None] & here[:, None, :])
        half = self._inner @ np.swapaxes(self._V, 1, 2)
        self._over = None
        return M + np.swapaxes(half, 1, 2) @ half

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
        self._begin(seen)

    def _begin(self, seen: np.ndarray) -> None:
        self.seen, self._together = seen, StackedSystems(self.problem, seen)
        self._joined, self._left = False, np.zeros(0, dtype=int)
        self.going = np.zeros(seen.shape[1], dtype=bool)

    def only(self, problems: np.ndarray) -> None:
        """Go on with some of the problems."""
        self._each = [self._each[k] for k in problems]
        self._begin(self.seen[:, problems])

    def factorize(
        self,
        restricted: RestrictedProblem,
        h: FloatArray,
        D: FloatArray,
        theta: FloatArray,
        left: np.ndarray,
    ) -> np.ndarray:
        """Prepare the systems of `left`; those among them that can be solved.

        `h` is 1/ridge of the features that are in; as D and theta it has one column a problem.
        """
        self._joined = self._together.suits(int(h.any(axis=1).sum()))
        if self._joined:
            stuck = self._together.factorize(restricted, h, D, theta, left)
            solvable = left[~stuck]
            if stuck.any() and solvable.size:
                self._together.factorize(restricted, h, D, theta, solvable)
        else:
            solvable = np.array(
                [k for k in left if self._succeeds(restricted, h, D, theta, k)], int
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
        self.going = np.isfinite(step.b) & np.isin(np.arange(b.size), self._left)
        return Step(*(np.where(self.going, part, 0.0) for part in step))

    def _succeeds(
        self, restricted: RestrictedProblem, h: FloatArray, D: FloatArray, theta: FloatArray, k: int
    ) -> bool:
        try:
            self._each[k].factorize(restricted, h[:, k], D[self.seen[:, k], k], theta[:, k])
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
STEP_FACTOR = 0.99  # shorter than that of a single problem: w jumps where a feature enters
RESIDUAL = 10.0  # tolerances: how much of a margin may be missing,
LEAST_RESIDUAL = 1e-6  # but no less
ROUNDING = 1e-4  # of the tolerance
SCALINGS = 4  # Newton steps towards the best multiple of a warm start


class BatchedInteriorPoint:
    """All problems; `problem` holds the rows and the rules of all.

    `weights_of_rows` has one column for each problem, zero for the rows that it may not see.
    `units`, one column per problem too, are the deviations of the features in the rows that it
    sees: where columns are standardised, a weight is penalised in units of what the problem knows.
    """

    _at: BatchIterate  # where the last steps ended

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
        self.labels = np.r_[problem.y, stack.of_b]
        self.alpha, self.b = 0.5 * self.weights_of_rows, np.zeros(count)
        self.u = np.full((stack.n_rows, count), typical_multiplier(self.problem.stack))
        self.columns = SignedColumns(problem.design, problem.y)
        self.systems = Systems(problem, self.seen)
        self.steps = 0

    @property
    def shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each product of a place counts: the weight of its row."""
        of_rules = self.weights_of_rows[self.problem.n_samples + self.problem.stack.owner]
        return self.weights_of_rows, np.where(self.capped, self.weights_of_rows, 0.0), of_rules

    def only(self, problems: np.ndarray) -> None:
        """Go on with some of the problems."""
        self.lambda2, self.b = self.lambda2[problems], self.b[problems]
        self.seen, self.weights_of_rows = self.seen[:, problems], self.weights_of_rows[:, problems]
        self.upper, self.curvature = self.upper[:, problems], self.curvature[:, problems]
        self.capped = self.capped[:, problems]
        self.alpha, self.u = self.alpha[:, problems], self.u[:, problems]
        self.units = None if self.units is None else self.units[:, problems]
        self.systems.only(problems)

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
        at, tolerance = self._at if going_on else self._warm(restricted), np.asarray(tolerance)
        stuck = np.zeros(self.b.size, dtype=bool)
        for _ in range(MOST_STEPS):
            w, residual = self._look(restricted, at)
            left = np.flatnonzero(self._unfinished(at, residual, tolerance) & ~stuck)
            left = self._factorized(restricted, at, w, left, stuck)
            if left.size == 0:
                break
            at = self._advance(at, residual)
            self.steps += 1
        self._at, moved = at, np.isfinite(tolerance)
        self.alpha = np.where(moved, np.where(self.seen, at.rows.x, 0.0), self.alpha)
        self.u, self.b = np.where(moved, at.rules.x, self.u), np.where(moved, at.b, self.b)
        return restricted.weights(self._pull(restricted, self.alpha, self.u))

    def active_sets(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Multipliers and duals of a problem, on their bound where the other of a pair is more."""
        (alpha, s), (t, xi), (u, pi), _ = self._at
        weights_of_rows, upper, own = self.weights_of_rows[:, k], self.upper[:, k], self.seen[:, k]
        low = own & (alpha[:, k] < weights_of_rows * s[:, k])
        high = self.capped[:, k] & (t[:, k] < weights_of_rows * xi[:, k])
        alpha = np.where(low, 0.0, np.where(high, upper, self.alpha[:, k]))
        return np.where(u > pi, u, 0.0)[:, k], alpha

    def _pull(self, restricted: RestrictedProblem, alpha: FloatArray, u: FloatArray) -> FloatArray:
        return self._gradient_of_samples(restricted, alpha) - restricted.C.T @ u

    def _gradient_of_samples(self, restricted: RestrictedProblem, alpha: FloatArray) -> FloatArray:
        return restricted.design.correlate(
            self.problem.y[:, None] * alpha[: self.problem.n_samples]
        )

    def _look(
        self, restricted: RestrictedProblem, at: BatchIterate
    ) -> tuple[FloatArray, Residuals]:
        """The weights here, and what is missing to feasibility."""
        stack, n = self.problem.stack, self.problem.n_samples
        (alpha, s), (t, xi), (u, pi), b = at
        alpha = np.where(self.seen, alpha, 0.0)
        w = restricted.weights(self._pull(restricted, alpha, u))
        margins = self._margins(restricted, w, u, b)
        gradient = restricted.C @ w + stack.curvature @ u + stack.thresholds.T @ alpha[n:]
        residual = Residuals(
            rows=np.where(self.seen, 1.0 - margins - xi + s - self.curvature * alpha, 0.0),
            u=pi - gradient,
            b=self.labels @ alpha,
            t=np.where(self.capped, self.upper - alpha - t, 0.0),
        )
        return w, residual

    def _margins(
        self, restricted: RestrictedProblem, w: FloatArray, u: FloatArray, b: FloatArray
    ) -> FloatArray:
        of_rules = -self.problem.stack.thresholds @ u
        return np.vstack([restricted.margins(w), of_rules]) + self.labels[:, None] * b

    def _unfinished(
        self, at: BatchIterate, residual: Residuals, tolerance: FloatArray
    ) -> np.ndarray:
        """Problems whose gap, relative to the objective, or residual of margin is too large.

        Once the gap is next to nothing a step is all rounding, and lets the margins drift away.
        """
        size = np.maximum(np.where(self.seen, at.rows.x, 0.0).sum(axis=0), 1e-8)
        gap = sum(pairs.product.sum(axis=0) for pairs in at.pairs) / size
        lacking = np.abs(residual.rows).max(axis=0) > np.maximum(
            RESIDUAL * tolerance, LEAST_RESIDUAL
        )
        return (gap > tolerance) | (lacking & (gap > ROUNDING * tolerance))

    def _factorized(
        self,
        restricted: RestrictedProblem,
        at: BatchIterate,
        w: FloatArray,
        left: np.ndarray,
        stuck: np.ndarray,
    ) -> np.ndarray:
        """Prepare the Newton systems; problems that rounding lets go no further are stuck."""
        D = at.rows.z / at.rows.x + at.caps.z / at.caps.x + self.curvature
        solvable = self.systems.factorize(
            restricted, restricted.curved(w), D, at.rules.z / at.rules.x, left
        )
        stuck[np.setdiff1d(left, solvable)] = True
        return solvable

    def _advance(self, at: BatchIterate, residual: Residuals) -> BatchIterate:
        """One predictor-corrector step of the problems whose systems are prepared."""
        affine = self._direction(at, residual, [-pairs.product for pairs in at.pairs])
        moved = at.moved(affine, np.minimum(1.0, at.max_step(affine)))
        mu, mu_affine = self._complementarity(at), self._complementarity(moved)
        centring = np.minimum((mu_affine / mu) ** 3, 1.0) * mu
        targets = [
            centring * share - pairs.product - by.product
            for share, (pairs, by) in zip(self.shares, at.beside(affine), strict=True)
        ]
        direction = self._direction(at, residual, targets)
        return at.moved(direction, np.minimum(1.0, STEP_FACTOR * at.max_step(direction)))

    def _direction(
        self, at: BatchIterate, residual: Residuals, targets: list[FloatArray]
    ) -> BatchIterate:
        (alpha, s), (t, xi), (u, pi), _ = at
        goal_alpha, goal_t, goal_u = targets
        rows = residual.rows + goal_alpha / alpha - (goal_t - xi * residual.t) / t
        d_alpha, db, du = self.systems.solve(rows, residual.b, residual.u + goal_u / u)
        going = self.systems.going
        moving, capped, dt = going * self.seen, going * self.capped, residual.t - d_alpha
        return BatchIterate(
            ComplementaryPair(d_alpha, moving * (goal_alpha - s * d_alpha) / alpha),
            ComplementaryPair(capped * dt, capped * (goal_t - xi * dt) / t),
            ComplementaryPair(du, going * (goal_u - pi * du) / u),
            db,
        )

    def _complementarity(self, at: BatchIterate) -> FloatArray:
        """All products by all shares."""
        products = sum(pairs.product.sum(axis=0) for pairs in at.pairs)
        return products / sum(share.sum(axis=0) for share in self.shares)

    def _warm(self, restricted: RestrictedProblem) -> BatchIterate:
        """The best multiple of where the problems stand, moved well inside its bounds."""
        alpha, upper = self.alpha * self._best_multiple(restricted), self.upper
        alpha = np.clip(alpha, WARM * self.weights_of_rows, (1 - WARM) * upper)
        alpha = np.where(self.seen, alpha, 1.0)
        u = np.maximum(self.u, WARM * typical_multiplier(self.problem.stack))
        seen = np.where(self.seen, alpha, 0.0)
        residual = 1.0 - self._margins(
            restricted, restricted.weights(self._pull(restricted, seen, u)), u, self.b
        )
        residual -= self.curvature * seen
        short, over = (
            np.maximum(residual, 0.0) + WARM,
            np.maximum(-residual, 0.0) + WARM,
        )
        return BatchIterate(
            ComplementaryPair(alpha, np.where(self.seen, over, 0.0)),
            ComplementaryPair(
                np.where(self.capped, upper - alpha, 1.0), np.where(self.capped, short, 0.0)
            ),
            ComplementaryPair(u, WARM * self.shares[-1] / u),
            self.b,
        )

    def _best_multiple(self, restricted: RestrictedProblem) -> FloatArray:
        """The multiple of the duals at which the dual is largest along them; the rules stay.

        With another lambda1 the same duals give far smaller or larger weights.
        """
        gradient, total = self._gradient_of_samples(restricted, self.alpha), self.alpha.sum(axis=0)
        rest, square = -(restricted.C.T @ self.u), np.sum(self.curvature * self.alpha**2, axis=0)
        multiple = np.ones(total.size)
        for _ in range(SCALINGS):
            w = restricted.weights(multiple * gradient + rest)
            slope = total - np.sum(gradient * w, axis=0) - multiple * square
            bend = np.sum(gradient**2 * restricted.curved(w), axis=0) + square
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

    def only(self, problems: np.ndarray) -> None:
        """Go on with some of the problems."""
        self.batch.only(problems)
        self.tolerance, self.beyond = self.tolerance[problems], self.beyond[problems]
        self.needed = self.needed[:, problems]

    def select(self, lambda1: float) -> tuple[RestrictedProblem, FloatArray]:
        """The features that were looked at last, and their weights, one column a problem."""
        batch = self.batch
        batch.solve(batch.restrict(self._near(lambda1), lambda1), ROUGH)
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
