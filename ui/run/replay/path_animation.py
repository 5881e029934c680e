"""The path of sparsity as a story: many features melt to the chosen ones, with rules and without.

A job fits the same data at many values of lambda1, from the chosen one to where many features are
in, each fit starting from the one before, with the rules and without them. Rules count for a fixed
share of the patients, so that nothing but lambda1 moves. It is played the other way round, and ends
on the fitted models. Right answers are those of the test patients; where there are none, each
training patient is judged by a model that did not see it.
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
from hipad.utils import IntArray, count, number
from ui.dataset import Dataset
from ui.jobs import BackgroundJob, fit_job
from ui.models import Request, TrainedModel, largest_useful
from ui.run.replay.feature_grid import FeatureGrid
from ui.run.replay.run_animation import FEATURES, RIGHT, headline, judged_words
from ui.run.replay.story import GREY, RIGHT_COLOUR, Line, LineChart, Story

STEPS: Final = 24
LARGEST, SMALLEST = 4.0, 0.03  # of the lambda1 above which the patients alone let no feature in
MOST_KEPT: Final = 0.02  # share of the features beyond which the path is left,
MANY: Final = 1_000  # if these are more
FOLDS: Final = 5


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The model at one lambda1: its features, their signs, and right answers on unseen patients."""

    lambda1: float
    features: IntArray
    signs: np.ndarray
    right: int
    judged: int


class PathFits:
    """A run in the sense of a job: one step for each value of lambda1, on each side."""

    def __init__(self, requests: Sequence[Request], start: float | None) -> None:
        """Of requests on the same data; `points` of each grow as it goes, for other threads."""
        self._requests, self._start = requests, start
        self._parts = judged_parts(requests[0].data)
        self.points: list[list[PathPoint]] = [[] for _ in requests]
        nothing: Sequence[TrainedModel | None] = [None] * len(self._parts)
        self._last = [nothing for _ in requests]
        self._steps = self._generate()

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        return next(self._steps)

    def stop(self) -> None:
        """Nothing to do: it rests between two steps."""

    def resume(self) -> None:
        """Nothing to do: the next step goes on."""

    def finish(self) -> list[list[PathPoint]]:
        """Return the points of each side."""
        return self.points

    def _generate(self) -> Iterator[Progress]:
        n_features = self._requests[0].data.n_features
        for step, lambda1 in enumerate(lambda_values(self._requests[0], self._start), start=1):
            found = [self._fit(side, lambda1) for side in range(len(self._requests))]
            sizes = [point.features.size for point in found]
            for points, point in zip(self.points, found, strict=True):
                points.append(point)
            yield _record(step, sizes[0])
            if max(sizes) > max(MOST_KEPT * n_features, MANY):
                return

    def _fit(self, side: int, lambda1: float) -> PathPoint:
        request = self._requests[side]
        settings = request.settings.changed(fewness="exact", lambda1=lambda1)
        with single_thread():
            models = [
                replace(request, data=data, settings=settings, trust=None).fit(
                    like=last, quick=True
                )
                for data, last in zip(self._parts, self._last[side], strict=True)
            ]
        self._last[side], (whole, *parts) = models, models
        right = [model.judgement.accuracy for model in (parts or [whole])]
        return PathPoint(
            lambda1=lambda1,
            features=whole.support,
            signs=np.sign(whole.weights[whole.support]),
            right=sum(share.k for share in right),
            judged=sum(share.n for share in right),
        )


def lambda_values(request: Request, start: float | None = None) -> list[float]:
    """Return the values to try, from large to small; `start` is that of the chosen model."""
    largest = largest_useful(request.data, request.settings)
    if largest <= 0:
        raise DataError(
            "expected a feature that goes with the classes, got none: no feature would ever enter"
        )
    first, last = start or LARGEST * largest, SMALLEST * largest
    return [float(value) for value in np.geomspace(first, min(last, 0.1 * first), STEPS)]


def judged_parts(data: Dataset) -> list[Dataset]:
    """Return the data to fit; without test patients also the folds whose answers count."""
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
    held = {"X_test": X[out], "y_test": y[out], "groups_test": groups, "is_sealed": False}
    return data.with_training(rows, **held)


def _record(step: int, size: int) -> Progress:
    nothing, empty = np.zeros(0, dtype=int), np.zeros(0)
    return Progress(0, step, 0.0, size, nothing, nothing, 0, 0.0, 0.0, empty, 0.0)


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """A job that follows the path, and the points it has reached on each side."""

    job: BackgroundJob[list[list[PathPoint]]]
    points: list[list[PathPoint]]

    @classmethod
    def of(cls, requests: Sequence[Request], start: float | None = None) -> SparsityPath:
        """Begin to follow the path of requests, from the lambda1 of the chosen model."""
        fits = PathFits(requests, start)
        job = fit_job(lambda: fits, list)
        job.launch()
        return cls(job, fits.points)


def path_story(
    points: Sequence[PathPoint],
    model: TrainedModel | None,
    grid: FeatureGrid,
    data: Dataset,
    *,
    title: str = "",
    live: bool = False,
    state: str = "",
    expert: bool = False,
) -> Story:
    """Return one side of the path, from many features to few; its last frame is the model."""
    shown = [] if live else list(reversed(points))
    ends = [(point.features, point.signs, point.right) for point in shown]
    if model is not None and not live:
        right = model.judgement.accuracy.k
        if data.judged.part != "test" and points:  # its own training patients would flatter it
            right = points[0].right
        ends.append((model.support, np.sign(model.weights[model.support]), right))
    signs = np.zeros(data.n_features)
    frames, before = [], np.zeros(0, dtype=np.int64)
    for features, own, _ in ends:
        signs[features] = own
        frames.append((np.setdiff1d(features, before), np.setdiff1d(before, features)))
        before = features
    who = judged_words(data)
    if data.judged.part != "test":
        who = f"{who}, cross-validated"
    steps = list(range(1, len(ends) + 1))
    return Story(
        title=title,
        axis="step",
        places=steps,
        words=[_words(k, shown, expert=expert) for k in range(len(ends))],
        charts=(
            LineChart(
                f"{RIGHT} ({who})",
                (Line("", [float(right) for *_, right in ends], RIGHT_COLOUR),),
                whole=True,
                most=len(data.judged.y),
            ),
            LineChart(
                FEATURES,
                (Line("", [float(features.size) for features, *_ in ends], GREY),),
                from_zero=True,
                whole=True,
            ),
        ),
        grid=grid,
        moves=grid.moves(frames, signs),
        right=[right for *_, right in ends],
        judged=who,
        headline="" if model is None or live else data.said(headline(model)),
        state=state,
        live=live,
        ticks=[(1, "many allowed"), (len(ends), "the model")] if len(ends) > 1 else [],
    )


def _words(k: int, shown: Sequence[PathPoint], *, expert: bool) -> str:
    if k >= len(shown):
        return "The model"
    allowed = count(shown[k].features.size, "feature")
    words = f"Step {k + 1} of {len(shown)}: {allowed} allowed"
    return f"{words}, lambda1 {number(shown[k].lambda1, 2)}" if expert else words


def steps_done(job: BackgroundJob[Any]) -> str:
    """Return how far the job is."""
    return f"{len(job.history)} of at most {STEPS} levels of sparsity fitted"
