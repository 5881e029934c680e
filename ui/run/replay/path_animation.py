"""The path over lambda1 as a story: features enter one after another as sparsity is relaxed.

A job fits the same data and rules at many values of lambda1, from where no feature is in to where
many are, each fit starting from the one before. Rules count for a fixed share of the patients, so
that nothing but lambda1 moves. The error is that on the test patients; where there
are none, each training patient is judged by a model that did not see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from hipad.exceptions import DataError
from hipad.solvers import Progress
from hipad.solvers.solution import single_thread
from hipad.utils import IntArray, count, number, percent
from ui.dataset import Dataset
from ui.jobs import Job
from ui.models import Request, TrainedModel, largest_useful
from ui.run.replay.mosaic import Mosaic
from ui.run.replay.story import Line, LineChart, Story
from ui.settings import CHOSEN

STEPS: Final = 40
LARGEST, SMALLEST = 4.0, 0.03  # of the lambda1 above which the patients alone let no feature in
MOST_KEPT: Final = 0.02  # share of the features beyond which the path is left,
MANY: Final = 1_000  # if these are more
FOLDS: Final = 5


@dataclass(frozen=True, eq=False)
class RelaxPoint:
    """The model at one lambda1: its features, their signs, and wrong answers on unseen patients."""

    lambda1: float
    features: IntArray
    signs: np.ndarray
    wrong: int
    judged: int

    @property
    def error(self) -> float:
        return self.wrong / self.judged


class Relaxation:
    """A run in the sense of a job: one step for each value of lambda1."""

    def __init__(self, request: Request, points: list[RelaxPoint]) -> None:
        """Of a request; `points` is filled as it goes, for readers in other threads."""
        self._request, self.points = request, points
        self._parts = judged_parts(request.data)
        self._last: Sequence[TrainedModel | None] = [None] * len(self._parts)
        self._steps = self._generate()

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        return next(self._steps)

    def stop(self) -> None:
        """Nothing to do: it rests between two steps."""

    def resume(self) -> None:
        """Nothing to do: the next step goes on."""

    def finish(self) -> list[RelaxPoint]:
        return self.points

    def _generate(self) -> Iterator[Progress]:
        data = self._request.data
        for step, lambda1 in enumerate(lambda_values(self._request), start=1):
            point = self._fit(lambda1)
            before = self.points[-1].features if self.points else np.zeros(0, dtype=np.int64)
            if not point.features.size and not before.size:
                self.points.clear()  # only the last of the empty models is of interest
            self.points.append(point)
            yield _record(step, point, before)
            if point.features.size > max(MOST_KEPT * data.n_features, MANY):
                return

    def _fit(self, lambda1: float) -> RelaxPoint:
        settings = self._request.settings.changed(fewness="exact", lambda1=lambda1)
        with single_thread():
            models = [
                replace(self._request, data=data, settings=settings, trust=None).fit(
                    like=last, quick=True
                )
                for data, last in zip(self._parts, self._last, strict=True)
            ]
        self._last, (whole, *parts) = models, models
        right = [model.judgement.accuracy for model in (parts or [whole])]
        judged = sum(share.n for share in right)
        return RelaxPoint(
            lambda1=lambda1,
            features=whole.support,
            signs=np.sign(whole.weights[whole.support]),
            wrong=judged - sum(share.k for share in right),
            judged=judged,
        )


def lambda_values(request: Request) -> list[float]:
    """Values to try, from large to small."""
    largest = largest_useful(request.data, request.settings)
    if largest <= 0:
        raise DataError(
            "expected a feature that goes with the classes, got none: no feature would ever enter"
        )
    return [float(value) for value in np.geomspace(LARGEST * largest, SMALLEST * largest, STEPS)]


def judged_parts(data: Dataset) -> list[Dataset]:
    """The data to fit; without test patients also the folds whose error counts."""
    if data.judged.part == "test":
        return [data]
    y, groups = data.y_train, data.groups_train
    own = np.arange(len(y)) if groups is None else groups
    fewest = min(np.unique(own[y == name]).size for name in np.unique(y))
    if fewest < 2:
        return [data]
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    parts = list(kind(min(FOLDS, fewest)).split(y, y, groups))
    if any(np.unique(y[rows]).size < 2 for rows, _ in parts):
        return [data]
    return [data, *(_fold(data, rows, out) for rows, out in parts)]


def _fold(data: Dataset, rows: IntArray, out: IntArray) -> Dataset:
    X, y = data.X_train, data.y_train
    groups = None if data.groups_train is None else data.groups_train[out]
    return data.with_training(rows, X_test=X[out], y_test=y[out], groups_test=groups)


def _record(step: int, point: RelaxPoint, before: IntArray) -> Progress:
    came, went = np.setdiff1d(point.features, before), np.setdiff1d(before, point.features)
    empty = np.zeros(0)
    return Progress(0, step, point.error, point.features.size, came, went, 0, 0.0, 0.0, empty, 0.0)


@dataclass(frozen=True, eq=False)
class RelaxedPath:
    """A job that follows the path, and the points it has reached."""

    job: Job[list[RelaxPoint]]
    points: list[RelaxPoint]

    @classmethod
    def of(cls, request: Request) -> RelaxedPath:
        """Begin to follow the path of a request."""
        points: list[RelaxPoint] = []
        job = Job(lambda: Relaxation(request, points), list)
        job.launch()
        return cls(job, points)


def story_of_path(
    path: RelaxedPath,
    mosaic: Mosaic,
    data: Dataset,
    model: TrainedModel | None,
    *,
    expert: bool = False,
) -> Story:
    """The path as frames, with the present model beside it; lambda1 is told to experts."""
    used = None if model is None else float(model.classifier.lambda1_)
    points, live = path.points[:], path.job.is_active
    signs = np.zeros(data.n_features)
    frames, before = [], np.zeros(0, dtype=np.int64)
    for point in points:
        signs[point.features] = point.signs
        came, went = np.setdiff1d(point.features, before), np.setdiff1d(before, point.features)
        frames.append((came, went))
        before = point.features
    who = "test patients" if data.judged.part == "test" else "held-out training patients"
    sizes = [float(point.features.size) for point in points]
    return Story(
        title="",
        axis="degree",
        places=list(range(len(points))),
        words=[_words(k, points, expert) for k in range(len(points))],
        charts=(
            LineChart(
                f"Wrong answers, {who}",
                (Line("", [point.error for point in points], 3),),
                from_zero=True,
                percent=True,
            ),
            LineChart("Features in the model", (Line("", sizes, 2),), from_zero=True, whole=True),
        ),
        mosaic=mosaic,
        moves=mosaic.moves(frames, signs),
        headline="" if live else _headline(points, who),
        aside="" if live or model is None else beside(model),
        state=steps_done(path.job),
        live=live,
        marks=_mark(points, used),
        ticks=_ticks(points, expert),
    )


def _words(k: int, points: Sequence[RelaxPoint], expert: bool) -> str:
    degree = f"Degree {k + 1} of {len(points)}"
    return f"{degree}, lambda1 {number(points[k].lambda1, 2)}" if expert else degree


def _headline(points: Sequence[RelaxPoint], who: str) -> str:
    if not points:
        return ""
    best = min(points, key=lambda point: (point.wrong, point.features.size))
    return (
        f"Fewest wrong answers ({percent(best.error)} of {best.judged:,} {who}) with "
        f"{count(best.features.size, 'feature')}"
    )


def beside(model: TrainedModel) -> str:
    """The present model: a choice by cross-validation settles more than the path varies."""
    right = model.judgement.accuracy
    if model.judgement.part != "test":
        return ""  # its own training patients flatter it
    how = ", chosen by cross-validation" if model.settings.fewness in CHOSEN else ""
    with_features = count(model.support.size, "feature")
    return f"; your run{how}: {percent(1 - right.value)} with {with_features}"


def _mark(points: Sequence[RelaxPoint], used: float | None) -> list[tuple[float, str]]:
    """Where the present model lies between the values tried."""
    if used is None or len(points) < 2 or used <= 0:
        return []
    tried = np.log([point.lambda1 for point in points])[::-1]
    if not tried[0] <= np.log(used) <= tried[-1]:
        return []
    place = len(points) - 1 - float(np.interp(np.log(used), tried, np.arange(len(points))))
    return [(place, "your run")]


def _ticks(points: Sequence[RelaxPoint], expert: bool) -> list[tuple[float, str]]:
    if not expert:
        return [(0, "few allowed"), (len(points) - 1, "many allowed")] if len(points) > 1 else []
    shown = sorted({0, len(points) // 3, 2 * len(points) // 3, len(points) - 1})
    return [(k, f"λ1 {number(points[k].lambda1, 2)}") for k in shown] if points else []


def steps_done(job: Job[Any]) -> str:
    """How far the job is."""
    return f"{len(job.history)} of at most {STEPS} degrees of sparsity fitted"
