"""Models without a feature: when they are the right answer, and in which words to say why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.designs.base import Design
from hipad.solver import Hipad, Solution, lambda1_max
from hipad.solver.ipm import InteriorPoint


def noise(design: Design) -> float:
    """How hard rounding alone may pull on a feature that tells nothing."""
    size = design.column_norms()
    if design.mean is not None:
        size = size + np.abs(design.mean if design.scale is None else design.mean / design.scale)
    return 1e-12 * float(np.max(size, initial=0.0))


def nothing_survives(hipad: Hipad) -> bool:
    """Whether lambda1 leaves no feature, though phase 1 switched with one still on its way out.

    Only a phase 1 that is no better than the empty model raises the question; the hinge loss of
    that model is at least twice the share of the smaller class, which mostly settles it.
    """
    found, problem = hipad.solution(), hipad.problem
    if found.selection is None or found.features.size == 0:
        return False
    positive = float(problem.p[problem.y > 0].sum())
    if found.selection.primal_objective < 2.0 * min(positive, 1.0 - positive):
        return False
    none = np.zeros(0, dtype=int)
    best = InteriorPoint(problem, none).run()
    scores, u = np.zeros(problem.n_samples), np.maximum(best.u, 0.0)
    empty = problem.objective(none, np.zeros(0), scores, best.b, u)
    return found.selection.primal_objective >= empty and lambda1_max(problem) <= problem.lambda1


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
