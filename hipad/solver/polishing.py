"""Phase 2: the classical SVM, or KSVM-P, on the features that phase 1 kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hipad.solver.active.activeset import Guess, refined
from hipad.solver.active.intercept import middle_intercept
from hipad.solver.certificate import Certificate, Status
from hipad.solver.engines import ENGINES, Solve
from hipad.solver.exact import FINE
from hipad.solver.interior.ipm import InteriorPoint
from hipad.solver.interior.lifted import Values
from hipad.solver.iterates import Point, Tick, certify, objective_of, tick_of
from hipad.solver.problem import Problem

NEAR = 1e-6  # from there the active sets lead to the optimum itself
ENGINE_GAP = 1e-4  # what an engine must reach for its active sets to be tried
INSTEAD = "{} did not reach the accuracy asked for: the interior point solved phase 2 instead"


class PolishPhase:
    """Phase 2: the classical SVM, or KSVM-P, on the features that phase 1 kept."""

    number = 2

    def __init__(
        self,
        problem: Problem,
        start: Point,
        *,
        engine: str,
        max_iterations: int,
        guesses: tuple[Guess, ...] = (),
    ) -> None:
        self.problem, self.features, self.start = problem, start.features, start
        self.guesses = guesses
        self.engine, self.max_iterations = ENGINES[engine], max_iterations
        self.X = problem.design.columns(self.features)
        self.smooth = problem.with_parameters(lambda1=0.0)
        self._remark = ""
        self._point: Point | None = None
        self._ipm: InteriorPoint | None = None

    def ticks(self) -> Iterator[Tick]:
        if self.engine.solve is not None:
            if self._solved_by(self.engine.solve):
                yield self._tick(np.nan, np.nan)
                return
            self._point, self._remark = None, INSTEAD.format(self.engine.words)
        at = self.start
        if self._reached_from_a_guess():
            yield self._tick(0.0, 0.0)
            return
        self._ipm = InteriorPoint(
            self.smooth,
            self.features,
            tolerance=NEAR,
            max_iterations=self.max_iterations,
            warm=Values(at.w, at.b, at.u, at.alpha),
        )
        for step in self._ipm.steps():
            yield self._tick(step.primal_residual, step.dual_residual)
        if not self._ipm.limited:
            yield from self._finish(self._ipm)

    def _solved_by(self, solve: Solve) -> bool:
        """Whether an engine came near enough, by itself or with the active sets it shows."""
        w, b, u, alpha = solve(self.smooth, self.features, self.X)
        self._point = Point(self.features, w, b, u, alpha)
        bounds = self._certified()
        if bounds.status is Status.SOLVED:
            return True
        near = bounds.gap <= ENGINE_GAP
        found = refined(self.smooth, Guess(self.features, w, u, alpha)) if near else None
        if found is None:
            return False
        self._point = Point(self.features, *found)
        return self._certified().status is Status.SOLVED

    def _reached_from_a_guess(self) -> bool:
        """Whether rows and multipliers of an earlier fit lead to the optimum."""
        for guess in self.guesses:
            near = Guess(self.features, self.start.w, guess.u, guess.alpha)
            found = refined(self.smooth, near)
            if found is not None:
                self._point = Point(self.features, *found)
                return True
        return False

    def _finish(self, ipm: InteriorPoint) -> Iterator[Tick]:
        """Go to the optimum itself, by its active sets or else as far as rounding lets."""
        alpha, u = ipm.point.guess()
        found = refined(self.smooth, Guess(self.features, ipm.weights(), u, alpha))
        if found is None:
            ipm.tighten(FINE)
            ipm.run()
            at = self.point()
            w = ipm.weights()
            b = middle_intercept(self.smooth, self.X @ w, at.u)
            self._point = replace(at, w=w, b=b)
        else:
            self._point = Point(self.features, *found)
        yield self._tick(0.0, 0.0)

    def point(self) -> Point:
        if self._point is not None:
            return self._point
        assert self._ipm is not None
        now = self._ipm.point
        w = self._ipm.limits.allowed(now.w)
        return Point(self.features, w, now.b, np.maximum(now.u, 0.0), now.alpha)

    def certificate(self, status: Status | None = None) -> Certificate:
        return replace(self._certified(status), message=self._remark)

    def _certified(self, status: Status | None = None) -> Certificate:
        limited = self._ipm is not None and self._point is None and self._ipm.limited
        done = Status.LIMIT if limited else Status.SOLVED
        covers = f"the {self.features.size} features kept"
        return certify(
            self.smooth,
            self.point(),
            0.0,
            status or done,
            covers=covers,
            X=self.X,
        )

    def _tick(self, primal: float, dual: float) -> Tick:
        at = self.point()
        return tick_of(self.smooth, at, objective_of(self.smooth, at, self.X), primal, dual)
