"""The Newton system of the interior point, in the two forms that its structure allows.

Unknowns (dw, db, du, dalpha), with k weights, K multipliers of rules and N + R rows:

    ridge' dw + C'du - Z'dalpha_N                 = r_w        ridge' = ridge (+ phi of the prices)
    C dw + (curvature + pi/u) du + d dalpha_R     = r_u
    - labels'dalpha                               = r_b
    A (dw, db, du) + D dalpha                     = r_rows     D = s/alpha + xi/t

Where a weight is split, w = w+ - w-, its parts are eliminated first: phi = 1/(w+/z+ + w-/z-), with
the parts that are there.

`DualNewton` eliminates w and u: one Cholesky of size N + R on a Gram matrix that is formed once,
u by a K x K solve, b by bordering. `PrimalNewton` eliminates alpha: one Cholesky of size k + K + 1.
Both refine the solution on the system above, which undoes what elimination lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from hipad.designs.base import FloatArray
from hipad.solver.problem import Problem

STATIC_REGULARISATION = 1e-16


class Rhs(NamedTuple):
    """Residuals of the optimality conditions; `parts` those of w+ and w-, where they are there."""

    w: FloatArray
    parts: tuple[FloatArray, ...]
    b: float
    u: FloatArray
    rows: FloatArray
    t: FloatArray
    split: FloatArray


class Scaling(NamedTuple):
    """Diagonals that change from iteration to iteration.

    `split` are w+/z+ and w-/z- on all features, zero where there is no such part; `sides` say which
    features have a part w+, and which a part w-. Both are empty where no feature has any.
    """

    rows: FloatArray
    u: FloatArray
    split: tuple[FloatArray, ...] = ()
    sides: tuple[np.ndarray, ...] = ()


class Step(NamedTuple):
    """A solution of the Newton system; `parts` are the steps of w+ and w- where w is split."""

    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray
    parts: tuple[FloatArray, ...] = ()

    def moved(self, by: Step) -> Step:
        return Step(self.w + by.w, self.b + by.b, self.u + by.u, self.alpha + by.alpha)


class Newton:
    """What both forms share: the operators, the split of |w|, the refinement."""

    def __init__(self, problem: Problem, features: np.ndarray) -> None:
        stack = problem.stack
        self.n = problem.n_samples
        self.Z = problem.design.columns(features)
        self.Z *= problem.y[:, None]
        self.labels = np.r_[problem.y, stack.of_b]
        self.ridge = problem.ridge(features)
        at, of = problem.rule_positions(features)
        self.C = np.zeros((stack.n_rows, features.size))
        self.C[:, at] = stack.coupling[:, of]
        self.curvature, self.thresholds = stack.curvature, stack.thresholds

    @staticmethod
    def of(problem: Problem, features: np.ndarray) -> Newton:
        """The cheaper form: the dual while N is at most twice the number of features."""
        dual = problem.n_samples + problem.stack.n_rules <= 2 * features.size + 64
        return DualNewton(problem, features) if dual else PrimalNewton(problem, features)

    def gradient(
        self, w: FloatArray, u: FloatArray, alpha: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the Lagrangian in w and u."""
        samples, rules = alpha[: self.n], alpha[self.n :]
        in_w = self.ridge * w + self.C.T @ u - self.Z.T @ samples
        return in_w, self.C @ w + self.curvature @ u + self.thresholds.T @ rules

    def rows(self, w: FloatArray, b: float, u: FloatArray) -> FloatArray:
        """A x: margins of the samples, then of the rules."""
        return np.r_[self.Z @ w, -self.thresholds @ u] + self.labels * b

    def factorize(self, scaling: Scaling) -> None:
        """Prepare `solve` for these diagonals."""
        self.D, self.theta_u, self.split, self.sides = scaling
        self.effective_ridge = self.ridge
        if self.split:
            room = self.split[0] + self.split[1]
            self.bounded = self.sides[0] | self.sides[1]
            self.phi = np.where(self.bounded, 1.0 / np.where(self.bounded, room, 1.0), 0.0)
            self.effective_ridge = self.ridge + self.phi
        self._factorize()

    def solve(self, r: Rhs, *, rows: FloatArray, u: FloatArray, parts: list[FloatArray]) -> Step:
        """Newton step; `rows`, `u` and `parts` already hold the complementarity targets."""
        if not self.split:
            return self._refined(r.w, r.b, u, rows)
        e_plus, e_minus = (spread(e, side) for e, side in zip(parts, self.sides, strict=True))
        plus, minus = self.split
        w = np.where(self.bounded, self.phi * (e_plus * plus - e_minus * minus + r.split), r.w)
        step = self._refined(w, r.b, u, rows)
        # g is the change of the gradient that w+ and w- share with opposite signs
        g = w - self.phi * step.w
        moved = (e_plus - g) * plus, (e_minus + g) * minus
        compact = tuple(part[side] for part, side in zip(moved, self.sides, strict=True))
        return step._replace(parts=compact)

    def _refined(self, w: FloatArray, b: float, u: FloatArray, rows: FloatArray) -> Step:
        step = self._solve(w, b, u, rows)
        size = largest(w, b, u, rows)
        for _ in range(3):
            lack = self._lack(step, w, b, u, rows)
            if not largest(*lack) > 1e-13 * size:
                break
            more = self._solve(*lack)
            better = step.moved(more)
            if not largest(*self._lack(better, w, b, u, rows)) < 0.5 * largest(*lack):
                break
            step = better
        return step

    def _lack(
        self, step: Step, w: FloatArray, b: float, u: FloatArray, rows: FloatArray
    ) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        samples, rules = step.alpha[: self.n], step.alpha[self.n :]
        in_w = self.effective_ridge * step.w + self.C.T @ step.u - self.Z.T @ samples
        in_u = self.C @ step.w + self.curvature @ step.u + self.theta_u * step.u
        in_u += self.thresholds.T @ rules
        in_rows = self.rows(step.w, step.b, step.u) + self.D * step.alpha
        return w - in_w, b + float(self.labels @ step.alpha), u - in_u, rows - in_rows

    def _factorize(self) -> None:
        raise NotImplementedError

    def _solve(self, w: FloatArray, b: float, u: FloatArray, rows: FloatArray) -> Step:
        raise NotImplementedError


