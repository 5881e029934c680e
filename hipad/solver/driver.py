"""HIPAD and HIPAD-ENK as an iterator of progress records.

    run = Hipad(problem)
    for progress in run:          # may be left and entered again: that is pause and continue
        ...                       # run.stop() ends it; the model so far stays
    solution = run.solution()

An app can watch it; a program calls `Hipad(problem).run()` and ignores all but the result.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

import numpy as np

from hipad.solver.active.activeset import Guess
from hipad.solver.admm.admm import Admm
from hipad.solver.certificate import Certificate, Status
from hipad.solver.iterates import Point, Tick, certainty_of
from hipad.solver.phases import AdmmPhase, ExactPhase, Phase, is_affordable
from hipad.solver.polishing import PolishPhase
from hipad.solver.problem import Problem
from hipad.solver.progress import Method, Progress, Settings, Solution
from hipad.solver.proofs.deciding import Certainty
from hipad.solver.threads import single_thread
from hipad.solver.watched import Watched

__all__ = ["Hipad", "Method", "Progress", "Settings", "Solution"]

FEW_ROWS = 1000  # up to here working sets are faster than the ADMM (measured)


class Hipad(Watched[Progress]):
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
        self.selected: Point | None = None
        self.polished: Point | None = None
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
            last = self._polishing(self.selected)
            yield from self._follow(last)
            self.polished = last.point()
        self._earlier, self._beside = None, ()  # a chain of runs is not to stay in memory
        self.finished = True

    def _select(self) -> Iterator[Progress]:
        """Phase 1: the features of the optimum, or those at the paper's switch."""
        phase: Phase
        if self.settings.switch == "paper":
            phase = self._admm("paper")
            yield from self._follow(phase)
        elif self._goes_quickly():
            phase = self._working_set(guesses=self._guesses("selected"), propose=True)
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
        """Samples and rules together: each has a price."""
        return self.problem.n_samples + self.problem.stack.n_rules

    def _goes_quickly(self) -> bool:
        """Whether working sets choose the features: asked for with few rows, or done so before."""
        known = self._earlier is not None and self._earlier.selected is not None
        without = known and self._earlier is not None and self._earlier.admm is None
        few = self.settings.quick and self.problem.n_samples <= FEW_ROWS
        return self._left > 0 and (without or few) and is_affordable(self.problem)

    def _guesses(self, phase: Literal["selected", "polished"]) -> tuple[Guess, ...]:
        """Where earlier runs ended, as far as they had as many rows and conditions of rules."""
        earlier = () if self._earlier is None else (self._earlier,)
        ends = [getattr(run, phase) for run in (*earlier, *self._beside)]
        sizes = (self._rows, self.problem.stack.n_rows)
        return tuple(
            end.guess for end in ends if end is not None and (end.alpha.size, end.u.size) == sizes
        )

    def _polishing(self, start: Point) -> PolishPhase:
        return PolishPhase(
            self.problem,
            start,
            engine=self.settings.engine,
            max_iterations=self.settings.max_iterations,
            guesses=self._guesses("polished") if self.settings.quick else (),
        )

    def _working_set(
        self,
        start: np.ndarray | None = None,
        guesses: tuple[Guess, ...] = (),
        propose: bool = False,
    ) -> ExactPhase:
        return ExactPhase(
            self.problem,
            max_iterations=self.settings.max_iterations,
            max_steps=self._left,
            start=start,
            guesses=guesses,
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
        for tick in phase.ticks():
            self._phase = phase
            self._counts[phase.number] = self._counts.get(phase.number, 0) + 1
            yield self._record(phase.number, self._counts[phase.number], tick)
        self._phase = phase

    def _record(self, phase: int, iteration: int, tick: Tick) -> Progress:
        """What a step did: which features came, went or changed their sign since the last one."""
        entered = np.setdiff1d(tick.features, self._features, assume_unique=True)
        left = np.setdiff1d(self._features, tick.features, assume_unique=True)
        _, new, old = np.intersect1d(
            tick.features, self._features, assume_unique=True, return_indices=True
        )
        flipped = int(np.sum(tick.signs[new] * self._signs[old] < 0))
        self._features, self._signs = tick.features, tick.signs
        return Progress(
            phase=phase,
            iteration=iteration,
            objective=tick.objective,
            shared=tick.shared,
            support_size=tick.features.size,
            entered=entered,
            left=left,
            sign_changes=flipped,
            primal_residual=tick.primal_residual,
            dual_residual=tick.dual_residual,
            rule_slacks=tick.rule_slacks,
            seconds=0.0,
        )
