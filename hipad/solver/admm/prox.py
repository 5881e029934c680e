"""Proximal operators of the ADMM's second block, and the multiplier step that goes with each.

Every function takes the over-relaxed image h of the first block, the multiplier g and the penalty
mu of one constraint (image = copy), and returns the new copy and the new multiplier. By Moreau's
identity the multiplier is a projection, so it is computed first and the copy follows from it.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.prices import SignPrices

Step = tuple[FloatArray, FloatArray]


def hinge(h: FloatArray, g: FloatArray, mu: float, price: FloatArray) -> Step:
    """Copy of price * (h)_+: the paper's S with threshold price/mu; multiplier in [0, price]."""
    return _project(h, g, mu, 0.0, price)


def soft_threshold(h: FloatArray, g: FloatArray, mu: float, limits: SignPrices) -> Step:
    """Copy of up h_+ + down h_-: the paper's T with threshold lambda1/mu, where both are lambda1.

    The multiplier stays within [-down, up].
    """
    return _project(h, g, mu, -limits.down, limits.up)


def nonnegative(h: FloatArray, g: FloatArray, mu: float) -> Step:
    """Copy that is never negative; multiplier never positive."""
    return _project(h, g, mu, -np.inf, 0.0)


def _project(h: FloatArray, g: FloatArray, mu: float, low, high) -> Step:  # type: ignore[no-untyped-def]
    moved = g + mu * h
    multiplier = np.clip(moved, low, high)
    return (moved - multiplier) / mu, multiplier
