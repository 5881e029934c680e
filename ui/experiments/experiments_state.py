"""The experiments of a session: each a list of fits as a job; no finished fit is made twice.

    lab.begin("curves", asked, plan)      # plan() gives tasks and data, in the job's thread
    lab.at["curves"].fits.found           # grows while the job works

A fit's key depends on all that its figures depend on, so fits of other rules or draws stay in the
ledger and are found again when the same is asked for once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from hipad.experiments.methods import ExperimentData
from hipad.experiments.runner import Done, ProgressEstimate, ResultsCache, Task, perform
from ui.jobs import SCHEDULER, BackgroundJob, JobStatus

WORTH, WRONG = "How much are my rules worth?", "What if a rule is wrong?"
COMPARE, PLAN = "Compare methods", "Plan a study"
TUNE, PAPER = "Tune settings", "Repeat the paper"
EXPERIMENT_PARTS: Final = (WORTH, WRONG, COMPARE, PLAN, TUNE, PAPER)

Plan = Callable[[], tuple[Sequence[Task], Mapping[str, ExperimentData]]]


class FitList:
    """The fits of one experiment, one after the other; `found` are those that are done."""

    def __init__(
        self, plan: Plan, cache: ResultsCache, *, workers: int = 1, scheduler: str | None = None
    ) -> None:
        self.found: list[Done] = []
        self.pace = ProgressEstimate(0)
        self._plan, self._ledger = plan, cache
        self._how: dict[str, Any] = {"workers": workers, "scheduler": scheduler}

    def steps(self, _: object = None) -> Iterator[Done]:
        """Do one fit after the other; those that the ledger knows come first, at once."""
        tasks, data_by_name = self._plan()
        known = set(self._ledger.found)
        self.found, self.pace = [], ProgressEstimate(len(tasks))
        with closing(perform(tasks, data_by_name, self._ledger, **self._how)) as fits:
            for done in fits:
                self.pace.add(again=done.key in known, failed=done.failed)
                self.found.append(done)
                yield done
                SCHEDULER.give_way()

    @property
    def failures(self) -> list[str]:
        """The sentences of fits that failed."""
        return [done.error for done in self.found if done.failed]


@dataclass(eq=False)
class Experiment:
    """One experiment: its fits, their job, and what was asked for."""

    asked: object
    fits: FitList
    job: BackgroundJob[None]
    notes: Mapping[str, Any] = field(default_factory=dict)  # what its figures are drawn with
    memo: dict[int, Any] = field(default_factory=dict)  # an answer by the number of fits behind it


@dataclass(eq=False)
class ExperimentsState:
    """All experiments of a session by name, and the choices that they share."""

    cache: ResultsCache = field(default_factory=ResultsCache)
    at: dict[str, Experiment] = field(default_factory=dict)
    part: str = WORTH  # what the page shows
    rule: int = 0  # which rule is doubted
    rule_turn: int = 0  # grows when another page chooses; part of the keys of widgets
    workers: int = 1
    scheduler: str = ""

    def begin(self, name: str, asked: object, plan: Plan, **notes: Any) -> None:
        """Start an experiment in place of the one of this name."""
        self.stop(name)
        scheduler = self.scheduler.strip() or None
        fits = FitList(plan, self.cache, workers=self.workers, scheduler=scheduler)
        job: BackgroundJob[None] = BackgroundJob(fits.steps)
        self.at[name] = Experiment(asked, fits, job, notes)
        job.launch()

    def doubt(self, rule: int) -> None:
        """Choose a rule to doubt, from another page."""
        self.rule, self.part = rule, WRONG
        self.rule_turn += 1

    def go_on(self, name: str) -> None:
        """Take up an experiment that was stopped."""
        if (work := self.at.get(name)) is not None and work.job.status is JobStatus.STOPPED:
            work.job.go_on()

    def stop(self, name: str | None = None) -> None:
        """Stop one experiment, or all."""
        for own, work in self.at.items():
            if name in (None, own):
                work.job.stop()

    def forget(self) -> None:
        """Stop all, and let go of what is drawn; the ledger stays."""
        self.stop()
        self.at.clear()
        self.rule = 0
