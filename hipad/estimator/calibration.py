"""Calibration: keep the direction of a model, choose its scale and intercept on training scores.

Stiff rules shrink w until every sample sits inside its margin; the hinge is then linear and the
intercept hardly determined. Class means at +1 and -1 fix both: the decision value then reads "+1 is
the average positive training patient, -1 the average negative one".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from hipad.designs.base import FloatArray

APART: Final = 1e-6  # of the scores' spread: class means that are nearer tell nobody apart


@dataclass(frozen=True)
class Calibration:
    """score -> factor * score + offset, where score is w'x without the intercept."""

    factor: float
    offset: float


def class_means_at_one(
    scores: FloatArray, y: FloatArray, weights: FloatArray, b: float
) -> Calibration:
    """Put the mean score of each class at its label.

    Where the direction does not separate the classes (w = 0, or rules that contradict the data)
    there is nothing to calibrate and the model's own intercept b stays.

    >>> class_means_at_one(np.array([1.0, 3.0]), np.array([-1.0, 1.0]), np.ones(2), 0.0)
    Calibration(factor=1.0, offset=-2.0)
    """
    means = class_means(scores, y, weights)
    if means is None:
        return Calibration(1.0, b)
    low, high = means
    factor = 2.0 / (high - low)
    return Calibration(factor, -0.5 * factor * (high + low))


def class_means(
    scores: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[float, float] | None:
    """The mean scores of the classes -1 and +1; None where they are not apart in this order.

    Rounding keeps the means of equal classes apart by a hair, and to divide by that would make
    scores of any size. So their distance is held against the distance of the rows from the middle.

    >>> class_means(np.array([1.0, 3.0]), np.array([-1.0, 1.0]), np.ones(2))
    (1.0, 3.0)
    >>> class_means(np.array([1e-18, 0.0, 1e-34, 1e-18]), np.array([-1, -1, 1, 1]), np.ones(4))
    """
    low, high = (float(np.average(scores[y == s], weights=weights[y == s])) for s in (-1.0, 1.0))
    spread = float(np.average(np.abs(scores - 0.5 * (low + high)), weights=weights))
    least = max(APART * spread, 1e-12 * max(abs(high), abs(low), 1e-300))
    return (low, high) if high - low > least else None


def least_hinge_offset(
    scores: FloatArray, y: FloatArray, p: FloatArray, factor: float
) -> Calibration:
    """Keep the scale, put the intercept where the hinge loss weighted by p is least.

    For classes that are not to count alike: the middle between the class means would ignore their
    weights, or how many patients each has. The loss is convex and piecewise linear in the offset,
    with a break where a row meets its margin; its slope grows by p_j at each break, from -(p of
    positives).

    >>> least_hinge_offset(np.array([1.0, 3.0]), np.array([-1.0, 1.0]), np.array([0.9, 0.1]), 1.0)
    Calibration(factor=1.0, offset=-2.0)
    """
    breaks = y - factor * scores
    order = np.argsort(breaks)
    slope = np.cumsum(p[order]) - p[y > 0].sum()
    first = int(np.searchsorted(slope, -1e-12))
    flat = slope[first] <= 1e-12 and first + 1 < len(order)
    ends = breaks[order[[first, first + 1 if flat else first]]]
    return Calibration(factor, float(ends.mean()))
