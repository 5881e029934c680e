"""What all phases share: a model, the record of a step that led to it, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.active.activeset import Guess, Optimum
from hipad.solver.certificate import (
    SOLVED_GAP,
    Certificate,
    Status,
    dual_value,
    feasible_prices,
    relative_gap,
)
from hipad.solver.exact import clear_of_the_brink
from hipad.solver.problem import Problem
from hipad.solver.proofs.deciding import Certainty, Place, certainty

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


class _Bounds(NamedTuple):
    """A model with prices that balance: its objective, and a lower bound of the least one."""

    place: Place
    primal: float
    dual: float
    accuracy: float


def _bounds(
    problem: Problem, at: Point, lambda1: float, X: FloatArray, features: np.ndarray | None
) -> _Bounds:
    """Bounds over some features, which have the columns X, or over all."""
    scores = X @ at.w
    alpha = feasible_prices(problem, at.alpha)
    signed = problem.y * alpha[: problem.n_samples]
    pull = problem.design.correlate(signed) if features is None else X.T @ signed
    return _Bounds(
        Place(at.features, at.w, at.b, at.u, alpha, scores, pull),
        problem.objective(at.features, at.w, scores, at.b, at.u),
        *dual_value(problem, alpha, at.u, lambda1=lambda1, features=features, pull=pull),
    )


def certify(
    problem: Problem,
    at: Point,
    lambda1: float,
    status: Status,
    *,
    covers: str,
    eps: float = SOLVED_GAP,
    X: FloatArray | None = None,
    counts: bool = True,
) -> Certificate:
    """Bounds for a point; "solved" becomes "inaccurate" when the relative gap exceeds eps.

    Over all features it also counts those that are certain and undecided, unless told not to.
    """
    everything = covers == ALL_FEATURES
    X = problem.design.columns(at.features) if X is None else X
    place, primal, dual, accuracy = _bounds(
        problem, at, lambda1, X, None if everything else at.features
    )
    gap = relative_gap(primal, dual)
    certain = undecided = 0
    if everything and counts:
        known = certainty(problem, place, primal - dual)
        certain, undecided = known.inside.size, known.undecided.size
    if status is Status.SOLVED and not gap <= eps:
        status = Status.INACCURATE
    margins = np.r_[problem.y * (place.scores + at.b), 1.0 - problem.stack.slacks(at.b, at.u)]
    return Certificate(
        status=status,
        primal_objective=primal,
        dual_objective=dual,
        gap=gap,
        primal_residual=float(np.max(-at.u, initial=0.0)),
        dual_residual=float(np.max(np.abs(place.alpha - at.alpha), initial=0.0)) + accuracy,
        complementarity=complementarity(problem, place.alpha, margins),
        covers=covers,
        certain=certain,
        undecided=undecided,
    )


def certainty_of(problem: Problem, at: Point) -> Certainty:
    """What is certain of every feature at the optimum over all features, from this model."""
    X = problem.design.columns(at.features)
    place, primal, dual, _ = _bounds(problem, at, problem.lambda1, X, None)
    return certainty(problem, place, primal - dual)


def complementarity(problem: Problem, alpha: FloatArray, margins: FloatArray) -> float:
    """Largest violation: a priced row above its margin, or a violated one below its full price."""
    prices = np.r_[problem.p, problem.stack.sigma]
    above = alpha * np.maximum(margins - 1.0, 0.0)
    below = (prices - alpha) * np.maximum(1.0 - margins, 0.0)
    return float(np.max(above + below, initial=0.0))
