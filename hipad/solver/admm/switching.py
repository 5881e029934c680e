"""When has phase 1 found the features?

The paper stops when |w_new - w| / max(|w|, 1) < 1e-2. On data where |w| is about 0.1 that fires
after a few sweeps, with most features still in, or before the first one entered. `SupportTest`
looks at the support itself; `PaperTest` is the paper's rule, for reproduction.
"""

from __future__ import annotations

from typing import Protocol

from hipad.solver.admm.admm import Sweep


class SwitchTest(Protocol):
    def passed(self, sweep: Sweep, support_size: int) -> bool: ...


class SupportTest:
    """Indices and signs unchanged for some sweeps, small relative change and small residuals."""

    def __init__(self, patience: int = 5, change: float = 1e-2, primal: float = 2e-2) -> None:
        self.patience, self.change, self.primal = patience, change, primal
        self.quiet = 0

    def passed(self, sweep: Sweep, support_size: int) -> bool:
        shift = sweep.shift
        moved = shift.entered.size + shift.left.size + shift.flipped > 0
        self.quiet = 0 if moved else self.quiet + 1
        if support_size == 0 or self.quiet < self.patience:
            return False
        return shift.change <= self.change * shift.norm and sweep.primal <= self.primal


class PaperTest:
    """|c_new - c| / max(|c|, 1) below the tolerance."""

    def __init__(self, tolerance: float = 1e-2) -> None:
        self.tolerance = tolerance

    def passed(self, sweep: Sweep, support_size: int) -> bool:
        return sweep.shift.change / max(sweep.shift.norm, 1.0) < self.tolerance
