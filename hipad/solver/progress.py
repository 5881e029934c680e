"""What a run is told, what it tells at every step, and what it ends with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.admm.admm import AdmmSettings
from hipad.solver.certificate import Certificate

Method = Literal["hipad", "admm", "exact"]


@dataclass(frozen=True)
class Settings:
    """How to run: method, engine of phase 2, switch test, limits.

    `quick` lets faster solvers choose the features where the ADMM would take longer. The model is
    the same; without it the ADMM can be watched.
    """

    method: Method = "hipad"
    quick: bool = False
    engine: str = "ipm"
    switch: Literal["support", "paper"] = "support"
    tolerance: float = 1e-7
    max_sweeps: int = 5000
    max_iterations: int = 60
    admm: AdmmSettings = field(default_factory=AdmmSettings)


@dataclass(frozen=True)
class Progress:
    """One step of phase 1 or 2, at the sparse iterate.

    `objective` is that of the phase. `shared` leaves out the l1 term, which only phase 1 has: loss,
    rules and ridge, one line through both phases.
    """

    phase: int
    iteration: int
    objective: float
    support_size: int
    entered: np.ndarray
    left: np.ndarray
    sign_changes: int
    primal_residual: float
    dual_residual: float
    rule_slacks: FloatArray
    seconds: float
    shared: float = float("nan")


@dataclass(frozen=True)
class Solution:
    """A model in the design's units, and how far it can be trusted.

    `selection` certifies phase 1 over all features, where a phase 2 followed it.
    """

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    certificate: Certificate
    selection: Certificate | None
    passes: int
