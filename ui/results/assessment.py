"""The assessment of a model as a job: see `hipad.evaluation.assessment`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hipad.evaluation.assessment import Assessment, Source, assess_steps
from hipad.utils import IntArray
from ui.jobs import SCHEDULER, BackgroundJob
from ui.models import Request, TrainedModel
from ui.workbench.cross_validation import FoldFits

UNSEEN_SECONDS: Final = 30.0


@dataclass(frozen=True)
class RequestFits:
    """The rows of a request, and the fits that it asks for."""

    request: Request

    def __getattr__(self, name: str) -> Any:
        """Rows, classes and groups are those of the data."""
        return getattr(self.request.data, name)

    @property
    def has_rules(self) -> bool:
        """Whether there is a model without rules to compare with."""
        return self.request.settings.use_rules and self.request.says_anything

    def start(self, learnt: IntArray | None, *, rules: bool) -> Any:
        """Begin the fit, to some of the training rows or to all."""
        asked = self.request
        if not rules:
            asked = replace(asked, settings=asked.settings.changed(use_rules=False))
        if learnt is not None:
            asked = replace(asked, data=asked.data.with_training(learnt))
        return asked.start(quick=True)


def assessment_job(
    model: TrainedModel, request: Request, source: Source, folds: Sequence[FoldFits]
) -> BackgroundJob[Any]:
    """Return a job that assesses a model; `request` is the fit that makes it anew.

    Parameters
    ----------
    model : TrainedModel
        The fitted model.
    request : Request
        The same fit, with everything that was held from an earlier one chosen again.
    source : "test" or "cross-validated"
        The rows to judge by.
    folds : sequence of FoldFits
        Those of the model and of one without rules, as far as they are done.
    """

    def steps(job: BackgroundJob[Assessment]) -> Iterator[None]:
        names = np.asarray(request.data.called(1 if source == "test" else 0))
        for one in folds:
            one.job.stop()  # this goes on with what it has done
        work = assess_steps(
            RequestFits(request),
            model.classifier,
            source,
            names=names,
            noun=request.data.line_word(1),
            folds=folds,
        )
        while True:
            try:
                step = next(work)
            except StopIteration as end:
                job.outcome = end.value
                break
            job.message, job.progress = step
            yield
            SCHEDULER.give_way()
        job.progress = 1.0

    return BackgroundJob(steps, name="the assessment", unseen_seconds=UNSEEN_SECONDS)


def without_rules(request: Request) -> Request:
    """Return the same fit without the rules, tuned for itself."""
    return replace(request, settings=request.settings.changed(use_rules=False))
