"""What a model, and one without its rules, say of rows that neither has learnt from.

Rows are those of the opened test set, or the training rows, each judged by a model that was fitted
without its fold: the whole fit is repeated, with everything that it chooses. The work is done in a
job: a model without rules has to be fitted in either case, tuned for itself.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from hipad.evaluation.curves import training_rows
from hipad.evaluation.metrics import ScoredRows
from hipad.evaluation.new_rows import ConformalSets, cross_conformal
from hipad.exceptions import DataError
from hipad.rules import Budget
from hipad.utils import FloatArray
from ui.dataset import Dataset
from ui.jobs import SCHEDULER, BackgroundJob
from ui.models import Request, TrainedModel
from ui.workbench.cross_validation import FoldFits, fold_fits

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
    noun : str
        What a row is called in sentences: a patient, unless several rows are of one.
    p_values, p_values_without : array or None
        How likely each row is as strange in each class (`hipad.evaluation.new_rows`), with rules
        and without; None where there are too few rows to tell.
    most_coverage : float
        The largest coverage that so many labelled rows allow.
    """

    source: Source
    rows: ScoredRows
    without: ScoredRows | None
    names: np.ndarray
    noun: str = "patient"
    p_values: FloatArray | None = None
    p_values_without: FloatArray | None = None
    most_coverage: float = 1.0


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
        uses_rules = request.settings.use_rules and request.says_anything
        alone = without_rules(request)
        without: ScoredRows | None = None
        told_without: tuple[FloatArray | None, float] = None, 1.0
        if source == "test":
            job.message = "The model judges the test rows"
            rows = _test_rows(model, request.data)
            told = _calibrated(model, rows)
            if uses_rules:
                job.message = "A model without rules is fitted, to compare with"
                run = alone.start(model, quick=True)
                for _ in run:
                    SCHEDULER.give_way()
                    yield
                other = alone.model(run.finish())
                without = _test_rows(other, request.data)
                told_without = _calibrated(other, without)
        else:
            total = 1 + int(uses_rules)
            rows = yield from _cross_validated(folds[0], job, 0, total)
            told = _own_p_values(rows)
            if uses_rules:
                without = yield from _cross_validated(folds[1], job, 1, total)
                told_without = _own_p_values(without)
        which = 1 if source == "test" else 0
        job.outcome = Assessment(
            source,
            rows,
            without,
            np.asarray(request.data.called(which)),
            "patient" if rows.groups is None else "row",
            told[0],
            told_without[0],
            told[1],
        )
        job.progress = 1.0

    return BackgroundJob(steps, name="the assessment", unseen_seconds=UNSEEN_SECONDS)


def without_rules(request: Request) -> Request:
    """Return the same fit without the rules, tuned for itself."""
    return replace(request, settings=request.settings.changed(use_rules=False))


def _calibrated(model: TrainedModel, rows: ScoredRows) -> tuple[FloatArray | None, float]:
    """Return p-values of rows by the out-of-fold scores of the training rows, and their limit."""
    try:
        seen = training_rows(model.classifier, sign=model.oriented.sign)
        sets = ConformalSets.fit(seen.scores, seen.positive, seen.groups)
    except DataError:  # too few rows of a class
        return None, 1.0
    return sets.p_values(rows.scores), sets.most_coverage


def _own_p_values(rows: ScoredRows) -> tuple[FloatArray | None, float]:
    """Return p-values of out-of-fold rows, each without its own patient, and their limit."""
    try:
        found = cross_conformal(rows.scores, rows.positive, rows.groups)
    except DataError:
        return None, 1.0
    return found, ConformalSets.fit(rows.scores, rows.positive, rows.groups).most_coverage


def _test_rows(model: TrainedModel, data: Dataset) -> ScoredRows:
    assert data.X_test is not None
    assert data.y_test is not None
    scores = model.scores(data.X_test)
    positive = data.y_test == data.classes[1]
    return ScoredRows(positive, scores, model.oriented.risks(scores), data.groups_test)


def _cross_validated(
    folds: FoldFits, job: BackgroundJob[Any], number: int, total: int
) -> Generator[None, None, ScoredRows]:
    """Fit without each fold that is not done; return the scored training rows."""
    data = folds.request.data
    folds.job.stop()  # this goes on with what it has done
    which = "without rules" if number else "the model"
    for found in fold_fits(folds.request, Budget(math.inf), folds.found, folds.risks):
        folds.found = found
        job.message = f"Cross-validation of {which}: fold {min(found.done + 1, found.total)} of "
        job.message += f"{found.total}"
        job.progress = (number + found.done / found.total) / total
        yield
    sign = 1.0 if str(np.unique(found.y)[1]) == data.classes[1] else -1.0
    return ScoredRows(
        data.y_train == data.classes[1],
        sign * found.scores,
        folds.risks,
        data.groups_train,
        folds=found.total,
        fitted=float(np.mean(found.fitted)),
    )
