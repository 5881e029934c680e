"""The conditions of optimality once the active sets are known: a linear system.

Unknown are the weights w of the features that are in, the prices alpha of the rows on their margin,
the intercept b and the multipliers u that are positive. With h = 1/ridge,

    ridge w + C'u - Z'alpha          = forced       rows at full price, and the signed lambda1
    Z w + labels b - d u             = 1
    labels'alpha                     = balance      what rows at full price leave
    C w + curvature u + d'alpha      = -linear

w is eliminated, and then the solution is refined on the conditions above, w included. With data of
large numbers w is a small difference of large pulls: without the refinement margins would be
missed by what is lost in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dsytrf, dsytrs

from hipad.designs.base import FloatArray
from hipad.solver.interior.newton import largest

SHARED = 1e-9
REFINEMENTS = 5


@dataclass(frozen=True)
class KktSystem:
    """Z, d and labels of the rows, ridge of the features, C and curvature of the multipliers.

    `gram` is Z Z' where it is at hand; the ridge must then be the same for all features.
    """

    Z: FloatArray
    C: FloatArray
    d: FloatArray
    labels: FloatArray
    ridge: FloatArray
    curvature: FloatArray
    gram: FloatArray | None = None

    def solve(
        self, forced: FloatArray, balance: float, linear: FloatArray
    ) -> tuple[FloatArray, FloatArray, float, FloatArray] | None:
        """(w, alpha, b, u) for what rows at full price add; None where the system is singular."""
        matrix = self._matrix()
        size = np.max(np.abs(matrix), axis=1)
        if not (size > 0).all():
            return None
        scale = 1.0 / np.sqrt(size)
        r = self.labels.size
        scaled = scale[:, None] * matrix * scale
        # equal rows, or conditions that repeat each other: of their prices any share is as good
        scaled[np.diag_indices(r)] += SHARED
        scaled[np.diag_indices(scale.size)] -= SHARED * (np.arange(scale.size) > r)
        factor, pivots, info = dsytrf(scaled, lower=1, lwork=64 * scale.size, overwrite_a=1)
        w, x = np.zeros(self.ridge.size), np.zeros(scale.size)
        in_w, lack = self._lack(w, x, forced, balance, linear)
        left = largest(lack)
        for _ in range(REFINEMENTS if info == 0 else 0):
            step = scale * dsytrs(factor, pivots, scale * lack, lower=1)[0]
            w = w + (in_w + self.Z.T @ step[:r] - self.C.T @ step[r + 1 :]) / self.ridge
            x = x + step
            in_w, lack = self._lack(w, x, forced, balance, linear)
            before, left = left, largest(lack)
            if not left > 1e-16 or (left >= before and left < 1e-14):  # all that rounding lets
                break
        if info != 0 or not largest(lack) <= 1e-9:
            return None
        return w, x[:r], float(x[r]), x[r + 1 :]

    def _matrix(self) -> FloatArray:
        r = self.labels.size
        matrix = np.zeros((r + 1 + self.C.shape[0],) * 2)
        if self.gram is not None:
            matrix[:r, :r] = self.gram / self.ridge[0]
        elif self.ridge.size and not np.ptp(self.ridge):  # half the work, and no copy of Z
            matrix[:r, :r] = self.Z @ self.Z.T / self.ridge[0]
        else:
            matrix[:r, :r] = (self.Z / self.ridge) @ self.Z.T
        matrix[:r, r] = matrix[r, :r] = self.labels
        # without a sample on its margin nothing holds the intercept: it is chosen afterwards
        matrix[r, r] = float(not self.labels.any())
        matrix[:r, r + 1 :] = -(self.Z @ (self.C / self.ridge).T + self.d)
        matrix[r + 1 :, :r] = matrix[:r, r + 1 :].T
        matrix[r + 1 :, r + 1 :] = (self.C / self.ridge) @ self.C.T - self.curvature
        return matrix

    def _lack(
        self, w: FloatArray, x: FloatArray, forced: FloatArray, balance: float, linear: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """What is missing in the condition on w, and in the others once w is eliminated."""
        r = self.labels.size
        alpha, b, u = x[:r], x[r], x[r + 1 :]
        in_w = forced + self.Z.T @ alpha - self.C.T @ u - self.ridge * w
        in_rows = 1.0 - (self.Z @ w + self.labels * b - self.d @ u)
        in_b = balance - float(self.labels @ alpha) if self.labels.any() else 0.0
        in_u = linear + self.C @ w + self.curvature @ u + self.d.T @ alpha
        h = in_w / self.ridge
        return in_w, np.concatenate((in_rows - self.Z @ h, [in_b], in_u + self.C @ h))
