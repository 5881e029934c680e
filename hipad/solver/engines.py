"""The engines of phase 2 by name: a new one is a module of its own and a line here.

An engine takes the smooth problem on the features kept and the columns of these, and returns
(w, b, u, alpha). The interior point is not called this way: it is watched step by step, and takes
over where an engine does not reach the accuracy asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.osqp_engine import solve_osqp
from hipad.solver.problem import Problem

Found = tuple[FloatArray, float, FloatArray, FloatArray]
Solve = Callable[[Problem, np.ndarray, FloatArray], Found]


@dataclass(frozen=True)
class Engine:
    """An engine as a reader knows it, and how it solves; None for the interior point itself."""

    words: str
    solve: Solve | None = None


ENGINES: Final = {"ipm": Engine("interior point"), "osqp": Engine("OSQP", solve_osqp)}
