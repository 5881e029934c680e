"""lambda1="auto": a warm-started path with cross-validation, and a tempered one-error rule.

For each fold the path runs from large to small lambda1. Each fit is what HIPAD converges to: the
exact elastic net, its working set starting from the last one, then the SVM on what it kept.
Held-out patients are judged by the balanced hinge loss of calibrated scores, which is smooth where
accuracy on a handful of patients is not. The usual rule takes the largest lambda1 within one
standard error of the best; with few patients the losses are so flat that this is often the end of
the path. We go half way to it: accuracy gained on gene-expression data, and features stay few.

Folds follow the content of the rows, not their order: equal rows share a fold. So a row of weight
two and two equal rows give the same choice, and no patient is judged by its own copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hipad.designs.base import Design, FloatArray
from hipad.evaluation.calibration import class_means_at_one
from hipad.solver import Problem
from hipad.solver.exact import WorkingSet
from hipad.solver.ipm import InteriorPoint
from hipad.solver.threads import single_thread

N_FOLDS = 5
N_STEPS = 10
SMALLEST = 0.05  # the path ends at this fraction of lambda1_max
PATIENCE = 3  # values clearly worse than the best before the path is left
TOLERANCE = 1e-6


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


class Fit(NamedTuple):
    """A model on some rows: weights on the features that it kept."""

    features: np.ndarray
    w: FloatArray
    b: float


@dataclass(frozen=True)
class Judge:
    """All patients; scores those that a model did not see."""

    design: Design
    y: FloatArray
    weights: FloatArray

    def loss(self, model: Fit, rows: np.ndarray, out: np.ndarray) -> float:
        """Balanced hinge loss of calibrated scores on the held-out patients."""
        scores = self.design.columns(model.features) @ model.w
        scale = class_means_at_one(scores[rows], self.y[rows], self.weights[rows], model.b)
        margins = self.y * (scale.factor * scores + scale.offset)
        halves = [self._mean_hinge(margins, out[self.y[out] == s]) for s in (-1.0, 1.0)]
        return float(np.mean(halves))

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
    judge: Judge,
    polish: bool,
) -> Iterator[PathPoint]:
    """Fit all folds for each value of lambda1, from large to small, while that may still help."""
    everyone = np.arange(judge.y.size)
    train = [np.setdiff1d(everyone, part) for part in held_out]
    pulls = [np.zeros(judge.design.shape[1]) for _ in train]
    done: list[PathPoint] = []
    for lambda1, last in zip(grid, np.r_[grid[0], grid], strict=False):
        outcomes = []
        for k, (rows, out) in enumerate(zip(train, held_out, strict=True)):
            # The strong rule: pulls grow at most about as fast as lambda1 falls.
            start = np.flatnonzero(pulls[k] >= 2 * lambda1 - last) if done else None
            fit, pulls[k] = _fit(make_problem(float(lambda1), rows), start, polish)
            outcomes.append((judge.loss(fit, rows, out), fit.features.size))
        losses, sizes = zip(*outcomes, strict=True)
        done.append(PathPoint(float(lambda1), losses, float(np.mean(sizes))))
        yield done[-1]
        if _is_hopeless(done):
            return


def _fit(problem: Problem, start: np.ndarray | None, polish: bool) -> tuple[Fit, FloatArray]:
    """The exact elastic net from a set of features, then the SVM on what it kept; and the pulls."""
    with single_thread():
        exact = WorkingSet(problem, start=start, tolerance=TOLERANCE)
        for _ in exact.steps():
            pass
        w = exact.weights
        kept = exact.features[w != 0]
        if not polish:
            return Fit(kept, w[w != 0], exact.ipm.point.b), exact.pull
        point = InteriorPoint(problem, kept, tolerance=TOLERANCE).run()
        return Fit(kept, point.w, point.b), exact.pull


def _is_hopeless(done: list[PathPoint]) -> bool:
    """Whether the last few values were all clearly worse than the best."""
    best = min(done, key=lambda point: point.loss)
    limit = best.loss + best.standard_error
    return len(done) > PATIENCE and all(point.loss > limit for point in done[-PATIENCE:])


def choose(path: list[PathPoint]) -> float:
    """Half way (on a log scale) from the best lambda1 to the largest within one standard error."""
    best = min(path, key=lambda point: point.loss)
    limit = best.loss + best.standard_error
    largest = max(point.lambda1 for point in path if point.loss <= limit)
    return float(np.sqrt(best.lambda1 * largest))
