"""The curvature of one problem's dual over the features that are in, and its Newton system.

With h = 1/ridge on the features that are in and 0 elsewhere, a step (dalpha, db, du) solves

    (Z h Z' + D) dalpha + V du + labels db  = rows      V = [ -Z h C' ; -thresholds ]
               -V'dalpha + inner du         = u         inner = curvature - C h C' + pi/u
         -labels'dalpha                     = b

Z h Z' is kept from step to step: only features that enter or leave are multiplied. While few
features are in, no matrix of the size of the rows is formed, but one of the size of the features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hipad.designs.base import Design, FloatArray
from hipad.solver.interior.elimination import cholesky, solve_cholesky
from hipad.solver.problem import Problem

FEW = 0.5  # share of the rows below which the features that are in are few


class Direction(NamedTuple):
    """A Newton step of one problem."""

    alpha: FloatArray
    b: float
    u: FloatArray


@dataclass(frozen=True)
class Inside:
    """The features that are in: their columns in the design, names, 1/ridge and coupling."""

    design: Design
    columns: np.ndarray
    names: np.ndarray
    h: FloatArray
    C: FloatArray


class Curvature:
    """One problem: its training rows, and Z h Z' over the features that were last in."""

    _over: FloatArray | None

    def __init__(self, problem: Problem, rows: np.ndarray) -> None:
        self.rows, self.y, self.stack = rows, problem.y[rows], problem.stack
        self._design, stack = problem.design, problem.stack
        self.labels = np.r_[self.y, stack.of_b]
        self._names = np.zeros(0, dtype=int)
        self._h = np.zeros(0)
        self._gram: FloatArray | None = None

    def factorize(self, inside: Inside, D: FloatArray, theta: FloatArray) -> None:
        """Prepare `solve` for these features and diagonals of rows and multipliers."""
        few = inside.names.size < FEW * self.rows.size
        hC, named = inside.h * inside.C, np.flatnonzero(inside.C.any(axis=0))
        inner = self.stack.curvature - hC @ inside.C.T + np.diag(theta)
        self._inner = cholesky(inner.copy())
        of_samples = -self._signed(inside.design, inside.columns[named]) @ hC[:, named].T
        self._V = np.vstack([of_samples, -self.stack.thresholds])
        if few:
            Z = self._signed(inside.design, inside.columns)
            self._factorize_features(Z, 1.0 / inside.h, inner, D)
        else:
            self._factorize_rows(inside, D)
        self._border = self._apply(self.labels)
        self._pivot = float(self.labels @ self._border)

    def solve(self, rows: FloatArray, b: float, u: FloatArray) -> Direction:
        """The step for these residuals."""
        first = self._apply(rows - self._V @ solve_cholesky(self._inner, u))
        db = (float(self.labels @ first) + b) / self._pivot
        alpha = first - db * self._border
        return Direction(alpha, db, solve_cholesky(self._inner, u + self._V.T @ alpha))

    def _factorize_features(
        self, Z: FloatArray, ridge: FloatArray, inner: FloatArray, D: FloatArray
    ) -> None:
        """D + U Q U' is inverted by a matrix of the size of Q = diag(1/ridge, inner^-1)."""
        n, k = Z.shape
        U = np.zeros((D.size, k + inner.shape[0]))
        U[:n, :k], U[:, k:] = Z, self._V
        self._D, self._over = D, U / D[:, None]
        small = U.T @ self._over
        small[np.arange(k), np.arange(k)] += ridge
        small[k:, k:] += inner
        self._factor = cholesky(small)

    def _factorize_rows(self, inside: Inside, D: FloatArray) -> None:
        n = self.rows.size
        M = np.zeros((D.size, D.size))
        if self._V.size:
            M += self._V @ solve_cholesky(self._inner, self._V.T)
        M[:n, :n] += self._updated(inside)
        M[np.diag_indices_from(M)] += D
        self._over, self._factor = None, cholesky(M)

    def _apply(self, r: FloatArray) -> FloatArray:
        """The inverse of Z h Z' + V inner^-1 V' + D, times r."""
        if self._over is None:
            return solve_cholesky(self._factor, r)
        return r / self._D - self._over @ solve_cholesky(self._factor, self._over.T @ r)

    def _updated(self, inside: Inside) -> FloatArray:
        """Z h Z', from what it was before."""
        _, old, new = np.intersect1d(
            self._names, inside.names, assume_unique=True, return_indices=True
        )
        left = np.delete(np.arange(self._names.size), old)
        came = np.delete(np.arange(inside.names.size), new)
        same = np.array_equal(self._h[old], inside.h[new])
        if self._gram is not None and same and left.size + came.size < inside.names.size:
            names = np.r_[inside.names[came], self._names[left]]
            change = self._product(names, np.r_[inside.h[came], -self._h[left]])
            self._gram = self._gram + change
        else:
            self._gram = self._product(inside.names, inside.h)
        self._names, self._h = inside.names, inside.h
        return self._gram

    def _product(self, names: np.ndarray, h: FloatArray) -> FloatArray:
        Z = self._signed(self._design, names)
        return (Z * h) @ Z.T

    def _signed(self, design: Design, columns: np.ndarray) -> FloatArray:
        return design.columns(columns)[self.rows] * self.y[:, None]
