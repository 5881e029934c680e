"""What a model, and one without its rules, say of rows that neither has learnt from.

Rows are those of the opened test set, or the training rows, each judged by a model that was fitted
without its fold: the whole fit is repeated, with everything that it chooses. The work is done in a
job: a model without rules has to be fitted in either case, tuned for itself.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from hipad.evaluation.cross_validation import CrossValidation, cross_fit
from hipad.evaluation.metrics import PositiveClassView, ScoredRows
from hipad.utils import IntArray
from ui.dataset import Dataset
from ui.jobs import SCHEDULER, BackgroundJob
from ui.models import Request, TrainedModel

Source = Literal["test", "cross-validated"]
UNSEEN_SECONDS: Final = 30.0


@dataclass(frozen=True, eq=False)
class Assessment:
    """Scores and risks of the same rows, with rules and without.

    Attributes
    ----------
    source : "test" or "cross-validated"
        Which rows these are.
    rows : ScoredRows
        What the model says of them.
    without : ScoredRows or None
        What a model without rules says of them, tuned for itself; None where there are no rules.
    names : array
        What each row is called: its ID or its number in the file.
    """

    source: Source
    rows: ScoredRows
    without: ScoredRows | None
    names: np.ndarray


def assessment_job(model: TrainedModel, request: Request, source: Source) -> BackgroundJob[Any]:
    """Return a job that assesses a model; `request` is the fit that makes it anew.

    Parameters
    ----------
    model : TrainedModel
        The fitted model.
    request : Request
        The same fit, with everything that was held from an earlier one chosen again.
    source : "test" or "cross-validated"
        The rows to judge by.
    """

    def steps(job: BackgroundJob[Assessment]) -> Iterator[None]:
        uses_rules = request.settings.use_rules and request.says_anything
        alone = replace(request, settings=request.settings.changed(use_rules=False))
        if source == "test":
            job.message = "The model judges the test rows"
            rows = _test_rows(model, request.data)
            without = None
            if uses_rules:
                job.message = "A model without rules is fitted, to compare with"
                run = alone.start(model, quick=True)
                for _ in run:
                    SCHEDULER.give_way()
                    yield
                without = _test_rows(alone.model(run.finish()), request.data)
        else:
            total = 1 + int(uses_rules)
            rows = yield from _cross_validated(request, job, 0, total)
            without = None
            if uses_rules:
                without = yield from _cross_validated(alone, job, 1, total)
        which = 1 if source == "test" else 0
        job.outcome = Assessment(source, rows, without, np.asarray(request.data.called(which)))
        job.progress = 1.0

    return BackgroundJob(steps, name="the assessment", unseen_seconds=UNSEEN_SECONDS)


def _test_rows(model: TrainedModel, data: Dataset) -> ScoredRows:
    assert data.X_test is not None
    assert data.y_test is not None
    scores = model.scores(data.X_test)
    positive = data.y_test == data.classes[1]
    return ScoredRows(positive, scores, model.oriented.risks(scores), data.groups_test)


def _cross_validated(
    request: Request, job: BackgroundJob[Any], number: int, total: int
) -> Generator[None, None, ScoredRows]:
    """Fit without each fold in turn; return the scored training rows."""
    data = request.data
    begun = CrossValidation.of(data.y_train, groups=data.groups_train)
    risks = np.full(len(data.y_train), np.nan)
    scores = np.full(len(data.y_train), np.nan)

    def start(learnt: IntArray) -> Any:
        return replace(request, data=data.with_training(learnt)).start(quick=True)

    def score(fitted: Any, held: IntArray) -> Any:
        view = PositiveClassView(fitted, data.classes)
        scores[held] = view.scores(data.X_train[held])
        risks[held] = view.risks(scores[held])
        return fitted.decision_function(data.X_train[held])

    which = "without rules" if number else "the model"
    found = begun
    for found in cross_fit(begun, start, score):
        job.message = f"Cross-validation of {which}: fold {min(found.done + 1, found.total)} of "
        job.message += f"{found.total}"
        job.progress = (number + found.done / found.total) / total
        yield
        SCHEDULER.give_way()
    return ScoredRows(
        data.y_train == data.classes[1],
        scores,
        risks,
        data.groups_train,
        folds=found.total,
        fitted=float(np.mean(found.fitted)),
    )
