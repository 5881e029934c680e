"""lambda1="auto": a warm-started path with cross-validation, and a mean of its good values.

For each fold the path runs from large to small lambda1. Each fit is what HIPAD converges to: the
exact elastic net, its working set starting from the last one, then the SVM on what it kept.
Held-out patients are judged by the balanced hinge loss of calibrated scores, which is smooth where
accuracy on a handful of patients is not.

With few patients the losses are flat and noisy. The best value is then a matter of chance, and the
largest within one standard error often the end of the path: one or two features. So all values
have a say, each the less the more standard errors its loss lies above the best, and their weighted
geometric mean is taken. Losses that say nothing give the middle of the path, about a third of
lambda1_max; losses that speak clearly give their best value.

The path ends where a model keeps more than a tenth of many features: what follows is not sparse,
and the dearest to fit. Rules do not change where it ends: a rule of hardly any worth changes the
model hardly at all.

Rules have a say too, beside the held-out patients: the loss of the typical patient of each, by its
worth. It fades with the worth.

Folds follow the content of the rows, not their order: equal rows share a fold. So a row of weight
two and two equal rows give the same choice, and no patient is judged by its own copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hipad.designs.base import Design, FloatArray
from hipad.estimator.calibration import class_means_at_one
from hipad.estimator.choosing.posing import Say
from hipad.solver import Problem
from hipad.solver.exact import WorkingSet
from hipad.solver.interior.ipm import InteriorPoint
from hipad.solver.threads import single_thread

N_FOLDS = 5
N_STEPS = 8
SMALLEST = 0.1  # the path ends at this fraction of lambda1_max,
MOST_KEPT = 0.1  # or where this share of the features is kept,
FEW_FEATURES = 100  # if that is more than these
PATIENCE = 3  # values clearly worse than the best before the path is left
TOLERANCE = 1e-6
SAY = 0.5  # a rule has half the say of its patients: nobody holds a rule out


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
    """All patients; scores those that a model did not see. Rules count as their patients do."""

    design: Design
    y: FloatArray
    weights: FloatArray
    rules: tuple[Say, ...] = ()

    def loss(self, model: Fit, fold: Fold) -> float:
        """Balanced hinge loss of calibrated scores on the held-out patients and the rules."""
        rows, out = fold.rows, fold.out
        scores = self.design.columns(model.features) @ model.w
        scale = class_means_at_one(scores[rows], self.y[rows], self.weights[rows], model.b)
        margins = self.y * (scale.factor * scores + scale.offset)
        halves = [self._mean_hinge(margins, out[self.y[out] == s]) for s in (-1.0, 1.0)]
        says = [SAY * rule.sigma for rule in self.rules]
        told = [self._hinge_of(rule, model, scale.factor) for rule in self.rules]
        return float((np.mean(halves) + np.dot(says, told)) / (1.0 + sum(says)))

    def _hinge_of(self, rule: Say, model: Fit, factor: float) -> float:
        """The loss of the patient of a rule, whom the middle between the classes calibrates."""
        _, at, of = np.intersect1d(model.features, rule.columns, return_indices=True)
        return max(0.0, 1.0 - rule.sign * factor * float(model.w[at] @ rule.z[of]))

    def _mean_hinge(self, margins: FloatArray, rows: np.ndarray) -> float:
        return float(np.average(np.maximum(1.0 - margins[rows], 0.0), weights=self.weights[rows]))


MakeProblem = Callable[[float, np.ndarray], Problem]
"""(lambda1, training rows) -> the problem on these rows."""


def lambda_grid(largest: float, first: float = 0.0) -> FloatArray:
    """Values to try, from just below lambda1_max downwards.

    `largest` is lambda1_max of the data alone. Rules, and what is known of features, may begin at a
    larger value, `first`, where no feature enters but theirs.
    """
    return np.geomspace(max(0.9 * largest, first), SMALLEST * largest, N_STEPS)


def most_kept(n_features: int) -> float:
    """How many features are still few."""
    return max(MOST_KEPT * n_features, FEW_FEATURES)


def content_folds(design: Design, y: FloatArray, p: FloatArray) -> np.ndarray:
    """Stratified folds by the content of the rows: ranks of a projection, whatever their order.

    The direction must not know the order of the columns either. Each column's part in it is a
    restless function of how the column goes with the labels: as good as random, and even, so that
    it does not favour a class.
    """
    pull = design.correlate(p * y)
    key = design.dot(np.cos(40.0 * pull / max(float(np.max(np.abs(pull), initial=0.0)), 1e-300)))
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


@dataclass
class Fold:
    """Who trains, who is held out, and how hard each feature pulled at the last lambda1."""

    rows: np.ndarray
    out: np.ndarray
    pull: FloatArray | None = None

    def fit(self, make_problem: MakeProblem, lambda1: float, last: float, polish: bool) -> Fit:
        """The model at the next lambda1."""
        # The strong rule: pulls grow at most about as fast as lambda1 falls.
        start = None if self.pull is None else np.flatnonzero(self.pull >= 2 * lambda1 - last)
        fit, self.pull = _fit(make_problem(lambda1, self.rows), start, polish)
        return fit


def follow_path(
    make_problem: MakeProblem,
    grid: FloatArray,
    held_out: list[np.ndarray],
    judge: Judge,
    polish: bool,
) -> Iterator[PathPoint]:
    """Fit all folds for each value of lambda1, from large to small, while that may still help."""
    everyone = np.arange(judge.y.size)
    folds = [Fold(np.setdiff1d(everyone, part), part) for part in held_out]
    most = most_kept(judge.design.shape[1])
    done: list[PathPoint] = []
    for lambda1, last in zip(grid.tolist(), [grid[0], *grid], strict=False):
        fits = [fold.fit(make_problem, lambda1, last, polish) for fold in folds]
        if not done and not any(fit.features.size for fit in fits):
            continue  # lambda1_max is an upper bound where the classes are not balanced
        if done and any(fit.features.size > most for fit in fits):
            return
        losses = tuple(map(judge.loss, fits, folds))
        done.append(PathPoint(lambda1, losses, float(np.mean([fit.features.size for fit in fits]))))
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
    """The geometric mean of the values, weighted by how near each comes to the least loss.

    >>> flat = [PathPoint(value, (0.4, 0.6), 9) for value in (1.0, 0.1, 0.01)]
    >>> round(choose(flat), 3)
    0.1
    """
    losses = np.array([point.loss for point in path])
    error = float(np.median([point.standard_error for point in path]))
    weights = np.exp(-(losses - losses.min()) / max(error, 1e-12))
    mean = np.exp(np.average(np.log([point.lambda1 for point in path]), weights=weights))
    return float(f"{mean:.3g}")  # losses differ in their last digits with the order of the rows
