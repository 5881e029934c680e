"""The phases of a run behind one small interface: step, read the current model, certify it.

    AdmmPhase       phase 1, the elastic net on all features      (admm.py)
    ExactPhase      the same by working sets                      (exact.py)
    PolishPhase     phase 2, KSVM-P on the features kept          (polishing.py)

Each phase is an iterator of `Tick`s; the driver stamps them with time and support changes. A phase
that comes near its optimum goes all the way (activeset.py): what it then returns depends on the
problem alone, not on where it started.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from hipad.solver.active.activeset import Guess, optimum_from
from hipad.solver.admm.admm import Admm, AdmmSettings
from hipad.solver.admm.switching import PaperTest, SupportTest, SwitchTest
from hipad.solver.certificate import SOLVED_GAP, Certificate, Status
from hipad.solver.exact import WorkingSet
from hipad.solver.iterates import ALL_FEATURES, Point, Tick, certify, objective_of, tick_of
from hipad.solver.lockstep.selecting import near_optimum
from hipad.solver.problem import Problem

EARLY = "phase 1 was left by the paper's test: these features need not be those of the optimum"
FIRST_TRY, FIRST_WARM_TRY = 20, 5  # sweeps after which the optimum is tried, settled or not
NEAR = 1e-5  # a certified relative gap from which the optimum is tried,
CLOSE = 1e-9  # and one at which nothing is left to do
AFFORDABLE = 2e11  # multiplications of one interior-point iteration, some seconds


class Phase(Protocol):
    """What the driver asks of a phase; `number` is 1 or 2."""

    number: int

    def ticks(self) -> Iterator[Tick]:
        """One record for each step; the phase is over with the last."""

    def point(self) -> Point:
        """The model so far."""

    def certificate(self, status: Status | None = None) -> Certificate:
        """How far that model is, at most, from the optimum; `status` says how the run ended."""


class AdmmPhase:
    """Phase 1 by ADMM, which proposes; the active sets of its proposal decide.

    `goal` says when it ends: at the "optimum", at the "paper"'s switch, or (the method "admm")
    when its own residuals or the certified gap show "convergence".
    """

    number = 1

    def __init__(
        self,
        problem: Problem,
        *,
        goal: Literal["optimum", "paper", "convergence"],
        tolerance: float,
        max_sweeps: int,
        settings: AdmmSettings,
        warm: Admm | None,
    ) -> None:
        self.problem, self.goal = problem, goal
        self.tolerance, self.max_sweeps = tolerance, max_sweeps
        self.admm = Admm(problem, settings, warm=warm.state() if warm else None)
        self.switch: SwitchTest = SupportTest()
        if goal == "paper":
            self.switch = PaperTest(lambda: self.admm.features.full()[0])
        self.settled = self.converged = self.given_up = self._doubted = False
        self._optimum: Point | None = None
        self._next_try = FIRST_TRY if warm is None else FIRST_WARM_TRY

    @property
    def decided(self) -> bool:
        """Whether the optimum was reached."""
        return self._optimum is not None

    def ticks(self) -> Iterator[Tick]:
        while not self._ended and self.admm.sweeps < self.max_sweeps:
            sweep = self.admm.sweep()
            at = self.point()
            objective = self.admm.objective()
            # F is never negative: zero is the minimum, and no residual is small beside it
            self.converged = max(sweep.primal, sweep.dual) < self.tolerance or objective <= 0
            self.converged &= not self._doubted or self.admm.sweeps >= self._next_try
            passed = self.switch.passed(sweep, at.features.size)
            self.settled = self.goal == "paper" and passed
            yield tick_of(self.problem, at, objective, sweep.primal, sweep.dual)
            if self.goal != "paper":
                self._look(passed)
        if self.decided:
            yield self._last_tick()

    @property
    def _ended(self) -> bool:
        return self.settled or self.converged or self.decided or self.given_up

    def _look(self, passed: bool) -> None:
        """Now and then, see whether the optimum can be reached from here."""
        due = self.admm.sweeps >= self._next_try
        if not due and not self.converged and not (passed and self.goal == "optimum"):
            return
        gap = self._certified(counts=False).gap if self.goal == "convergence" else 0.0
        self.converged |= 0 < gap <= CLOSE
        if gap <= NEAR or self.converged:
            found = optimum_from(self.problem, self.point().guess)
            self._optimum = None if found is None else Point.of(self.problem, found)
        self._next_try = self.admm.sweeps + max(3, self.admm.sweeps // 2)
        affordable = is_affordable(self.problem)
        self.given_up = passed and self.goal == "optimum" and affordable
        if self.converged and not affordable and self.tolerance <= SOLVED_GAP:
            # nobody else takes over: residuals alone do not end the run
            self.converged = self.decided or self._certified(counts=False).gap <= SOLVED_GAP
            self._doubted = not self.converged

    def _is_near(self, certificate: Certificate) -> bool:
        """Whether the limit came when the answer was there: the method "admm" asks no more."""
        return self.goal == "convergence" and certificate.is_optimal(SOLVED_GAP)

    def _last_tick(self) -> Tick:
        at = self.point()
        return tick_of(self.problem, at, objective_of(self.problem, at), 0.0, 0.0)

    def point(self) -> Point:
        if self._optimum is not None:
            return self._optimum
        features, c = self.admm.features.support()
        alpha = np.r_[self.admm.gamma1, self.admm.gamma3]
        return Point(features, c, self.admm.b, self.admm.t, alpha)

    def certificate(self, status: Status | None = None) -> Certificate:
        certificate = self._certified(status)
        if certificate.status is Status.LIMIT and self._is_near(certificate):
            return replace(certificate, status=Status.SOLVED)
        if self.settled and certificate.status is Status.INACCURATE:
            return replace(certificate, message=EARLY)
        return certificate

    def _certified(self, status: Status | None = None, *, counts: bool = True) -> Certificate:
        ended = self.converged or self.settled or self.decided
        status = status or (Status.SOLVED if ended else Status.LIMIT)
        at, l1 = self.point(), self.problem.lambda1
        return certify(self.problem, at, l1, status, covers=ALL_FEATURES, counts=counts)


class ExactPhase:
    """The elastic net itself by working sets, certified over all features.

    A guess, the optimum of an earlier fit, may be near enough to go from there directly. With
    `propose` the solver of many problems (lockstep/) makes one, which mostly is: it is faster, but
    may end short of the optimum, where working sets do not.
    """

    number = 1

    def __init__(
        self,
        problem: Problem,
        *,
        max_iterations: int,
        max_steps: int | None = None,
        start: np.ndarray | None = None,
        guesses: tuple[Guess, ...] = (),
        propose: bool = False,
    ) -> None:
        self.problem, self._start, self._guesses = problem, start, guesses
        self._propose = propose and problem.lambda1 > 0
        self.max_iterations, self.max_steps = max_iterations, max_steps
        self._set: WorkingSet | None = None
        self._optimum: Point | None = None

    @property
    def set(self) -> WorkingSet:
        """The working set, made when it is needed."""
        if self._set is None:
            self._set = WorkingSet(
                self.problem,
                start=self._start,
                max_iterations=self.max_iterations,
                max_steps=self.max_steps,
            )
        return self._set

    def ticks(self) -> Iterator[Tick]:
        tries = (optimum_from(self.problem, guess) for guess in self._proposals())
        found = next((optimum for optimum in tries if optimum is not None), None)
        if found is not None:
            self._optimum = Point.of(self.problem, found)
            yield self._tick(0.0, 0.0)
            return
        for record in self.set.steps():
            yield self._tick(record.step.primal_residual, record.step.dual_residual)
        if self.set.complete:
            self._try_again()
            yield self._tick(0.0, 0.0)

    def _try_again(self) -> None:
        """Where rounding stopped the interior point early, let the solver of many problems try."""
        at, l1 = self.point(), self.problem.lambda1
        if self.set.optimum is not None or l1 <= 0 or self._is_solved(at):
            return
        near = near_optimum(self.problem)
        found = optimum_from(self.problem, near)
        if found is not None:
            self._optimum = Point.of(self.problem, found)

    def _is_solved(self, at: Point) -> bool:
        l1 = self.problem.lambda1
        bounds = certify(self.problem, at, l1, Status.SOLVED, covers=ALL_FEATURES, counts=False)
        return bounds.status is Status.SOLVED

    def _proposals(self) -> Iterator[Guess]:
        yield from self._guesses
        if self._propose:
            near = near_optimum(self.problem)
            self._start = near.features
            yield near

    def point(self) -> Point:
        if self._optimum is not None:
            return self._optimum
        w = self.set.weights
        kept = np.flatnonzero(w)
        found = Point(self.set.features[kept], w[kept], self.set.b, self.set.u, self.set.alpha)
        if self.set.complete:
            self._optimum = found
        return found

    def certificate(self, status: Status | None = None) -> Certificate:
        limited = self._set is not None and self._set.limited
        done = Status.LIMIT if limited else Status.SOLVED
        at, l1 = self.point(), self.problem.lambda1
        return certify(self.problem, at, l1, status or done, covers=ALL_FEATURES)

    def _tick(self, primal: float, dual: float) -> Tick:
        at = self.point()
        return tick_of(self.problem, at, objective_of(self.problem, at), primal, dual)


def is_affordable(problem: Problem) -> bool:
    """Whether working sets of many features would still be solved in reasonable time."""
    n, m = problem.design.shape
    return min(n, m) * min(n, m) * max(n, min(m, 1000)) <= AFFORDABLE
