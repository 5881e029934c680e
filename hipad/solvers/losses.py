"""The losses of a sample: one table; value, dual, conjugate and proximal step of each.

A sample of weight p whose margin falls short by r = 1 - y (x'w + b) costs p l(r). All solvers work
with the dual form of a convex piecewise linear-quadratic loss (Rockafellar and Wets, 11.18), with
U = p upper and q = curvature / p:

    p l(r) = max over 0 <= alpha <= U of   alpha r - q alpha^2 / 2

so two numbers say all: `upper` bounds the dual variable of a sample of weight one, and `curvature`
is that of the conjugate.

                     l(r)                      upper      curvature
    hinge            max(r, 0)                 1          0
    squared hinge    max(r, 0)^2               infinity   1/2

What follows from them, with the projection onto [0, U] written as clip:

    dual          alpha(r) = clip(r / q)       (where q = 0: U if r > 0, else 0)
    conjugate     q alpha^2 / 2 on [0, U], infinite elsewhere
    prox          minimises p l(v) + (v - h)^2 / (2 t): v = h - t clip(h / (t + q))
    optimality    r - q alpha is zero where 0 < alpha < U, at most zero where alpha = 0, and at
                  least zero where alpha = U

The slack of a rule costs sigma (slack)_+, the hinge, whatever the loss of the samples.
"""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

import numpy as np

from hipad.utils import FloatArray

SMALLEST_WEIGHT = 1e-14  # weights of samples sum to one: one of less moves no objective


class Loss:
    """A piecewise linear-quadratic loss; a subclass says what tells it from the others.

    Attributes
    ----------
    name : str
        What `HIPADClassifier(loss=...)` calls it.
    words : str
        What it is, to a reader.
    upper : float
        Largest dual variable of a sample of weight one; infinity where there is no bound.
    curvature : float
        Second derivative of the conjugate for a sample of weight one.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    upper: ClassVar[float]
    curvature: ClassVar[float]

    def upper_bounds(self, p: FloatArray) -> FloatArray:
        """Return the largest dual variable of each sample."""
        return self.upper * p if np.isfinite(self.upper) else np.full_like(p, np.inf)

    def curvatures(self, p: FloatArray) -> FloatArray:
        """Return the curvature of the conjugate at each sample."""
        return self.curvature / np.maximum(p, SMALLEST_WEIGHT)

    def dual(self, r: FloatArray, p: FloatArray) -> FloatArray:
        """Return the dual variables that attain the loss: its derivative in r (zero at a kink)."""
        bounds = self.upper_bounds(p)
        if self.curvature == 0:
            return np.where(r > 0, bounds, 0.0)
        return np.clip(r / self.curvatures(p), 0.0, bounds)

    def value(self, r: FloatArray, p: FloatArray) -> FloatArray:
        """Return p l(r) of each sample."""
        alpha = self.dual(r, p)
        return alpha * (r - 0.5 * self.curvatures(p) * alpha)

    def conjugate(self, alpha: FloatArray, p: FloatArray) -> FloatArray:
        """Return the conjugate of each sample's loss; infinite outside the bounds."""
        inside = (alpha >= 0) & (alpha <= self.upper_bounds(p))
        return np.where(inside, 0.5 * self.curvatures(p) * alpha**2, np.inf)

    def fenchel_gap(self, r: FloatArray, alpha: FloatArray, p: FloatArray) -> FloatArray:
        """Return p l(r) + conjugate(alpha) - alpha r, which is zero where alpha is optimal.

        Computed without cancellation; alpha must keep its bounds.
        """
        best, q = self.dual(r, p), self.curvatures(p)
        return (r - q * best) * (best - alpha) + 0.5 * q * (best - alpha) ** 2

    def prox(self, h: FloatArray, p: FloatArray, step: float) -> FloatArray:
        """Return the minimiser of p l(v) + (v - h)^2 / (2 step)."""
        return self.proximal_step(h, np.zeros_like(h), 1.0 / step, p)[0]

    def proximal_step(
        self, h: FloatArray, g: FloatArray, mu: float, p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the copy and the multiplier of one ADMM step (penalty mu, multiplier g).

        By Moreau's identity the multiplier is the prox of the conjugate: a projection.
        """
        moved = g + mu * h
        multiplier = np.clip(moved / (1.0 + mu * self.curvatures(p)), 0.0, self.upper_bounds(p))
        return (moved - multiplier) / mu, multiplier


class Hinge(Loss):
    """max(r, 0): every sample short of its margin counts by how short it is."""

    name, words = "hinge", "hinge: max(0, 1 - margin)"
    upper, curvature = 1.0, 0.0


class SquaredHinge(Loss):
    """max(r, 0)^2: samples far short of their margin count more."""

    name, words = "squared_hinge", "squared hinge: max(0, 1 - margin) squared"
    upper, curvature = np.inf, 0.5


class RowLosses(NamedTuple):
    """The losses of all rows of a problem: its samples, then its rules, whose slack has the hinge.

    `weights` are p and sigma, the natural size of a dual variable; `upper` bounds it, and
    `curvature` is that of its conjugate.
    """

    weights: FloatArray
    upper: FloatArray
    curvature: FloatArray

    @classmethod
    def of(cls, loss: Loss, p: FloatArray, sigma: FloatArray) -> RowLosses:
        """Samples of weights p with this loss, and rules of weights sigma."""
        return cls(
            np.concatenate([p, sigma]),
            np.concatenate([loss.upper_bounds(p), sigma]),
            np.concatenate([loss.curvatures(p), np.zeros_like(sigma)]),
        )

    @property
    def bounded(self) -> np.ndarray:
        """Where the dual variable has an upper bound."""
        return np.isfinite(self.upper)

    def conjugate(self, alpha: FloatArray) -> float:
        """Return the sum of conjugates at dual variables that keep their bounds."""
        return 0.5 * float(self.curvature @ alpha**2)


HINGE: Final = Hinge()
# The one table of losses: what `loss=` may be.
LOSSES: Final[dict[str, Loss]] = {loss.name: loss for loss in (HINGE, SquaredHinge())}
