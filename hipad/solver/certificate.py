"""Certificates: how far a result is, at most, from the optimum, whatever found it.

The primal value is F itself, evaluated at the result with u >= 0: an upper bound on the minimum.
The dual value is a lower bound. For row prices alpha (samples and rules) in [0, prices] with
labels'alpha = 0 it is

    D(alpha) = e'alpha + min over w and u >= 0 of
               1/2 w'ridge w + prices |w| + u'C w + 1/2 u'curvature u
               - (Z'alpha)'w + (d alpha)'u.

Given u the best w is a soft threshold, feature by feature (one-sided where a sign is forbidden), so
what is left is a convex problem in the few multipliers u. It is solved by projected Newton steps;
how far the last one still went is part of the certificate (`dual_residual`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.prices import SignPrices
from hipad.solver.problem import Problem

UNDECIDED = "phase 1 ended before its optimum: phase 2 is solved, on features that may change"
SOLVED_GAP = 1e-7  # relative: what "solved" means, whatever solved it


class Status(StrEnum):
    """How a run ended. Never shown as another one."""

    SOLVED = "solved"
    INACCURATE = "inaccurate"
    STOPPED = "stopped by the user"
    LIMIT = "iteration limit"


@dataclass(frozen=True)
class Certificate:
    """Bounds on the optimum and what is missing to feasibility.

    `covers` says what the bounds speak of: all features, or those that phase 1 kept. The choice of
    these has its own gap over all features, `selection_gap`. `certain` counts the features that
    are proved to be in at the optimum of phase 1, `undecided` those that may be in or out; all
    others are proved to be out (proofs/deciding.py). `Hipad.certainty()` names them.
    """

    status: Status
    primal_objective: float
    dual_objective: float
    gap: float
    primal_residual: float
    dual_residual: float
    complementarity: float
    covers: str
    message: str = ""
    selection_gap: float = 0.0
    certain: int = 0
    undecided: int = 0

    def is_optimal(self, eps: float = 1e-6) -> bool:
        """Whether the relative gaps and the residuals are all within eps."""
        parts = (self.gap, self.selection_gap, self.primal_residual, self.dual_residual)
        return max(parts) <= eps

    def after(self, selection: Certificate) -> Certificate:
        """This certificate of phase 2, and what is known of the choice of its features."""
        status, message = self.status, self.message
        if status is Status.SOLVED and selection.status is not Status.SOLVED:
            status, message = selection.status, selection.message or UNDECIDED
        return replace(
            self,
            status=status,
            message=message,
            selection_gap=selection.gap,
            certain=selection.certain,
            undecided=selection.undecided,
        )

    def as_dict(self) -> dict[str, float | str]:
        """Plain numbers and words, for files and tables."""
        return {**asdict(self), "status": str(self.status)}

    def __str__(self) -> str:
        told = (
            f"{self.status}: objective {self.primal_objective:.6g}, at most "
            f"{self.gap:.1e} (relative) above the optimum over {self.covers}"
        )
        if self.selection_gap > 0:
            told += f"; their choice is at most {self.selection_gap:.1e} above the best one"
        if self.certain or self.undecided:
            told += f" ({self.certain:,} certain, {self.undecided:,} undecided)"
        return told


def relative_gap(primal: float, dual: float) -> float:
    """(primal - dual) / max(1e-10, |primal|), never negative."""
    return max(primal - dual, 0.0) / max(abs(primal), abs(dual), 1e-10)


def feasible_prices(problem: Problem, alpha: FloatArray) -> FloatArray:
    """Nearest prices (along the labels) that lie in their boxes and balance: labels'alpha = 0."""
    labels = np.r_[problem.y, problem.stack.of_b]
    ceiling = np.r_[problem.p, problem.stack.ceilings]

    def clipped(theta: float) -> FloatArray:
        return np.clip(alpha - theta * labels, 0.0, ceiling)

    if abs(labels @ clipped(0.0)) <= 1e-16 * ceiling.sum():
        return clipped(0.0)
    low, high = -float(ceiling.max()) * 2, float(ceiling.max()) * 2
    for _ in range(200):
        middle = 0.5 * (low + high)
        if labels @ clipped(middle) > 0:
            low = middle
        else:
            high = middle
        if high - low <= 1e-18:
            break
    return clipped(0.5 * (low + high))


