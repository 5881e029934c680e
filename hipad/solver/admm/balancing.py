"""Penalties of the ADMM: a first guess from the data, then balance by what the residuals say.

The speed of ADMM depends a hundredfold on the penalties. Each split has its own, and it is right
when the split's relative primal and dual residuals fall together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.admm.penalties import Penalties
from hipad.solver.problem import Problem

REACH = 1e5  # how far a penalty may move from its first value
FLOOR = 0.1  # the copy or the multiplier of a split may vanish; the other then sets the scale

Pair = tuple[float, float]


@dataclass(frozen=True)
class Residuals:
    """Relative (primal, dual) residual of each split."""

    hinge: Pair
    w: Pair
    slack: Pair
    u: Pair

    @property
    def primal(self) -> float:
        """The largest over all splits: how far copies are from what they copy."""
        return max(self.hinge[0], self.w[0], self.slack[0], self.u[0])

    @property
    def dual(self) -> float:
        """The largest over all splits: how far multipliers still move."""
        return max(self.hinge[1], self.w[1], self.slack[1], self.u[1])


def relative(
    image: FloatArray, copy: FloatArray, step: FloatArray, multiplier: FloatArray, mu: float
) -> Pair:
    """Relative primal residual |image - copy| and dual residual |mu step| of one split."""
    if copy.size == 0:
        return 0.0, 0.0
    residual, moved = float(np.linalg.norm(image - copy)), mu * float(np.linalg.norm(step))
    scale = max(float(np.linalg.norm(image)), float(np.linalg.norm(copy)))
    return scaled_pair(residual, moved, scale, float(np.linalg.norm(multiplier)), mu)


def scaled_pair(residual: float, moved: float, scale: float, price: float, mu: float) -> Pair:
    """Residuals relative to the size of the copy and of the multiplier."""
    size = max(scale, FLOOR * price / mu, 1e-300)
    return residual / size, moved / max(price, FLOOR * mu * scale, 1e-300)


def starting_penalties(problem: Problem) -> Penalties:
    """Scale each penalty to what it meets: sample weights, ridge, curvature of the rules.

    Of the choices tried on ksvm-s these settle the support first, mostly within ten sweeps.
    """
    stack = problem.stack
    curvature = float(np.mean(np.diag(stack.curvature))) if stack.n_rows else 1.0
    thresholds = float(np.mean(stack.d**2)) if stack.n_rows else 1.0
    u = (curvature or 1.0) / 3
    # not above the samples' own curvature in b: a threshold near zero would freeze the slack
    slack = min(u / max(thresholds, 1e-12), 1.0)
    return Penalties(hinge=1 / problem.n_samples, w=problem.ridge_off, slack=slack, u=u)


def balanced(
    mu: Penalties, residuals: Residuals, first: Penalties, tolerance: float = 5.0
) -> Penalties:
    """Penalties moved towards equal residuals; unchanged where they are within the tolerance.

    They stay within reach of the first ones. A split that has nothing left to say (an equality, a
    constant column) would else take its penalty to zero, and with it the factorisation.
    """

    def moved(name: str) -> float:
        value, (primal, dual) = getattr(mu, name), getattr(residuals, name)
        if primal <= tolerance * dual and dual <= tolerance * primal:
            return float(value)
        value = value * np.clip(np.sqrt(primal / max(dual, 1e-300)), 0.1, 10.0)
        start = getattr(first, name)
        return float(np.clip(value, start / REACH, start * REACH))

    return Penalties(hinge=moved("hinge"), w=moved("w"), slack=moved("slack"), u=moved("u"))
