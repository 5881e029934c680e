"""What each feature pays for a weight: lambda1, unless more is known of it.

A weight costs up w where it is positive and down |w| where it is negative. Without knowledge both
are lambda1. A price of infinity forbids the sign, a price of zero lets the feature in for nothing:

    never negative   up = lambda1, down = inf         never positive   the other way round
    kept out         up = down = inf                  without price    up = down = 0

Everything that solvers ask of |w| follows from the two numbers. A feature stays out while its pull
lies within [-down, up], and the best weight for a pull is what exceeds them, over the ridge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hipad.designs.base import FloatArray


class SignPrices(NamedTuple):
    """Prices of a positive and of a negative weight, feature by feature."""

    up: FloatArray
    down: FloatArray

    @property
    def free(self) -> np.ndarray:
        """Where any weight costs nothing."""
        return (self.up == 0) & (self.down == 0)

    def over(self, pull: FloatArray) -> FloatArray:
        """By how much each pull exceeds what it must to let its feature in."""
        return np.maximum(pull - self.up, -pull - self.down)

    def shrink(self, pull: FloatArray) -> FloatArray:
        """What a pull leaves after its price: the soft threshold, where both prices are equal."""
        return np.maximum(pull - self.up, 0.0) - np.maximum(-pull - self.down, 0.0)

    def cost(self, w: FloatArray) -> float:
        """The sum of prices; infinite where a sign is forbidden."""
        price = np.where(w > 0, self.up, self.down)
        return float(price[w != 0] @ np.abs(w[w != 0]))

    def allowed(self, w: FloatArray) -> FloatArray:
        """The weights, with zero where their sign is forbidden."""
        forbidden = np.isinf(np.where(w > 0, self.up, self.down))
        return np.where(forbidden, 0.0, w)


def _nothing() -> FloatArray:
    return np.zeros(0)


def _nobody() -> np.ndarray:
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class FeaturePrices:
    """The few features (sorted) whose prices are not lambda1, in multiples of it."""

    features: np.ndarray = field(default_factory=_nobody)
    up: FloatArray = field(default_factory=_nothing)
    down: FloatArray = field(default_factory=_nothing)

    @cached_property
    def free(self) -> np.ndarray:
        """Features that are always in: any weight costs nothing."""
        return self.features[(self.up == 0) & (self.down == 0)]

    @cached_property
    def costless(self) -> np.ndarray:
        """Features that some weight costs nothing: they may be in at every lambda1."""
        return self.features[(self.up == 0) | (self.down == 0)]

    @cached_property
    def barred(self) -> np.ndarray:
        """Features that are never in: no weight is allowed."""
        return self.features[np.isinf(self.up) & np.isinf(self.down)]

    def at(self, features: np.ndarray, lambda1: float) -> SignPrices:
        """The prices of some features (any order)."""
        up, down = np.full(len(features), lambda1), np.full(len(features), lambda1)
        if self.features.size:
            place = np.minimum(np.searchsorted(self.features, features), self.features.size - 1)
            own = np.flatnonzero(self.features[place] == features)
            up[own] = _times(lambda1, self.up[place[own]])
            down[own] = _times(lambda1, self.down[place[own]])
        return SignPrices(up, down)

    def over(self, pull: FloatArray, lambda1: float) -> FloatArray:
        """By how much the pull on every feature exceeds its price."""
        over = np.abs(pull) - lambda1
        if self.features.size:
            over[self.features] = self.at(self.features, lambda1).over(pull[self.features])
        return over

    def needed(self, pull: FloatArray) -> FloatArray:
        """The lambda1 that holds every feature out against its pull; infinite where none does.

        A matrix of pulls has one column a problem.
        """
        needed = np.abs(pull)
        if self.features.size:
            own, shape = pull[self.features], (-1, *[1] * (pull.ndim - 1))
            with np.errstate(divide="ignore", invalid="ignore"):
                up, down = own / self.up.reshape(shape), -own / self.down.reshape(shape)
            needed[self.features] = np.maximum(np.nan_to_num(np.fmax(up, down), posinf=np.inf), 0.0)
        return needed


def _times(lambda1: float, factor: FloatArray) -> FloatArray:
    """lambda1 times the factor; infinity stays, even where lambda1 is zero."""
    return np.where(np.isinf(factor), np.inf, lambda1 * np.where(np.isinf(factor), 0.0, factor))