class DualNewton(Newton):
    """Elimination of w and u: size N + R."""

    _gram: FloatArray | None = None

    def _factorize(self) -> None:
        n, h = self.n, 1.0 / self.effective_ridge
        self.hC = h * self.C
        inner = self.curvature - self.hC @ self.C.T + np.diag(self.theta_u)
        self._inner = cholesky(inner)
        self.V = np.vstack([-self.Z @ self.hC.T, -self.thresholds])
        self._UV = solve_cholesky(self._inner, self.V.T)
        M = self.V @ self._UV
        M[:n, :n] += self._weighted_gram(h)
        M[np.diag_indices_from(M)] += self.D
        self._factor = cholesky(M)
        self._border = solve_cholesky(self._factor, self.labels)
        self._pivot = float(self.labels @ self._border)

    def _weighted_gram(self, h: FloatArray) -> FloatArray:
        """Z diag(h) Z'; h only changes where w is split."""
        if self.split and self.bounded.all():
            return (self.Z * h) @ self.Z.T
        if self._gram is None:
            free = ~self.bounded if self.split else slice(None)
            self._gram = (self.Z[:, free] * h[free]) @ self.Z[:, free].T
        if not self.split:
            return self._gram
        Z = self.Z[:, self.bounded]
        return self._gram + (Z * h[self.bounded]) @ Z.T

    def _solve(self, w: FloatArray, b: float, u: FloatArray, rows: FloatArray) -> Step:
        hw = w / self.effective_ridge
        reduced_u = u - self.C @ hw
        reduced = rows - self._UV.T @ reduced_u
        reduced[: self.n] -= self.Z @ hw
        first = solve_cholesky(self._factor, reduced)
        db = (float(self.labels @ first) + b) / self._pivot
        alpha = first - db * self._border
        du = solve_cholesky(self._inner, reduced_u + self.V.T @ alpha)
        dw = (w - self.C.T @ du + self.Z.T @ alpha[: self.n]) / self.effective_ridge
        return Step(dw, db, du, alpha)


class PrimalNewton(Newton):
    """Elimination of alpha: size k + K + 1."""

    def _factorize(self) -> None:
        k, n = self.Z.shape[1], self.n
        K = self.curvature.shape[0]
        samples, rules = 1.0 / self.D[:n], 1.0 / self.D[n:]
        H = np.zeros((k + K + 1, k + K + 1), order="F")
        weighted = samples[:, None] * self.Z
        H[:k, :k] = self.Z.T @ weighted + np.diag(self.effective_ridge)
        H[k:-1, :k], H[:k, k:-1] = self.C, self.C.T
        H[k:-1, k:-1] = self.curvature + np.diag(self.theta_u)
        H[k:-1, k:-1] += (self.thresholds.T * rules) @ self.thresholds
        H[-1, :k] = self.labels[:n] @ weighted
        H[-1, k:-1] = -(self.labels[n:] * rules) @ self.thresholds
        H[:-1, -1] = H[-1, :-1]
        H[-1, -1] = samples.sum() + self.labels[n:] ** 2 @ rules
        self._factor = cholesky(H)

    def _solve(self, w: FloatArray, b: float, u: FloatArray, rows: FloatArray) -> Step:
        k, n, weighted = self.Z.shape[1], self.n, rows / self.D
        rhs = np.r_[
            w + self.Z.T @ weighted[:n],
            u - self.thresholds.T @ weighted[n:],
            b + self.labels @ weighted,
        ]
        x = solve_cholesky(self._factor, rhs)
        dw, du, db = x[:k], x[k:-1], float(x[-1])
        return Step(dw, db, du, (rows - self.rows(dw, db, du)) / self.D)


def cholesky(M: FloatArray) -> FloatArray:
    """Lower factor of a symmetric matrix, which is overwritten; raises LinAlgError."""
    if M.shape[0] == 0:
        return M
    diagonal = np.einsum("ii->i", M)
    diagonal += STATIC_REGULARISATION * np.abs(diagonal)
    factor, info = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    if info != 0:
        raise np.linalg.LinAlgError("the Newton matrix is not positive definite")
    return factor


def solve_cholesky(factor: FloatArray, rhs: FloatArray) -> FloatArray:
    """Solution with a factor from `cholesky`."""
    if factor.shape[0] == 0:
        return np.zeros_like(rhs)
    solution, _ = dpotrs(factor, rhs, lower=1)
    return solution


def spread(values: FloatArray, where: np.ndarray) -> FloatArray:
    """The values at the places that `where` marks, zero elsewhere."""
    full = np.zeros(where.size)
    full[where] = values
    return full


def largest(*parts: FloatArray | float) -> float:
    """Largest absolute value in any of the parts."""
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)
