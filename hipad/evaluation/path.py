"""lambda1="auto": a warm-started path with cross-validation and the one-standard-error rule.

For each fold the path runs from large to small lambda1, each fit starting from the last. Held-out
patients are judged by the balanced hinge loss of calibrated scores, which is smooth where accuracy
on a handful of patients is not. Of all lambda1 within one standard error of the best, the largest
is taken: the sparsest model that the data cannot tell from the best one.

Folds follow the content of the rows, not their order: equal rows share a fold. So a row of weight
two and two equal rows give the same choice, and no patient is judged by its own copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hipad.designs.base import Design, FloatArray
from hipad.evaluation.calibration import class_means_at_one
from hipad.solver import Hipad, Problem, Settings, Solution

N_FOLDS = 5
N_STEPS = 12
SMALLEST = 0.05  # the path ends at this fraction of lambda1_max


@dataclass(frozen=True)
class PathPoint:
    """One value of lambda1: losses of the folds and the mean support size."""

    lambda1: float
    losses: tuple[float, ...]
    support_size: float

    @property
    def loss(self) -> float:
        return float(np.mean(self.losses))

    @property
    def standard_error(self) -> float:
        return float(np.std(self.losses, ddof=1) / np.sqrt(len(self.losses)))


@dataclass(frozen=True)
class Judge:
    """All patients; scores those that a model did not see."""

    design: Design
    y: FloatArray
    weights: FloatArray

    def loss(self, model: Solution, rows: np.ndarray, out: np.ndarray) -> tuple[float, int]:
        """Balanced hinge loss of calibrated scores on the held-out patients, and support size."""
        scores = self.design.columns(model.features) @ model.w
        scale = class_means_at_one(scores[rows], self.y[rows], self.weights[rows], model.b)
        margins = self.y * (scale.factor * scores + scale.offset)
        halves = [self._mean_hinge(margins, out[self.y[out] == s]) for s in (-1.0, 1.0)]
        return float(np.mean(halves)), model.features.size

    def _mean_hinge(self, margins: FloatArray, rows: np.ndarray) -> float:
        return float(np.average(np.maximum(1.0 - margins[rows], 0.0), weights=self.weights[rows]))


MakeProblem = Callable[[float, np.ndarray], Problem]
"""(lambda1, training rows) -> the problem on these rows."""


def lambda_grid(largest: float) -> FloatArray:
    """Values to try, from just below lambda1_max downwards."""
    return largest * np.geomspace(0.9, SMALLEST, N_STEPS)


def content_folds(design: Design, y: FloatArray) -> np.ndarray:
    """Stratified folds by the content of the rows: ranks of a fixed random projection."""
    key = design.dot(np.random.default_rng(0).standard_normal(design.shape[1]))
    folds = np.zeros(y.size, dtype=int)
    for sign in (-1.0, 1.0):
        rows = np.flatnonzero(y == sign)
        order = rows[np.argsort(key[rows], kind="stable")]
        steps = np.diff(key[order]) > 1e-9 * np.ptp(key)
        folds[order] = np.r_[0, np.cumsum(steps)] % N_FOLDS
    return folds


def usable_folds(folds: np.ndarray, y: FloatArray) -> list[np.ndarray]:
    """Held-out rows of each fold whose training and held-out parts hold both classes."""
    parts = [np.flatnonzero(folds == k) for k in range(N_FOLDS)]

    def both(rows: np.ndarray) -> bool:
        return len(np.unique(y[rows])) == 2

    return [part for part in parts if both(part) and both(np.setdiff1d(np.arange(y.size), part))]


def follow_path(
    make_problem: MakeProblem,
    grid: FloatArray,
    held_out: list[np.ndarray],
    whole: Judge,
    settings: Settings,
) -> Iterator[PathPoint]:
    """Fit all folds for each value of lambda1, from large to small."""
    everyone = np.arange(whole.y.size)
    train = [np.setdiff1d(everyone, part) for part in held_out]
    last: list[Hipad | None] = [None] * len(train)
    for lambda1 in grid:
        outcomes = []
        for k, (rows, out) in enumerate(zip(train, held_out, strict=True)):
            run = Hipad(make_problem(float(lambda1), rows), settings, warm=last[k])
            outcomes.append(whole.loss(run.run(), rows, out))
            last[k] = run
        losses, sizes = zip(*outcomes, strict=True)
        yield PathPoint(float(lambda1), losses, float(np.mean(sizes)))


def choose(path: list[PathPoint]) -> float:
    """The largest lambda1 within one standard error of the best."""
    best = min(path, key=lambda point: point.loss)
    limit = best.loss + best.standard_error
    return max(point.lambda1 for point in path if point.loss <= limit)
