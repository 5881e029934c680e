"""HIPAD and HIPAD-ENK as an iterator of progress records.

    run = Hipad(problem)
    for progress in run:          # may be left and entered again: that is pause and continue
        ...                       # run.stop() ends it; the model so far stays
    solution = run.solution()

An app can watch it; a program calls `Hipad(problem).run()` and ignores all but the result.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.admm.admm import Admm, AdmmSettings
from hipad.solver.certificate import Certificate, Status
from hipad.solver.phases import AdmmPhase, ExactPhase, Phase, PolishPhase, Tick
from hipad.solver.problem import Problem
from hipad.solver.threads import single_thread

UNSETTLED = "phase 1 ended at its limit of sweeps: phase 2 is solved, on features that may change"
Method = Literal["hipad", "admm", "exact"]


@dataclass(frozen=True)
class Settings:
    """How to run: method, engine of phase 2, switch test, limits."""

    method: Method = "hipad"
    engine: Literal["ipm", "osqp"] = "ipm"
    switch: Literal["support", "paper"] = "support"
    tolerance: float = 1e-7
    max_sweeps: int = 5000
    max_iterations: int = 60
    admm: AdmmSettings = field(default_factory=AdmmSettings)


@dataclass(frozen=True)
class Progress:
    """One sweep of phase 1 or one iteration of phase 2, at the sparse iterate."""

    phase: int
    iteration: int
    objective: float
    support_size: int
    entered: np.ndarray
    left: np.ndarray
    sign_changes: int
    primal_residual: float
    dual_residual: float
    rule_slacks: FloatArray
    seconds: float


@dataclass(frozen=True)
class Solution:
    """A model in the design's units, and how far it can be trusted.

    `selection` certifies phase 1 over all features, where a phase 2 followed it.
    """

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    certificate: Certificate
    selection: Certificate | None
    passes: int


class Hipad:
    """A run that can be watched, paused, stopped and continued."""

    def __init__(
        self, problem: Problem, settings: Settings | None = None, *, warm: Hipad | None = None
    ) -> None:
        self.problem, self.settings = problem, settings or Settings()
        self.warm: Admm | None = warm.admm if warm is not None else None
        self.admm: Admm | None = None
        self.history: list[Progress] = []
        self.seconds = 0.0
        self.finished = False
        self._stopping = False
        self._phase: Phase | None = None
        self._selection: Certificate | None = None
        self._features, self._signs = np.zeros(0, dtype=int), np.zeros(0)
        self._records = self._generate()

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        """Advance by one sweep or iteration."""
        if self._stopping:
            raise StopIteration
        return self._advance()

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
        for _ in self:
            pass
        return self.solution()

    def stop(self) -> None:
        """End the run after the present step; iterate again after `resume()`."""
        self._stopping = True

    def resume(self) -> None:
        """Let a stopped run go on."""
        self._stopping = False

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
        return Solution(at.features, at.w, at.b, at.u, certificate, self._selection, passes)

    def _certificate(self, phase: Phase) -> Certificate:
        """The phase's certificate; a limit that phase 1 met stays the status of the whole run."""
        certificate = phase.certificate(None if self.finished else Status.STOPPED)
        limited = self._selection is not None and self._selection.status is Status.LIMIT
        if limited and certificate.status is Status.SOLVED:
            return replace(certificate, status=Status.LIMIT, message=UNSETTLED)
        return certificate

    def _generate(self) -> Iterator[Progress]:
        settings = self.settings
        if settings.method == "exact":
            yield from self._follow(
                ExactPhase(self.problem, max_iterations=settings.max_iterations)
            )
            self.finished = True
            return
        first = AdmmPhase(
            self.problem,
            to_convergence=settings.method == "admm",
            switch=settings.switch,
            tolerance=settings.tolerance,
            max_sweeps=settings.max_sweeps,
            settings=settings.admm,
            warm=self.warm,
        )
        self.admm = first.admm
        yield from self._follow(first)
        if settings.method == "hipad":
            self._selection = first.certificate()
            yield from self._follow(
                PolishPhase(
                    self.problem,
                    first.point().features,
                    engine=settings.engine,
                    max_iterations=settings.max_iterations,
                )
            )
        self.finished = True

    def _follow(self, phase: Phase) -> Iterator[Progress]:
        for iteration, tick in enumerate(phase.ticks(), start=1):
            self._phase = phase
            yield self._record(phase.number, iteration, tick)
        self._phase = phase

    def _record(self, phase: int, iteration: int, tick: Tick) -> Progress:
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
            support_size=tick.features.size,
            entered=entered,
            left=left,
            sign_changes=flipped,
            primal_residual=tick.primal_residual,
            dual_residual=tick.dual_residual,
            rule_slacks=tick.rule_slacks,
            seconds=0.0,
        )