def dual_value(
    problem: Problem,
    alpha: FloatArray,
    u: FloatArray,
    *,
    lambda1: float,
    features: np.ndarray | None = None,
    pull: FloatArray | None = None,
) -> tuple[float, float]:
    """D(alpha), less what its inner minimum may be short of, and that; from a guess u.

    `features` restricts the problem to some features; without it all of X is read once. `pull` is
    X'Y alpha on these features, where it is known.
    """
    n, stack = problem.n_samples, problem.stack
    signed = problem.y * alpha[:n]
    if pull is None and features is None:
        pull = problem.design.correlate(signed)
    elif pull is None:
        pull = problem.design.columns(features).T @ signed
    features = np.arange(problem.n_features) if features is None else features
    at, of = problem.rule_positions(features)
    ridge = problem.ridge(features)
    outside = np.ones(features.size, dtype=bool)
    outside[at] = False
    limits = problem.limits(features, lambda1)
    rest = limits.shrink(pull)[outside] ** 2 / ridge[outside]
    inner = _RuleMinimum(
        pull=pull[at],
        ridge=ridge[at],
        C=stack.coupling[:, of],
        curvature=stack.curvature,
        linear=stack.thresholds.T @ alpha[n:],
        limits=SignPrices(limits.up[at], limits.down[at]),
    )
    value, accuracy = inner.solve(np.maximum(u, 0.0))
    return float(alpha.sum() - 0.5 * rest.sum() + value - accuracy), accuracy


@dataclass(frozen=True)
class _RuleMinimum:
    """Minimum over u >= 0 (and the weights of rule features, in closed form)."""

    pull: FloatArray
    ridge: FloatArray
    C: FloatArray
    curvature: FloatArray
    linear: FloatArray
    limits: SignPrices

    def weights(self, u: FloatArray) -> FloatArray:
        """The best weights of rule features for these multipliers."""
        return self.limits.shrink(self.pull - self.C.T @ u) / self.ridge

    def value(self, u: FloatArray) -> float:
        """The function to be minimised, with the weights at their best."""
        w = self.weights(u)
        return float(0.5 * u @ self.curvature @ u + self.linear @ u - 0.5 * self.ridge @ (w * w))

    def gradient(self, u: FloatArray) -> FloatArray:
        return self.curvature @ u + self.linear + self.C @ self.weights(u)

    def solve(self, u: FloatArray) -> tuple[float, float]:
        """Projected Newton from u; returns the minimum and the last step's expected decrease."""
        expected = 0.0
        for _ in range(100):
            g = self.gradient(u)
            free = (u > 0) | (g < 0)
            if not free.any():
                return self.value(u), 0.0
            step = np.zeros_like(u)
            step[free] = -np.linalg.lstsq(self._hessian(u)[np.ix_(free, free)], g[free])[0]
            expected = float(-g @ (np.maximum(u + step, 0.0) - u))
            if 0 <= expected <= 1e-16:
                break
            # a Newton step that the bounds bend may lead nowhere; the gradient never does
            moved = self._search(u, step)
            moved = self._search(u, np.where(free, -g, 0.0)) if moved is None else moved
            if moved is None or self.value(u) - self.value(moved) <= 1e-16:
                break
            u = moved
        return self.value(u), max(expected, 0.0)

    def _hessian(self, u: FloatArray) -> FloatArray:
        """Of the value, over the weights that are not zero."""
        moving = self.weights(u) != 0
        C = self.C[:, moving]
        return self.curvature - (C / self.ridge[moving]) @ C.T

    def _search(self, u: FloatArray, step: FloatArray) -> FloatArray | None:
        """The first of ever shorter steps that lowers the value; None where none does."""
        now, length = self.value(u), 1.0
        for _ in range(40):
            trial = np.maximum(u + length * step, 0.0)
            if self.value(trial) < now:
                return trial
            length *= 0.5
        return None
