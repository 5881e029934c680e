"""Weights that pay for their sign, as differences of two parts: w = w+ - w-, both >= 0.

The price is then linear: up on w+, down on w-. A part whose price is infinite is not there, so a
weight with one forbidden sign has one part; a weight that pays nothing has none and stays as it is.
Each part has a multiplier z, which is what the pull on the feature lacks to its price:

    gradient of the rest = z+ - up = down - z-

The parts of all features are two pairs (w+, z+) and (w-, z-) of vectors, or none at all where no
weight pays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.interior.primal_dual import Pair
from hipad.solver.prices import SignPrices

SIGNS = (1.0, -1.0)  # of w+ and w- in w
NONE = np.zeros(0)


class SignedParts:
    """Which features have a part w+, which a part w-: the two masks in `sides`, or no mask."""

    def __init__(self, limits: SignPrices) -> None:
        self.limits = limits
        paying = ~limits.free
        parts = tuple(paying & np.isfinite(price) for price in limits)
        self.sides = parts if paying.any() else ()

    def start(self, size: float, level: float) -> list[Pair]:
        """Both parts at the same size, multipliers at their prices (`level` where that is zero)."""
        pairs = []
        for side, price in zip(self.sides, self.limits, strict=False):
            z = np.where(price[side] > 0, price[side], level)
            pairs.append(Pair(np.full(z.size, size), z))
        return pairs

    def near(self, w: FloatArray, least: float, level: float) -> list[Pair]:
        """The parts of known weights, each at least `least`, and multipliers of product `level`."""
        pairs = []
        for side, sign in zip(self.sides, SIGNS, strict=False):
            x = np.maximum(sign * w[side], least)
            pairs.append(Pair(x, level / x))
        return pairs

    def lacking_weights(self, w: FloatArray, split: Sequence[Pair]) -> FloatArray:
        """What is missing in w = w+ - w-."""
        if not split:
            return NONE
        plus, minus = (spread(pair.x, side) for side, pair in self._own(split))
        return np.where(self.limits.free, 0.0, plus - minus - w)

    def lacking_prices(self, gradient: FloatArray, split: Sequence[Pair]) -> tuple[FloatArray, ...]:
        """What is missing in: the gradient of each part of w is its multiplier less its price."""
        terms = zip(self.sides, self.limits, SIGNS, split, strict=False)
        return tuple(
            pair.z - price[side] - sign * gradient[side] for side, price, sign, pair in terms
        )

    def ratios(self, split: Sequence[Pair]) -> tuple[FloatArray, ...]:
        """w+/z+ and w-/z- on all features, zero where there is no such part."""
        return tuple(spread(pair.x / pair.z, side) for side, pair in self._own(split))

    def weights(self, w: FloatArray, split: Sequence[Pair], ridge: FloatArray) -> FloatArray:
        """The weights, and exactly zero for those whose price holds them there."""
        if not split:
            return w
        (plus, z_plus), (minus, z_minus) = (
            [spread(values, side) for values in pair] for side, pair in self._own(split)
        )
        kept = (ridge * plus > z_plus) | (ridge * minus > z_minus)
        return np.where(self.limits.free, w, np.where(kept, plus - minus, 0.0))

    def _own(self, split: Sequence[Pair]) -> Iterator[tuple[np.ndarray, Pair]]:
        return zip(self.sides, split, strict=True)


def spread(values: FloatArray, where: np.ndarray) -> FloatArray:
    """The values at the places that `where` marks, zero elsewhere."""
    full = np.zeros(where.size)
    full[where] = values
    return full
