"""What all phases share: a model, the record of a step that led to it, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.active.activeset import Guess, Optimum
from hipad.solver.certificate import (
    Certificate,
    Status,
    dual_value,
    feasible_prices,
    relative_gap,
)
from hipad.solver.exact import clear_of_the_brink
from hipad.solver.problem import Problem

ALL_FEATURES = "all features"


@dataclass(frozen=True)
class Point:
    """A model: weights on some features (zero elsewhere), intercept, rule multipliers, prices."""

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray

    @property
    def guess(self) -> Guess:
        """Where the search for the optimum may begin."""
        return Guess(self.features, self.w, self.u, self.alpha)

    @classmethod
    def of(cls, problem: Problem, found: Optimum) -> Point:
        """The model at an optimum: its features are those that are clearly in."""
        w = clear_of_the_brink(problem, found.features, found.w)
        kept = np.flatnonzero(w)
        return cls(found.features[kept], w[kept], found.b, found.u, found.alpha)


@dataclass(frozen=True)
class Tick:
    """Progress of one step. `shared` is the objective without the l1 term of phase 1."""

    objective: float
    shared: float
    features: np.ndarray
    signs: FloatArray
    primal_residual: float
    dual_residual: float
    rule_slacks: FloatArray


def objective_of(problem: Problem, at: Point, X: FloatArray | None = None) -> float:
    """F at a model; `X` are the columns of its features, where they are at hand."""
    X = problem.design.columns(at.features) if X is None else X
    return problem.objective(at.features, at.w, X @ at.w, at.b, at.u)


def tick_of(problem: Problem, at: Point, objective: float, primal: float, dual: float) -> Tick:
    """The record of a step that led to this model."""
    shared = objective - problem.limits(at.features).cost(at.w)
    slacks = problem.stack.slacks(at.b, at.u)
    return Tick(objective, shared, at.features, np.sign(at.w), primal, dual, slacks)


def certify(
    problem: Problem,
    at: Point,
    lambda1: float,
    status: Status,
    *,
    covers: str,
    eps: float,
    X: FloatArray | None = None,
) -> Certificate:
    """Bounds for a point; "solved" becomes "inaccurate" when the relative gap exceeds eps."""
    everything = covers == ALL_FEATURES
    X = problem.design.columns(at.features) if X is None else X
    scores = X @ at.w
    primal = problem.objective(at.features, at.w, scores, at.b, at.u)
    alpha = feasible_prices(problem, at.alpha)
    features = None if everything else at.features
    signed = problem.y * alpha[: problem.n_samples]
    pull = problem.design.correlate(signed) if everything else X.T @ signed
    dual, accuracy = dual_value(problem, alpha, at.u, lambda1=lambda1, features=features, pull=pull)
    gap = relative_gap(primal, dual)
    certain, undecided = _counts(problem, at, pull, primal - dual) if everything else (0, 0)
    if status is Status.SOLVED and not gap <= eps:
        status = Status.INACCURATE
    margins = np.r_[problem.y * (scores + at.b), 1.0 - problem.stack.slacks(at.b, at.u)]
    return Certificate(
        status=status,
        primal_objective=primal,
        dual_objective=dual,
        gap=gap,
        primal_residual=float(np.max(-at.u, initial=0.0)),
        dual_residual=float(np.max(np.abs(alpha - at.alpha), initial=0.0)) + accuracy,
        complementarity=complementarity(problem, alpha, margins),
        covers=covers,
        certain=certain,
        undecided=undecided,
    )


def _counts(problem: Problem, at: Point, pull: FloatArray, gap: float) -> tuple[int, int]:
    """Features certainly in at the optimum, and those pulled hard enough that may be.

    F is strongly convex: |w_j - w*_j| <= sqrt(2 gap / ridge_j).
    """
    radius = np.sqrt(2.0 * max(gap, 1e-15) / problem.ridge(at.features))
    certain = at.features[np.abs(at.w) > radius]
    drawn = pull.copy()
    drawn[problem.stack.features] -= problem.stack.coupling.T @ at.u
    slack = 1e-9 * problem.lambda1 + 1e-13 * problem.design.column_norms()
    brink = problem.prices.over(drawn, problem.lambda1) > slack
    brink[at.features] = True
    brink[certain] = False
    return certain.size, int(brink.sum())


def complementarity(problem: Problem, alpha: FloatArray, margins: FloatArray) -> float:
    """Largest violation: a priced row above its margin, or a violated one below its full price."""
    prices = np.r_[problem.p, problem.stack.sigma]
    above = alpha * np.maximum(margins - 1.0, 0.0)
    below = (prices - alpha) * np.maximum(1.0 - margins, 0.0)
    return float(np.max(above + below, initial=0.0))
