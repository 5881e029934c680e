"""How hard a rule pulls on its features at w = 0, and which knob holds it back.

With z the shortest patient that meets the premise (in scaled units, the average patient at 0), the
multiplier that is best at w = 0 gives

    pull_j = min( sigma, rho / |z|^2 ) |z_j|

which for one condition is min( sigma |d| |B_j| / |B|^2, rho |B_j| / |d| ). A feature can enter only
if its pull exceeds lambda1. A premise that the average patient meets has z = 0: the rule then moves
the intercept, never the features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hipad.rules.points import least_norm
from hipad.rules.rows import FloatArray, on_columns


@dataclass(frozen=True)
class Pull:
    """The strongest pull of a rule, what it must exceed, and what it takes to exceed it.

    `limit` is "worth", "stiffness", "premise" (met by the average patient) or "never" (no patient
    can meet it). The sigma and rho that are needed are inf where no value would do.
    """

    strongest: float
    lambda1: float
    limit: str
    sigma_needed: float
    rho_needed: float

    @property
    def silenced(self) -> bool:
        """True if no feature of the rule can enter by the rule alone."""
        return self.strongest <= self.lambda1


def shortest_patient(B: sparse.csr_array, d: FloatArray) -> FloatArray | None:
    """z on the columns that B names, or None if no patient meets the premise."""
    return least_norm(on_columns(B, np.unique(B.indices)), d)


def rule_pull(
    B: sparse.csr_array, d: FloatArray, *, sigma: float, rho: float, lambda1: float
) -> Pull:
    """The pull of a rule in scaled units.

    >>> B, d = sparse.csr_array([[-0.5, -0.5]]), np.array([-4.0])
    >>> pull = rule_pull(B, d, sigma=0.25, rho=100.0, lambda1=0.1)
    >>> pull.strongest, pull.limit, pull.silenced
    (1.0, 'worth', False)
    """
    z = shortest_patient(B, d)
    if z is None:
        return Pull(0.0, lambda1, "never", np.inf, np.inf)
    square, largest = float(z @ z), float(np.abs(z).max(initial=0.0))
    if largest == 0.0:
        return Pull(0.0, lambda1, "premise", np.inf, np.inf)
    return Pull(
        strongest=min(sigma, rho / square) * largest,
        lambda1=lambda1,
        limit="worth" if sigma <= rho / square else "stiffness",
        sigma_needed=lambda1 / largest,
        rho_needed=lambda1 * square / largest,
    )
