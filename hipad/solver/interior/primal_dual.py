"""Points of the interior method: weights, intercept, and pairs whose products go to zero.

Every inequality of the problem has a vector x >= 0 and a multiplier z >= 0, and at the optimum one
of the two is zero. Between, both are positive; a step may go as far as that holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hipad.designs.base import FloatArray


class Pair(NamedTuple):
    """Two vectors whose entrywise product goes to zero."""

    x: FloatArray
    z: FloatArray

    @property
    def product(self) -> FloatArray:
        return self.x * self.z

    def moved(self, by: Pair, step: float) -> Pair:
        """The pair a step further in this direction."""
        return Pair(self.x + step * by.x, self.z + step * by.z)

    def room(self, by: Pair) -> float:
        """Longest step that keeps both vectors non-negative."""
        return min(_room(self.x, by.x), _room(self.z, by.z))


class Iterate(NamedTuple):
    """A primal-dual point: pairs (alpha, s), (t, xi), (u, pi), and w+ and w- where weights pay.

    A direction has the same form.
    """

    w: FloatArray
    b: float
    pairs: tuple[Pair, ...]

    @property
    def alpha(self) -> FloatArray:
        """Prices of the rows."""
        return self.pairs[0].x

    @property
    def u(self) -> FloatArray:
        """Multipliers of the rules."""
        return self.pairs[2].x

    @property
    def split(self) -> tuple[Pair, ...]:
        """The pairs of w+ and w-; empty where no weight pays."""
        return self.pairs[3:]

    @property
    def complementarity(self) -> float:
        """Mean product over all pairs."""
        return float(np.concatenate([pair.product for pair in self.pairs]).mean())

    def guess(self) -> tuple[FloatArray, FloatArray]:
        """Prices and multipliers, each put on its bound where the other of its pair is larger."""
        (alpha, s), (t, xi), (u, pi), *_ = self.pairs
        prices = alpha + t
        alpha = np.where(alpha < prices * s, 0.0, np.where(t < prices * xi, prices, alpha))
        return alpha, np.where(u > pi, u, 0.0)

    def room(self, by: Iterate, most: float) -> float:
        """Longest step, up to `most`, that keeps all pairs non-negative."""
        pairs = zip(self.pairs, by.pairs, strict=True)
        return min(most, *(pair.room(d) for pair, d in pairs))

    def moved(self, by: Iterate, step: float) -> Iterate:
        """The point a step further in this direction."""
        pairs = tuple(pair.moved(d, step) for pair, d in zip(self.pairs, by.pairs, strict=True))
        return Iterate(self.w + step * by.w, self.b + step * by.b, pairs)


def _room(x: FloatArray, dx: FloatArray) -> float:
    shrinking = dx < 0
    return float(np.min(-x[shrinking] / dx[shrinking], initial=np.inf))
