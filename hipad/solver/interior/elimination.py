"""The two ways to solve the Newton system by a Cholesky factor: which unknowns go first.

`DualNewton` eliminates w and u: one factor of size N + R on a Gram matrix that is formed once, u by
a K x K solve, b by bordering. `PrimalNewton` eliminates alpha: one factor of size k + K + 1. Which
one is cheaper depends on the numbers of rows and features alone.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from hipad.designs.base import FloatArray
from hipad.solver.interior.newton import Newton, Step
from hipad.solver.problem import Problem

STATIC_REGULARISATION = 1e-16
LARGEST_OTHER = 4000


def newton_system(problem: Problem, features: np.ndarray) -> Newton:
    """The cheaper form: the dual while N is at most twice the number of features."""
    dual = problem.n_samples + problem.stack.n_rules <= 2 * features.size + 64
    return DualNewton(problem, features) if dual else PrimalNewton(problem, features)


def other_form(problem: Problem, features: np.ndarray, newton: Newton) -> Newton | None:
    """The form that is not this one, unless its factor would be large.

    A matrix that rounding spoils in one form is mostly a harmless one in the other.
    """
    rows = problem.n_samples + problem.stack.n_rules
    if isinstance(newton, DualNewton):
        small = features.size + problem.stack.n_rows < LARGEST_OTHER
        return PrimalNewton(problem, features) if small else None
    return DualNewton(problem, features) if rows < LARGEST_OTHER else None


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
