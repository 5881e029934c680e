"""When has phase 1 found the features?

The paper stops when |w_new - w| / max(|w|, 1) < 1e-2. On data where |w| is about 0.1 that fires
after a few sweeps, with most features still in, or before the first one entered. `SupportTest`
looks at the support itself, and says when the optimum is worth a try; `PaperTest` is the paper's
rule, for reproduction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.admm.admm import Sweep


class SwitchTest(Protocol):
    """Decides after each sweep whether phase 1 has done its part."""

    def passed(self, sweep: Sweep, support_size: int) -> bool:
        """Asked once after each sweep: a test may count them."""


class SupportTest:
    """Indices and signs unchanged for some sweeps, small relative change and small residuals."""

    def __init__(self, patience: int = 5, change: float = 1e-2, primal: float = 2e-2) -> None:
        self.patience, self.change, self.primal = patience, change, primal
        self.quiet = 0

    def passed(self, sweep: Sweep, support_size: int) -> bool:
        """Whether the support has settled; an empty one never counts."""
        shift = sweep.shift
        moved = shift.entered.size + shift.left.size + shift.flipped > 0
        self.quiet = 0 if moved else self.quiet + 1
        if support_size == 0 or self.quiet < self.patience:
            return False
        return shift.change <= self.change * shift.norm and sweep.primal <= self.primal


def transition(w: FloatArray, w_old: FloatArray, tolerance: float = 1e-2) -> bool:
    """The paper's sign that phase 2 may begin: |w - w_old| / max(|w_old|, 1) < tolerance."""
    return bool(np.linalg.norm(w - w_old) < tolerance * max(float(np.linalg.norm(w_old)), 1.0))


class PaperTest:
    """|w_new - w| / max(|w|, 1) below the tolerance, on w itself, as the paper prints it."""

    def __init__(self, weights: Callable[[], FloatArray], tolerance: float = 1e-2) -> None:
        self._weights, self.tolerance = weights, tolerance
        self._before: FloatArray | None = None

    def passed(self, sweep: Sweep, support_size: int) -> bool:
        """Whether w moved little since the sweep before."""
        before, self._before = self._before, self._weights().copy()
        return before is not None and transition(self._before, before, self.tolerance)
