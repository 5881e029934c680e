"""Records of a run for the tests of what draws them."""

from __future__ import annotations

import numpy as np

from hipad.solvers import Progress


def record(step: int, entered=(), left=(), phase=1, objective=1.0, shared=1.0) -> Progress:
    came, went = np.array(entered, dtype=int), np.array(left, dtype=int)
    return Progress(phase, step, objective, 0, came, went, 0, 0.1, 0.1, np.zeros(0), 0.0, shared)
