"""What the ADMM and its feature sides share: penalties, results of a step, the (b, u) corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor

from hipad.designs.base import FloatArray
from hipad.solver.problem import Problem


@dataclass(frozen=True)
class Penalties:
    """One penalty for each split: a (hinge), c (w), q (rule slack), t (u >= 0).

    They are the paper's mu1, mu2, mu3 = mu4 and mu5 = mu6.
    """

    hinge: float
    w: float
    slack: float
    u: float


@dataclass(frozen=True)
class FirstBlock:
    """Outcome of the joint step in (w, b, u); f = Xw + be, w stays with the feature side."""

    f: FloatArray
    b: float
    u: FloatArray


@dataclass(frozen=True)
class Shift:
    """How the sparse copy c moved in one sweep.

    `primal` is |w - c|, `change` is |c - c_old|, `norm` is |c|, `multiplier` is |gamma2|.
    """

    entered: np.ndarray
    left: np.ndarray
    flipped: int
    primal: float
    change: float
    norm: float
    multiplier: float


class FeatureSide(Protocol):
    """The part of an ADMM sweep that knows the features."""

    mu: Penalties

    @property
    def passes(self) -> int:
        """How often all of X was read."""

    def set_penalties(self, mu: Penalties) -> None:
        """Take other penalties."""

    def solve(self, v: FloatArray, r_b: float, r_u: FloatArray) -> FirstBlock:
        """Minimise the Lagrangian over (w, b, u); keeps w."""

    def shrink(self, omega: float) -> Shift:
        """Second block on the features: new c and gamma2; tells what moved."""

    def scores(self) -> FloatArray:
        """X c, without the intercept."""

    def support(self) -> tuple[np.ndarray, FloatArray]:
        """Indices of the non-zero features and their weights."""

    def adopt(self, previous: FeatureSide) -> None:
        """Start from the features of an earlier fit of the same data."""

    def full(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(w, c, gamma2) on every feature."""


def factorised(system: FloatArray) -> tuple[FloatArray, bool]:
    """The Cholesky factor of a positive definite matrix, for `cho_solve`; its diagonal may change.

    Columns that are constant to the last digits leave it singular after rounding. A trace of a
    ridge then makes up for what rounding took; the certificate tells how far the result is.
    """
    kept, trace = np.diag(system).copy(), 0.0
    while True:
        try:
            return cho_factor(system, lower=True, check_finite=False)
        except LinAlgError:
            if trace > 1e-6:
                raise
            trace = max(100.0 * trace, 1e-15)
            np.fill_diagonal(system, kept * (1.0 + trace))


def corner_matrix(problem: Problem, mu: Penalties) -> FloatArray:
    """The (b, u) corner of the Lagrangian's Hessian."""
    stack = problem.stack
    corner = np.empty((1 + stack.n_rows, 1 + stack.n_rows))
    corner[0, 0] = mu.hinge * problem.n_samples + mu.slack * float(stack.of_b @ stack.of_b)
    corner[0, 1:] = corner[1:, 0] = -mu.slack * (stack.of_b @ stack.thresholds)
    corner[1:, 1:] = stack.curvature + mu.slack * stack.thresholds.T @ stack.thresholds
    corner[1:, 1:] += mu.u * np.eye(stack.n_rows)
    return corner
