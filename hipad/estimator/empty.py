"""Models without a feature: when they are the right answer, and in which words to say why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.designs.base import Design
from hipad.solver import Hipad, Solution, lambda1_max


def noise(design: Design) -> float:
    """How hard rounding alone may pull on a feature that tells nothing."""
    size = design.column_norms()
    if design.mean is not None:
        size = size + np.abs(design.mean if design.scale is None else design.mean / design.scale)
    return 1e-12 * float(np.max(size, initial=0.0))


def explained(hipad: Hipad, message: str) -> Solution:
    """The solution with a message; one without features says why in its certificate."""
    found, lambda1 = hipad.solution(), hipad.problem.lambda1
    if found.features.size:
        told = message or found.certificate.message
        return replace(found, certificate=replace(found.certificate, message=told))
    largest = lambda1_max(hipad.problem)
    if lambda1 < largest and not hipad.finished:
        reason = "stopped before a feature entered"
    elif largest > noise(hipad.problem.design):
        reason = f"no feature survives lambda1 = {lambda1:.4g}: choose one below {largest:.4g}"
    else:
        reason = "no feature tells the classes apart"
    message = f"{reason}; as it is, everyone gets the same answer"
    return replace(found, certificate=replace(found.certificate, message=message))
