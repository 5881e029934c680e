"""The Newton system of the interior point, and how a solution of it is made exact.

Unknowns (dw, db, du, dalpha), with k weights, K multipliers of rules and N + R rows:

    ridge' dw + C'du - Z'dalpha_N                 = r_w        ridge' = ridge (+ phi of the prices)
    C dw + (curvature + pi/u) du + d dalpha_R     = r_u
    - labels'dalpha                               = r_b
    A (dw, db, du) + D dalpha                     = r_rows     D = s/alpha + xi/t

Where a weight is split, w = w+ - w-, its parts are eliminated first: phi = 1/(w+/z+ + w-/z-), with
the parts that are there.

What is left is solved in one of two forms (elimination.py). The solution is then refined on the
system above, which undoes what elimination lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.interior.lifted import Lifted
from hipad.solver.interior.signed_parts import spread


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
        """This step and another one on top of it; the parts are found afterwards."""
        return Step(self.w + by.w, self.b + by.b, self.u + by.u, self.alpha + by.alpha)


class Newton(Lifted):
    """What all ways to solve the system share: the split of |w| and the refinement."""

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


def largest(*parts: FloatArray | float) -> float:
    """Largest absolute value in any of the parts."""
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)
