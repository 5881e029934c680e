"""Models without a feature: when they are the right answer, and in which words to say why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.designs.base import Design, FloatArray
from hipad.designs.scaling import LAST_DIGITS
from hipad.solver import Hipad, Solution, lambda1_max
from hipad.solver.certificate import relative_gap

TRACE = 1e-6  # of the margin: scores of less are looked at for rounding


def noise(design: Design) -> float:
    """How hard rounding alone may pull on a feature that tells nothing."""
    size = design.column_norms()
    if design.mean is not None:
        size = size + np.abs(design.mean if design.scale is None else design.mean / design.scale)
    return 1e-12 * float(np.max(size, initial=0.0))


def score_noise(design: Design, features: np.ndarray, w: FloatArray) -> float:
    """How far scores w'x may be off by the last digits of the values and their means."""
    size = np.zeros(w.size) if design.mean is None else np.abs(design.mean[features])
    scale = 1.0 if design.scale is None else design.scale[features]
    return LAST_DIGITS * float(np.abs(w) @ (size / scale))


def explained(hipad: Hipad, message: str) -> Solution:
    """The solution with a message; one without features says why in its certificate."""
    found, lambda1 = _without_noise(hipad, hipad.solution()), hipad.problem.lambda1
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


def _without_noise(hipad: Hipad, found: Solution) -> Solution:
    """The solution, or the model without features where rounding alone put them in.

    Features that pay nothing are in at every pull, be it the last digit of a sum. Their scores are
    then a trace of the margin, and no pull on any feature is above rounding.
    """
    problem, own = hipad.problem, hipad.problem.prices
    largest_score = problem.design.column_norms()[found.features] @ np.abs(found.w)
    if not found.features.size or not hipad.finished or largest_score > TRACE:
        return found
    up, down = (np.where(price == 0, 1.0, price) for price in (own.up, own.down))
    paying = replace(own, up=up, down=down)
    if lambda1_max(problem.with_parameters(prices=paying)) > noise(problem.design):
        return found
    none, nothing = np.zeros(0, dtype=int), np.zeros(0)
    objective = problem.objective(none, nothing, np.zeros(problem.n_samples), found.b, found.u)
    certificate = replace(
        found.certificate,
        primal_objective=objective,
        gap=relative_gap(objective, found.certificate.dual_objective),
        covers=found.certificate.covers.replace(f"the {found.features.size} ", "the 0 "),
        certain=0,
        undecided=0,
    )
    return replace(found, features=none, w=nothing, certificate=certificate)
