"""The curvature of one problem's dual over the features that are in, and its Newton system.

With h = 1/ridge on the features that are in and 0 elsewhere, a step (dalpha, db, du) solves

    (Z h Z' + D) dalpha + V du + labels db  = rows      V = [ -Z h C' ; -thresholds ]
               -V'dalpha + inner du         = u         inner = curvature - C h C' + pi/u
         -labels'dalpha                     = b

Z h Z' is kept from step to step: only features that enter or leave are multiplied. While few
features are in, no matrix of the size of the rows is formed, but one of the size of the features.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.interior.elimination import cholesky, solve_cholesky
from hipad.solver.lockstep.stage import Stage
from hipad.solver.lockstep.standing import Direction
from hipad.solver.problem import Problem

FEW = 0.5  # share of the rows below which the features that are in are few
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

    def factorize(self, stage: Stage, h: FloatArray, D: FloatArray, theta: FloatArray) -> None:
        """Prepare `solve` for 1/ridge of features and the diagonals of rows and multipliers."""
        kept = np.flatnonzero(h)
        C, h = stage.C[:, kept], h[kept]
        named = np.flatnonzero(C.any(axis=0))
        hC = h[named] * C[:, named]
        inner = self.stack.curvature - hC @ C[:, named].T + np.diag(theta)
        self._inner = cholesky(inner.copy())
        self._V = np.vstack([-self._seen(stage, kept[named]).T @ hC.T, -self.stack.thresholds])
        if kept.size < FEW * self.rows.size:
            self._factorize_features(self._seen(stage, kept).T, 1.0 / h, inner, D)
        else:
            self._factorize_rows(stage, kept, h, D)
        self._border = self._apply(self.labels)
        self._pivot = float(self.labels @ self._border)

    def solve(self, rows: FloatArray, b: float, u: FloatArray) -> Direction:
        """The step for these residuals."""
        first = self._apply(rows - self._V @ solve_cholesky(self._inner, u))
        db = (self.labels @ first + b) / self._pivot
        alpha = first - db * self._border
        return Direction(alpha, db, solve_cholesky(self._inner, u + self._V.T @ alpha))

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

    def _factorize_rows(self, stage: Stage, kept: np.ndarray, h: FloatArray, D: FloatArray) -> None:
        n = self.rows.size
        M = np.zeros((D.size, D.size))
        if self._V.size:
            M += self._V @ solve_cholesky(self._inner, self._V.T)
        M[:n, :n] += self._updated(stage, kept, h)
        M[np.diag_indices_from(M)] += D
        self._half, self._factor = None, cholesky(M)

    def _apply(self, r: FloatArray) -> FloatArray:
        """The inverse of Z h Z' + V inner^-1 V' + D, times r."""
        if self._half is None:
            return solve_cholesky(self._factor, r)
        r = self._root * r
        return self._root * (r - self._half @ solve_cholesky(self._factor, self._half.T @ r))

    def _updated(self, stage: Stage, kept: np.ndarray, h: FloatArray) -> FloatArray:
        """Z h Z', from what it was before where that is less work."""
        if kept.size * self.rows.size**2 < LITTLE:
            self._gram = None
            return self._product(stage, kept, h)
        names = stage.names[kept]
        _, old, new = np.intersect1d(self._names, names, assume_unique=True, return_indices=True)
        left = np.delete(np.arange(self._names.size), old)
        came = np.delete(np.arange(names.size), new)
        gone = np.searchsorted(stage.names, self._names[left])
        known = np.array_equal(stage.names[gone % stage.names.size], self._names[left])
        same = known and np.array_equal(self._h[old], h[new])
        if self._gram is not None and same and left.size + came.size < names.size:
            joined = self._product(stage, kept[came], h[came])
            self._gram = self._gram + joined - self._product(stage, gone, self._h[left])
        else:
            self._gram = self._product(stage, kept, h)
        self._names, self._h = names, h
        return self._gram

    def _product(self, stage: Stage, at: np.ndarray, h: FloatArray) -> FloatArray:
        Z = self._seen(stage, at)
        Z *= np.sqrt(h)[:, None]
        return Z.T @ Z

    def _seen(self, stage: Stage, at: np.ndarray) -> FloatArray:
        return stage.signed(at)[:, self.rows]
