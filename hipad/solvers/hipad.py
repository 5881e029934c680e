"""HIPAD and HIPAD-ENK: ADMM until the features are found, then phase 2 on these, as an iterator."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

import numpy as np

from hipad.solvers.admm import Admm, AdmmSettings, PaperTest, SupportTest, SwitchTest
from hipad.solvers.batched import near_optimum
from hipad.solvers.certificate import SOLVED_GAP, Certainty, Certificate, Status
from hipad.solvers.exact import (
    FINE,
    Optimum,
    WarmStart,
    WorkingSet,
    empty_answer,
    middle_intercept,
    optimum_from,
    refined,
)
from hipad.solvers.interior_point import InteriorPoint, Values
from hipad.solvers.osqp_engine import solve_osqp
from hipad.solvers.piqp_engine import solve_piqp
from hipad.solvers.problem import Problem
from hipad.solvers.solution import (
    ALL_FEATURES,
    Iterate,
    IterationInfo,
    Progress,
    Settings,
    Solution,
    StepwiseSolver,
    certainty_of,
    certify,
    iteration_info,
    objective_of,
    single_thread,
)
from hipad.utils import FloatArray, count

# --------------------------------------------------------------------------------------------------
# The phases of a run behind one small interface: step, read the current model, certify it.
#
#     AdmmPhase       phase 1, the elastic net on all features      (admm.py)
#     ExactPhase      the same by working sets                      (exact.py)
#     PolishPhase     phase 2, KSVM-P on the features kept          (hipad.py)
#
# Each phase is an iterator of `IterationInfo`s; the driver stamps them with time and support
# changes. A phase that comes near its optimum goes all the way (exact.py): what it then returns
# depends on the problem alone, not on where it started.


EARLY = "phase 1 was left by the paper's test: these features need not be those of the optimum"
FIRST_WARM_TRY = 5  # sweeps after which a warm start tries the optimum, settled or not
NEAR = 1e-5  # a certified relative gap from which the optimum is tried,
CLOSE = 1e-9  # and one at which nothing is left to do
AFFORDABLE = 2e11  # multiplications of one interior-point iteration, some seconds


class Phase(Protocol):
    """What the driver asks of a phase; `number` is 1 or 2."""

    number: int

    def steps(self) -> Iterator[IterationInfo]:
        """One record for each step; the phase is over with the last."""

    def point(self) -> Iterate:
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
        self._optimum: Iterate | None = None
        self._next_try = settings.first_try if warm is None else FIRST_WARM_TRY

    @property
    def decided(self) -> bool:
        """Whether the optimum was reached."""
        return self._optimum is not None

    def steps(self) -> Iterator[IterationInfo]:
        while not self._ended and self.admm.sweeps < self.max_sweeps:
            sweep = self.admm.sweep()
            at = self.point()
            objective = self.admm.objective()
            # F is never negative: zero is the minimum, and no residual is small beside it
            self.converged = max(sweep.primal, sweep.dual) < self.tolerance or objective <= 0
            self.converged &= not self._doubted or self.admm.sweeps >= self._next_try
            passed = self.switch.passed(sweep, at.features.size)
            self.settled = self.goal == "paper" and passed
            yield iteration_info(self.problem, at, objective, sweep.primal, sweep.dual)
            if self.goal != "paper":
                self._look(passed)
        if self.decided:
            yield self._last_info()

    @property
    def _ended(self) -> bool:
        return self.settled or self.converged or self.decided or self.given_up

    def _look(self, passed: bool) -> None:
        """Now and then, see whether the optimum can be reached from here."""
        last = self.goal == "convergence" and self.admm.sweeps >= self.max_sweeps
        due = last or self.admm.sweeps >= self._next_try
        if not due and not self.converged and not (passed and self.goal == "optimum"):
            return
        gap = self._certified(counts=False).gap if self.goal == "convergence" else 0.0
        self.converged |= 0 < gap <= CLOSE
        if gap <= NEAR or self.converged:
            found = self._found()
            self._optimum = None if found is None else Iterate.of(self.problem, found)
        self._next_try = self.admm.sweeps + max(3, self.admm.sweeps // 2)
        affordable = is_affordable(self.problem)
        self.given_up = passed and self.goal == "optimum" and affordable
        if self.converged and not affordable and self.tolerance <= SOLVED_GAP:
            # nobody else takes over: residuals alone do not end the run
            self.converged = self.decided or self._certified(counts=False).gap <= SOLVED_GAP
            self._doubted = not self.converged

    def _found(self) -> Optimum | None:
        """The optimum by the active sets of the present model, or without features."""
        found = optimum_from(self.problem, self.point().warm_start)
        if found is None and self.goal == "convergence":
            found = empty_answer(self.problem, self.admm.objective())
        return found

    def _is_near(self, certificate: Certificate) -> bool:
        """Whether the limit came when the answer was there: the method "admm" asks no more."""
        return self.goal == "convergence" and certificate.is_optimal(SOLVED_GAP)

    def _last_info(self) -> IterationInfo:
        at = self.point()
        return iteration_info(self.problem, at, objective_of(self.problem, at), 0.0, 0.0)

    def point(self) -> Iterate:
        if self._optimum is not None:
            return self._optimum
        features, c = self.admm.features.support()
        alpha = np.r_[self.admm.gamma1, self.admm.gamma3]
        return Iterate(features, c, self.admm.b, self.admm.t, alpha)

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

    A warm start, the optimum of an earlier fit, may be near enough to go from there directly. With
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
        warm_starts: tuple[WarmStart, ...] = (),
        propose: bool = False,
    ) -> None:
        self.problem, self._start, self._warm_starts = problem, start, warm_starts
        self._propose = propose and problem.lambda1 > 0
        self.max_iterations, self.max_steps = max_iterations, max_steps
        self._set: WorkingSet | None = None
        self._optimum: Iterate | None = None

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

    def steps(self) -> Iterator[IterationInfo]:
        tries = (optimum_from(self.problem, warm_start) for warm_start in self._proposals())
        found = next((optimum for optimum in tries if optimum is not None), None)
        if found is not None:
            self._optimum = Iterate.of(self.problem, found)
            yield self._info(0.0, 0.0)
            return
        for record in self.set.steps():
            yield self._info(record.step.primal_residual, record.step.dual_residual)
        if self.set.complete:
            self._try_again()
            yield self._info(0.0, 0.0)

    def _try_again(self) -> None:
        """Where rounding stopped the interior point early, let the solver of many problems try."""
        at, l1 = self.point(), self.problem.lambda1
        if self.set.optimum is not None or l1 <= 0 or self._is_solved(at):
            return
        near = near_optimum(self.problem)
        found = optimum_from(self.problem, near)
        if found is not None:
            self._optimum = Iterate.of(self.problem, found)

    def _is_solved(self, at: Iterate) -> bool:
        l1 = self.problem.lambda1
        bounds = certify(self.problem, at, l1, Status.SOLVED, covers=ALL_FEATURES, counts=False)
        return bounds.status is Status.SOLVED

    def _proposals(self) -> Iterator[WarmStart]:
        yield from self._warm_starts
        if self._propose:
            near = near_optimum(self.problem)
            self._start = near.features
            yield near

    def point(self) -> Iterate:
        if self._optimum is not None:
            return self._optimum
        w = self.set.weights
        kept = np.flatnonzero(w)
        found = Iterate(self.set.features[kept], w[kept], self.set.b, self.set.u, self.set.alpha)
        if self.set.complete:
            self._optimum = found
        return found

    def certificate(self, status: Status | None = None) -> Certificate:
        limited = self._set is not None and self._set.limited
        done = Status.LIMIT if limited else Status.SOLVED
        at, l1 = self.point(), self.problem.lambda1
        return certify(self.problem, at, l1, status or done, covers=ALL_FEATURES)

    def _info(self, primal: float, dual: float) -> IterationInfo:
        at = self.point()
        return iteration_info(self.problem, at, objective_of(self.problem, at), primal, dual)


def is_affordable(problem: Problem) -> bool:
    """Whether working sets of many features would still be solved in reasonable time."""
    n, m = problem.design.shape
    return min(n, m) * min(n, m) * max(n, min(m, 1000)) <= AFFORDABLE


# --------------------------------------------------------------------------------------------------
# The engines of phase 2 by name: a new one is a module of its own and a line here.
#
# An engine takes the smooth problem on the features kept and the columns of these, and returns (w,
# b, u, alpha). The interior point is not called this way: it is watched step by step, and takes
# over where an engine does not reach the accuracy asked for.


Found = tuple[FloatArray, float, FloatArray, FloatArray]
Solve = Callable[[Problem, np.ndarray, FloatArray], Found]


@dataclass(frozen=True)
class Engine:
    """An engine as a reader knows it, and how it solves; None for the interior point itself."""

    words: str
    solve: Solve | None = None


ENGINES: Final = {
    "ipm": Engine("interior point"),
    "osqp": Engine("OSQP", solve_osqp),
    "piqp": Engine("PIQP", solve_piqp),
}


# --------------------------------------------------------------------------------------------------
# Phase 2: the classical SVM, or KSVM-P, on the features that phase 1 kept.


NEAR_ZERO = 1e-6  # from there the active sets lead to the optimum itself
ENGINE_GAP = 1e-4  # what an engine must reach for its active sets to be tried
INSTEAD = "{} did not reach the accuracy asked for: the interior point solved phase 2 instead"


class Phase2:
    """Phase 2: the classical SVM, or KSVM-P, on the features that phase 1 kept."""

    number = 2

    def __init__(
        self,
        problem: Problem,
        start: Iterate,
        *,
        phase2_solver: str,
        max_iterations: int,
        warm_starts: tuple[WarmStart, ...] = (),
    ) -> None:
        self.problem, self.features, self.start = problem, start.features, start
        self.warm_starts = warm_starts
        self.engine, self.max_iterations = ENGINES[phase2_solver], max_iterations
        self.X = problem.design.columns(self.features)
        self.smooth = problem.with_parameters(lambda1=0.0)
        self._remark = ""
        self._point: Iterate | None = None
        self._ipm: InteriorPoint | None = None

    def steps(self) -> Iterator[IterationInfo]:
        if self.engine.solve is not None:
            if self._solved_by(self.engine.solve):
                yield self._info(np.nan, np.nan)
                return
            self._point, self._remark = None, INSTEAD.format(self.engine.words)
        at = self.start
        if self._reached_from_a_warm_start():
            yield self._info(0.0, 0.0)
            return
        self._ipm = InteriorPoint(
            self.smooth,
            self.features,
            tolerance=NEAR_ZERO,
            max_iterations=self.max_iterations,
            warm=Values(at.w, at.b, at.u, at.alpha),
        )
        for step in self._ipm.steps():
            yield self._info(step.primal_residual, step.dual_residual)
        if not self._ipm.limited:
            yield from self._finish(self._ipm)

    def _solved_by(self, solve: Solve) -> bool:
        """Whether an engine came near enough, by itself or with the active sets it shows."""
        w, b, u, alpha = solve(self.smooth, self.features, self.X)
        self._point = Iterate(self.features, w, b, u, alpha)
        bounds = self._certified()
        if bounds.status is Status.SOLVED:
            return True
        near = bounds.gap <= ENGINE_GAP
        found = refined(self.smooth, WarmStart(self.features, w, u, alpha)) if near else None
        if found is None:
            return False
        self._point = Iterate(self.features, *found)
        return self._certified().status is Status.SOLVED

    def _reached_from_a_warm_start(self) -> bool:
        """Whether rows and multipliers of an earlier fit lead to the optimum."""
        for warm_start in self.warm_starts:
            near = WarmStart(self.features, self.start.w, warm_start.u, warm_start.alpha)
            found = refined(self.smooth, near)
            if found is not None:
                self._point = Iterate(self.features, *found)
                if self._certified().status is Status.SOLVED:
                    return True
        self._point = None
        return False

    def _finish(self, ipm: InteriorPoint) -> Iterator[IterationInfo]:
        """Go to the optimum itself, by its active sets or else as far as rounding lets."""
        alpha, u = ipm.active_sets()
        found = refined(self.smooth, WarmStart(self.features, ipm.weights(), u, alpha))
        if found is None:
            ipm.tighten(FINE)
            ipm.run()
            at = self.point()
            w = ipm.weights()
            b = middle_intercept(self.smooth, self.X @ w, at.u)
            self._point = replace(at, w=w, b=b)
        else:
            self._point = Iterate(self.features, *found)
        yield self._info(0.0, 0.0)

    def point(self) -> Iterate:
        if self._point is not None:
            return self._point
        assert self._ipm is not None
        now = self._ipm.point
        w = self._ipm.limits.allowed(now.w)
        return Iterate(self.features, w, now.b, np.maximum(now.u, 0.0), now.alpha)

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

    def _info(self, primal: float, dual: float) -> IterationInfo:
        at = self.point()
        return iteration_info(self.smooth, at, objective_of(self.smooth, at, self.X), primal, dual)


# --------------------------------------------------------------------------------------------------
# HIPAD and HIPAD-ENK as an iterator of progress records.
#
#     run = Hipad(problem)
#     for progress in run:          # may be left and entered again: that is pause and continue
#         ...                       # run.stop() ends it; the model so far stays
#     solution = run.solution()
#
# An app can watch it; a program calls `Hipad(problem).run()` and ignores all but the result.


NEWTON_STEPS = 10  # of working sets
FACTORS = 3  # of the ADMM, whose penalties are balanced now and then
SWEEPS = 25  # of the ADMM until the features have settled
SWEEP_CALLS = 1e7  # multiplications in the time of a sweep's calls, about 0.3 ms


def working_sets_are_cheaper(problem: Problem) -> bool:
    """Return whether working sets are expected to find the features in less work than the ADMM.

    Both are counted in multiplications. Working sets depend on the number of features in the model,
    estimated by those whose gradient at zero exceeds lambda1 (one pass over the data); the ADMM
    depends on the shape of the data alone. The counts of steps are those seen on dense and sparse
    data of 100 to 20,000 rows and 50 to 10,000 columns, where the cheaper one by this count was the
    faster one, or nearly as fast.
    """
    n, m = problem.design.shape
    gradient = problem.design.correlate(problem.y * problem.loss.dual(np.ones(n), problem.p))
    active = int(np.count_nonzero(problem.penalty_factors.over(gradient, problem.lambda1) > 0))
    active += problem.always_in.size
    if active < n:  # systems of the features, formed anew in each step
        working = NEWTON_STEPS * float(n) * active**2
    else:  # of the rows: their Gram matrix is kept, and factors are formed anew
        working = float(n) ** 2 * active + NEWTON_STEPS * float(n) ** 3 / 3
    side, passes = float(min(n, m)), 2 * problem.design.cost * (m < n)
    first = side * problem.design.cost + FACTORS * side**3 / 3  # the Gram matrix and its factors
    return bool(working <= first + SWEEPS * (side**2 + passes + SWEEP_CALLS))


class Hipad(StepwiseSolver[Progress]):
    """The optimisation, which can be watched, paused, stopped and continued.

    It begins where an earlier run on the same data, `warm`, ended; runs `beside` it are tried next.
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings | None = None,
        *,
        warm: Hipad | None = None,
        beside: Sequence[Hipad] = (),
    ) -> None:
        self.problem, self.settings = problem, settings or Settings()
        self._earlier, self._beside = warm, tuple(beside)
        self.admm: Admm | None = None
        self.selected: Iterate | None = None
        self.polished: Iterate | None = None
        self.seconds = 0.0
        self.finished = False
        self._phase: Phase | None = None
        self._counts: dict[int, int] = {}
        self._selection: Certificate | None = None
        self._features, self._signs = np.zeros(0, dtype=int), np.zeros(0)
        super().__init__()

    def _advance(self) -> Progress:
        start = time.perf_counter()
        try:
            with single_thread():
                record = next(self._records)
        finally:
            self.seconds += time.perf_counter() - start
        record = replace(record, seconds=self.seconds)
        self.history.append(record)
        return record

    def run(self) -> Solution:
        """Go to the end."""
        return self.to_end().solution()

    def solution(self) -> Solution:
        """The model so far, certified."""
        with single_thread():
            if self._phase is None:
                with suppress(StopIteration):
                    self._advance()
            assert self._phase is not None
            at = self._phase.point()
            certificate = self._certificate(self._phase)
        passes = self.admm.features.passes if self.admm else 0
        kept = at.w != 0  # phase 2 may end with a weight on the bound of its sign
        return Solution(
            at.features[kept], at.w[kept], at.b, at.u, certificate, self._selection, passes
        )

    @property
    def solver(self) -> str:
        """What ran, in words: the solver of each phase and its number of steps."""
        first = "ADMM" if self.admm is not None else "working sets"
        parts = [f"{first} ({count(self._counts.get(1, 0), 'step')})"]
        if 2 in self._counts:
            second = ENGINES[self.settings.phase2_solver].words
            parts.append(f"{second} ({count(self._counts[2], 'step')})")
        return ", then ".join(parts)

    def present(self) -> Iterate:
        """Return the model of the last step, without a certificate."""
        assert self._phase is not None
        return self._phase.point()

    def certainty(self) -> Certainty:
        """Which features are certainly in at the optimum of phase 1, certainly out, or neither."""
        with single_thread():
            if self._phase is None:
                self.solution()
            at = self.selected or (self._phase.point() if self._phase is not None else None)
            assert at is not None
            return certainty_of(self.problem, at)

    def _certificate(self, phase: Phase) -> Certificate:
        """The phase's certificate, which includes what is known of the choice of features."""
        certificate = phase.certificate(None if self.finished else Status.STOPPED)
        return certificate if self._selection is None else certificate.after(self._selection)

    def _generate(self) -> Iterator[Progress]:
        settings = self.settings
        if settings.method == "exact":
            yield from self._follow(self._working_set())
        elif settings.method == "admm":
            yield from self._optimum_by_admm("convergence")
        else:
            yield from self._select()
            assert self.selected is not None
            last = self._phase2(self.selected)
            yield from self._follow(last)
            self.polished = last.point()
        self._earlier, self._beside = None, ()  # a chain of runs is not to stay in memory
        self.finished = True

    def _select(self) -> Iterator[Progress]:
        """Phase 1: the features of the optimum, or those at the paper's switch."""
        phase: Phase
        if self.settings.phase1_stop == "paper":
            phase = self._admm("paper")
            yield from self._follow(phase)
        elif self._goes_quickly():
            phase = self._working_set(warm_starts=self._warm_starts("selected"), propose=True)
            yield from self._follow(phase)
        else:
            phase = yield from self._optimum_by_admm("optimum")
        self.selected, self._selection = phase.point(), phase.certificate()

    def _optimum_by_admm(
        self, goal: Literal["optimum", "convergence"]
    ) -> Generator[Progress, None, Phase]:
        """The ADMM proposes; where its proposal does not decide, a working set begins with it."""
        first = self._admm(goal)
        yield from self._follow(first)
        if first.decided or self._left <= 0 or not is_affordable(self.problem):
            return first
        second = self._working_set(start=first.point().features)
        yield from self._follow(second)
        return second

    @property
    def _left(self) -> int:
        """Steps that the limit leaves for phase 1."""
        return self.settings.max_sweeps - self._counts.get(1, 0)

    @property
    def _rows(self) -> int:
        """Samples and rules together: each has a dual variable."""
        return self.problem.n_samples + self.problem.stack.n_rules

    def _goes_quickly(self) -> bool:
        """Whether working sets choose the features: where they are cheaper, or did so before."""
        known = self._earlier is not None and self._earlier.selected is not None
        without = known and self._earlier is not None and self._earlier.admm is None
        if self._left <= 0 or not is_affordable(self.problem):
            return False
        return without or (self.settings.fastest and working_sets_are_cheaper(self.problem))

    def _warm_starts(self, phase: Literal["selected", "polished"]) -> tuple[WarmStart, ...]:
        """Where earlier runs ended, as far as they had as many rows and conditions of rules."""
        earlier = () if self._earlier is None else (self._earlier,)
        ends = [getattr(run, phase) for run in (*earlier, *self._beside)]
        sizes = (self._rows, self.problem.stack.n_rows)
        return tuple(
            end.warm_start
            for end in ends
            if end is not None and (end.alpha.size, end.u.size) == sizes
        )

    def _phase2(self, start: Iterate) -> Phase2:
        return Phase2(
            self.problem,
            start,
            phase2_solver=self.settings.phase2_solver,
            max_iterations=self.settings.max_iterations,
            warm_starts=self._warm_starts("polished") if self.settings.fastest else (),
        )

    def _working_set(
        self,
        start: np.ndarray | None = None,
        warm_starts: tuple[WarmStart, ...] = (),
        propose: bool = False,
    ) -> ExactPhase:
        return ExactPhase(
            self.problem,
            max_iterations=self.settings.max_iterations,
            max_steps=self._left,
            start=start,
            warm_starts=warm_starts,
            propose=propose,
        )

    def _admm(self, goal: Literal["optimum", "paper", "convergence"]) -> AdmmPhase:
        settings = self.settings
        phase = AdmmPhase(
            self.problem,
            goal=goal,
            tolerance=settings.tolerance,
            max_sweeps=settings.max_sweeps,
            settings=settings.admm,
            warm=self._earlier.admm if self._earlier is not None else None,
        )
        self.admm = phase.admm
        return phase

    def _follow(self, phase: Phase) -> Iterator[Progress]:
        """The records of a phase, which from now on is asked for the model."""
        for info in phase.steps():
            self._phase = phase
            self._counts[phase.number] = self._counts.get(phase.number, 0) + 1
            yield self._record(phase.number, self._counts[phase.number], info)
        self._phase = phase

    def _record(self, phase: int, iteration: int, info: IterationInfo) -> Progress:
        """What a step did: which features came, went or changed their sign since the last one."""
        entered = np.setdiff1d(info.features, self._features, assume_unique=True)
        left = np.setdiff1d(self._features, info.features, assume_unique=True)
        _, new, old = np.intersect1d(
            info.features, self._features, assume_unique=True, return_indices=True
        )
        flipped = int(np.sum(info.signs[new] * self._signs[old] < 0))
        self._features, self._signs = info.features, info.signs
        return Progress(
            phase=phase,
            iteration=iteration,
            objective=info.objective,
            shared=info.shared,
            support_size=info.features.size,
            entered=entered,
            left=left,
            sign_changes=flipped,
            primal_residual=info.primal_residual,
            dual_residual=info.dual_residual,
            rule_slacks=info.rule_slacks,
            seconds=0.0,
        )
