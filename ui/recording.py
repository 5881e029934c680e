"""A fit that is recorded: what each of its steps looks like to those who watch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hipad.estimator.fit import FitRun
from hipad.estimator.trust import LinearModel, ObjectiveParts
from hipad.solvers import Progress
from hipad.solvers.solution import single_thread
from ui.dataset import Dataset


@dataclass(frozen=True)
class RecordedStep(Progress):
    """A step with its right answers on the judged rows and the terms of its objective.

    `spent` are the seconds that the fit has computed until its end, without pauses, and without
    what it takes to record.
    """

    right: int = 0
    parts: ObjectiveParts | None = None
    spent: float = 0.0


class RecordedRun:
    """A fit in the sense of a job, whose steps are recorded as they are taken."""

    def __init__(self, run: FitRun[Any], data: Dataset) -> None:
        self._run, self._judged = run.watch(), data.judged
        second = sorted(data.classes)[1]  # scikit-learn's order; above zero the model says this one
        self._is_second = np.asarray(self._judged.y) == second
        self._spent = 0.0

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        begun = time.perf_counter()
        try:
            record = next(self._run)
        finally:
            self._spent += time.perf_counter() - begun
        with single_thread():
            now = self._run.present()
            right = 0 if now is None else self._right(now.model)
        return RecordedStep(
            **vars(record),
            right=right,
            parts=None if now is None else now.parts,
            spent=self._spent,
        )

    def _right(self, model: LinearModel) -> int:
        weights = np.zeros(self._judged.X.shape[1])
        weights[model.features] = model.coef
        scores = np.asarray(self._judged.X @ weights + model.intercept)
        return int(np.sum((scores > 0) == self._is_second))

    def stop(self) -> None:
        """End after the present step."""
        self._run.stop()

    def resume(self) -> None:
        """Let a stopped fit go on."""
        self._run.resume()

    def finish(self) -> Any:
        """Return the classifier so far."""
        return self._run.finish()


def seconds_of(steps: list[Progress]) -> dict[int, float]:
    """Return the seconds of each phase; 0 is the choice of values before phase 1."""
    found: dict[int, float] = {}
    before = 0.0
    for step in steps:
        if isinstance(step, RecordedStep):
            found[step.phase] = found.get(step.phase, 0.0) + step.spent - before
            before = step.spent
    return found
