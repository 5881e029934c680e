"""How sparse a model can get: the lambda1 above which the data alone let no feature in."""

from __future__ import annotations

from typing import Any

import numpy as np

from hipad.designs import make_design
from hipad.designs.base import FloatArray
from hipad.estimator.damping import standardised_design
from hipad.estimator.training import shares
from hipad.solver import Problem, lambda1_max


def largest_lambda1(
    X: Any,
    y: FloatArray,
    *,
    standardize: bool = True,
    class_weight: str | None = "balanced",
    lambda2: float = 0.0,
) -> float:
    """From this lambda1 on a fit without rules keeps no feature; y is +1 or -1.

    With classes of equal weight it is the least such value, otherwise it may be a little more.

    >>> X, y = np.array([[0.0, 3.0], [0.0, 5.0]]), np.array([-1.0, 1.0])
    >>> round(largest_lambda1(X, y), 6)
    1.0
    """
    ones = np.ones(len(y))
    design = standardised_design(X, y, ones) if standardize else make_design(X)
    return lambda1_max(Problem(design, y, shares(y, ones, class_weight), 0.0, lambda2))
