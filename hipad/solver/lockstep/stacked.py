"""The Newton systems of many small problems, solved as one stack of matrices.

Python's own time would be most of it, were small problems solved one by one (curvature.py, which
says what is solved). A row that a problem may not see has a system of its own: the number one.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.lockstep.stage import Stage
from hipad.solver.lockstep.standing import Direction
from hipad.solver.problem import Problem

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
        self, stage: Stage, h: FloatArray, D: FloatArray, theta: FloatArray, left: np.ndarray
    ) -> np.ndarray:
        """Prepare `solve`; which problems rounding lets go no further."""
        kept = np.flatnonzero(h[:, left].any(axis=1))
        self._here = self._seen[:, left].T
        labels = self._labels * self._here
        h, C = h[np.ix_(kept, left)].T, stage.C[:, kept]
        self._D = np.where(self._here, D[:, left].T, 1.0)
        Z = stage.signed(kept).T
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

    def solve(self, rows: FloatArray, b: FloatArray, u: FloatArray) -> Direction:
        """The steps for these residuals; one row a problem."""
        first = self._apply(rows - _times(self._V, _solved(self._inner, u)))
        db = (np.sum(self._labels_here * first, axis=1) + b) / self._pivot
        alpha = first - db[:, None] * self._border
        du = _solved(self._inner, u + _times(np.swapaxes(self._V, 1, 2), alpha))
        return Direction(alpha, db, du)

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
