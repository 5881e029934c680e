"""The values of lambda1 and lambda2 that an automatic choice tries."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from hipad.designs.base import FloatArray
from hipad.designs.scaling import column_moments
from hipad.estimator.choosing.posing import Posing

N_STEPS = 9
FIRST, SMALLEST = 0.7, 0.01  # the path goes between these fractions of lambda1_max,
WIDENING = 1.25  # in steps that grow: among sparse models large ones would miss the best
ABOVE = 2.0  # factor between values above the path, at which only features of rules are in
RIDGES = (10.0, 1.0, 0.1)  # lambda2, in units of the mean variance of a column


class TriedValues:
    """What is tried for one fit."""

    def __init__(self, posing: Posing) -> None:
        self.posing = posing

    @property
    def ridges(self) -> list[float]:
        """The values of lambda2 to try."""
        given = self.posing.plan.lambda2
        if not isinstance(given, str):
            return [given]
        return [rounded(ridge * self.unit) for ridge in RIDGES]

    def lambda1(self) -> tuple[FloatArray, float]:
        """Values of lambda1 from large to small, and from which on they are judged."""
        data_alone = self.posing.largest_lambda1
        largest = max(data_alone, self.posing.first_lambda1)
        given = self.posing.plan.lambda1
        if isinstance(given, str):
            path = widening(FIRST * data_alone, SMALLEST * data_alone)
            grid = np.r_[values_above(FIRST * largest, path[0]), path]
            return np.array([rounded(value) for value in grid]), np.inf
        return approach(largest, given), given

    @property
    def spacing(self) -> FloatArray:
        """How far one value lies from the next, as logarithms of lambda1 and lambda2."""
        return np.array([-np.log(SMALLEST) / N_STEPS, np.log(RIDGES[0] / RIDGES[1])])

    @cached_property
    def unit(self) -> float:
        """The mean variance of a column."""
        data = self.posing.data
        if data.design.scale is not None:
            return 1.0
        deviation = column_moments(data.X, data.weights)[1]
        return float(np.mean(deviation**2)) or 1.0


def widening(first: float, last: float) -> FloatArray:
    """Falling values, each by a larger factor than the one before.

    >>> widening(0.7, 0.01).round(3).tolist()
    [0.7, 0.51, 0.33, 0.201, 0.117, 0.066, 0.036, 0.019, 0.01]
    """
    way = np.linspace(0.0, 1.0, N_STEPS) ** WIDENING
    values: FloatArray = first * (last / first) ** way
    return values


def values_above(largest: float, first: float) -> FloatArray:
    """Return falling values between the largest and the first one of a path, without that one.

    >>> values_above(2.0, 0.5).tolist(), values_above(0.5, 0.5).tolist()
    ([2.0, 1.0], [])
    """
    count = int(np.ceil(np.log(max(largest / first, 1.0)) / np.log(ABOVE) - 1e-9))
    return np.geomspace(largest, first, count + 1)[:-1]


def approach(largest: float, value: float) -> FloatArray:
    """Some values on the way from the largest lambda1 down to a given one."""
    first = max(largest, value, 1e-300)
    steps = np.geomspace(first, max(value, 1e-2 * first), 5)[1:-1]
    return np.r_[steps[steps > value], value]


def rounded(value: float) -> float:
    """To two digits: further ones hang on the order of rows and columns."""
    return float(f"{value:.2g}")
