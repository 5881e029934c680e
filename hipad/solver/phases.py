"""The phases of a run behind one small interface: step, read the current model, certify it.

    AdmmPhase       phase 1, the elastic net on all features      (admm.py)
    PolishPhase     phase 2, KSVM-P on the features kept          (ipm.py or osqp_engine.py)
    ExactPhase      the elastic net to a certificate              (exact.py)

Each phase is an iterator of `Tick`s; the driver stamps them with time and support changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.admm.admm import Admm, AdmmSettings
from hipad.solver.admm.switching import PaperTest, SupportTest, SwitchTest
from hipad.solver.certificate import (
    Certificate,
    Status,
    dual_value,
    feasible_prices,
    relative_gap,
)
from hipad.solver.exact import WorkingSet
from hipad.solver.ipm import InteriorPoint
from hipad.solver.osqp_engine import solve_osqp
from hipad.solver.problem import Problem

ALL_FEATURES = "all features"
SETTLED = "the features settled, which is all that phase 2 needs"


@dataclass(frozen=True)
class Point:
    """A model: weights on some features (zero elsewhere), intercept, rule multipliers, prices."""

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray


@dataclass(frozen=True)
class Tick:
    """Progress of one sweep or iteration."""

    objective: float
    features: np.ndarray
    signs: FloatArray
    primal_residual: float
    dual_residual: float
    rule_slacks: FloatArray


class Phase(Protocol):
    number: int

    def ticks(self) -> Iterator[Tick]: ...
    def point(self) -> Point: ...
    def certificate(self, status: Status | None = None) -> Certificate: ...


class AdmmPhase:
    """Phase 1. Ends when the support has settled, or (to_convergence) when the residuals vanish."""

    number = 1

    def __init__(
        self,
        problem: Problem,
        *,
        to_convergence: bool,
        switch: Literal["support", "paper"],
        tolerance: float,
        max_sweeps: int,
        settings: AdmmSettings,
        warm: Admm | None,
    ) -> None:
        self.problem, self.tolerance, self.max_sweeps = problem, tolerance, max_sweeps
        self.to_convergence = to_convergence
        self.admm = Admm(problem, settings, warm=warm.state() if warm else None)
        self.switch: SwitchTest = PaperTest() if switch == "paper" else SupportTest()
        self.settled = self.converged = False

    def ticks(self) -> Iterator[Tick]:
        while not (self.settled or self.converged) and self.admm.sweeps < self.max_sweeps:
            sweep = self.admm.sweep()
            features, c = self.admm.features.support()
            objective = self.admm.objective()
            # F is never negative: zero is the minimum, and no residual is small beside it
            self.converged = max(sweep.primal, sweep.dual) < self.tolerance or objective <= 0
            self.settled = not self.to_convergence and self.switch.passed(sweep, features.size)
            yield Tick(objective, features, np.sign(c), sweep.primal, sweep.dual, sweep.rule_slacks)

    def point(self) -> Point:
        features, c = self.admm.features.support()
        alpha = np.r_[self.admm.gamma1, self.admm.gamma3]
        return Point(features, c, self.admm.b, self.admm.t, alpha)

    def certificate(self, status: Status | None = None) -> Certificate:
        done = Status.SOLVED if self.converged or self.settled else Status.LIMIT
        certificate = certify(
            self.problem, self.point(), self.problem.lambda1, status or done,
            covers=ALL_FEATURES, eps=1e-5,
        )  # fmt: skip
        return replace(certificate, message=SETTLED) if self.settled else certificate


class PolishPhase:
    """Phase 2: the classical SVM, or KSVM-P, on the features that phase 1 kept."""

    number = 2

    def __init__(
        self, problem: Problem, features: np.ndarray, *, engine: str, max_iterations: int
    ) -> None:
        self.problem, self.features = problem, features
        self.engine, self.max_iterations = engine, max_iterations
        self.X = problem.design.columns(features)
        self.smooth = problem.with_parameters(lambda1=0.0)
        self._osqp_point: Point | None = None
        self._ipm: InteriorPoint | None = None

    def ticks(self) -> Iterator[Tick]:
        if self.engine == "osqp":
            w, b, u, alpha = solve_osqp(self.smooth, self.features, self.X)
            self._osqp_point = Point(self.features, w, b, u, alpha)
            yield self._tick(np.nan, np.nan)
            return
        self._ipm = InteriorPoint(self.smooth, self.features, max_iterations=self.max_iterations)
        for step in self._ipm.steps():
            yield self._tick(step.primal_residual, step.dual_residual)

    def point(self) -> Point:
        if self._osqp_point is not None:
            return self._osqp_point
        assert self._ipm is not None
        now = self._ipm.point
        return Point(self.features, now.w, now.b, np.maximum(now.u, 0.0), now.alpha)

    def certificate(self, status: Status | None = None) -> Certificate:
        limited = self._ipm is not None and self._ipm.limited
        done = Status.LIMIT if limited else Status.SOLVED
        eps = 1e-4 if self.engine == "osqp" else 1e-8
        covers = f"the {self.features.size} features kept"
        return certify(
            self.smooth, self.point(), 0.0, status or done, covers=covers, eps=eps, X=self.X
        )

    def _tick(self, primal: float, dual: float) -> Tick:
        at = self.point()
        slacks = self.problem.stack.slacks(at.b, at.u)
        objective = self.smooth.objective(at.features, at.w, self.X @ at.w, at.b, at.u)
        return Tick(objective, at.features, np.sign(at.w), primal, dual, slacks)


class ExactPhase:
    """The elastic net itself, certified over all features."""

    number = 1

    def __init__(self, problem: Problem, *, max_iterations: int) -> None:
        self.problem = problem
        self.set = WorkingSet(problem, max_iterations=max_iterations)

    def ticks(self) -> Iterator[Tick]:
        for record in self.set.steps():
            at = self.point()
            yield Tick(
                self._objective(at), at.features, np.sign(at.w),
                record.step.primal_residual, record.step.dual_residual,
                self.problem.stack.slacks(at.b, at.u),
            )  # fmt: skip

    def point(self) -> Point:
        w, now = self.set.weights, self.set.ipm.point
        kept = np.flatnonzero(w)
        return Point(self.set.features[kept], w[kept], now.b, np.maximum(now.u, 0.0), now.alpha)

    def certificate(self, status: Status | None = None) -> Certificate:
        done = Status.LIMIT if self.set.limited else Status.SOLVED
        at, l1 = self.point(), self.problem.lambda1
        return certify(self.problem, at, l1, status or done, covers=ALL_FEATURES, eps=1e-7)

    def _objective(self, at: Point) -> float:
        scores = self.problem.design.columns(at.features) @ at.w
        return self.problem.objective(at.features, at.w, scores, at.b, at.u)


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
    dual, accuracy = dual_value(problem, alpha, at.u, lambda1=lambda1, features=features)
    gap = relative_gap(primal, dual)
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
    )


def complementarity(problem: Problem, alpha: FloatArray, margins: FloatArray) -> float:
    """Largest violation: a priced row above its margin, or a violated one below its full price."""
    prices = np.r_[problem.p, problem.stack.sigma]
    above = alpha * np.maximum(margins - 1.0, 0.0)
    below = (prices - alpha) * np.maximum(1.0 - margins, 0.0)
    return float(np.max(above + below, initial=0.0))
