"""A model as a point score: whole points for steps of each feature, added up by hand.

    score = PointScore.of(view, X_train)
    score.points(X)                    whole numbers
    score.scores(X)                    the model's score that so many points stand for

1. The step of a feature is a round number near its standard deviation; 1 of a column of 0 and 1.
2. A point is worth so much of the score that the strongest step has `most` points.
3. A feature has as many points a step as its weight rounds to; one that has none is left out.
4. Points count from the reference, the value nearest to the mean that is a whole number of steps.

What rounding costs is for rows to tell: compare `scores` with those of the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import sparse

from hipad.evaluation.metrics import PositiveClassView
from hipad.exceptions import DataError
from hipad.utils import FloatArray, IntArray

MOST_POINTS: Final = 5  # of a step of the strongest feature: sums that are done in the head
MOST_ITEMS: Final = 30  # features; a longer list is nobody's bedside score


@dataclass(frozen=True)
class PointItem:
    """A feature of the score: `points` for each `step` that its value lies above `reference`."""

    column: int
    step: float
    reference: float
    points: int


@dataclass(frozen=True)
class PointScore:
    """Whole points that add up to nearly the score of a model.

    Attributes
    ----------
    items : tuple of PointItem
        The features with points, the strongest first.
    unit, base : float
        The score that one point, and that no point, stand for; above zero for the positive class.
    left_out : tuple of int
        Features of the model whose weight rounds to no point.
    """

    items: tuple[PointItem, ...]
    unit: float
    base: float
    left_out: tuple[int, ...] = ()

    @classmethod
    def of(cls, view: PositiveClassView, X_train: Any, *, most: int = MOST_POINTS) -> PointScore:
        """Return the point score of a fitted model.

        Parameters
        ----------
        view : PositiveClassView
            The model, seen from its positive class.
        X_train : array or sparse matrix
            The training rows, whose spread sets the steps.
        most : int, default=5
            Points of a step of the strongest feature.

        Examples
        --------
        >>> from hipad import HIPADClassifier
        >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), ["no", "no", "yes", "yes"]
        >>> view = PositiveClassView(HIPADClassifier(lambda1=0.01).fit(X, y), ("no", "yes"))
        >>> score = PointScore.of(view, X, most=2)
        >>> [(one.step, one.reference, one.points) for one in score.items]
        [(2.0, 2.0, 2)]
        >>> score.points(X).tolist()
        [-2, 0, 0, 2]
        """
        if most < 1:
            raise DataError(f"expected at least 1 point for the strongest feature, got {most}")
        kept = view.support
        if not kept.size:
            raise DataError("expected a model with a feature, got one without: fit it with less "
                            "sparsity")  # fmt: skip
        values = _columns(X_train, kept)
        steps, references = _steps(values)
        weights = view.weights[kept]
        effects = weights * steps
        unit = float(np.abs(effects).max()) / most
        if not unit > 0:
            raise DataError("expected features that differ between rows, got constant ones")
        points = np.rint(effects / unit).astype(int)
        strongest = np.argsort(-np.abs(effects), kind="stable")
        used = [int(j) for j in strongest if points[j]]
        if len(used) > MOST_ITEMS:
            raise DataError(
                f"expected at most {MOST_ITEMS} features for a point score, got {len(used):,}: fit "
                "with max_features, or hand on the model in another form"
            )
        items = tuple(
            PointItem(int(kept[j]), float(steps[j]), float(references[j]), int(points[j]))
            for j in used
        )
        left_out = tuple(int(kept[j]) for j in strongest if not points[j])
        # no point: the mean of what the model says beyond the points of the training rows
        score = cls(items, unit, 0.0, left_out)
        scores = values @ weights + view.intercept
        return cls(items, unit, float(np.mean(scores - unit * score.points(X_train))), left_out)

    def points(self, X: Any) -> IntArray:
        """Return the sum of the points of each row."""
        values = _columns(X, np.array([one.column for one in self.items], dtype=np.intp))
        steps = np.array([one.step for one in self.items])
        references = np.array([one.reference for one in self.items])
        found: IntArray = (
            np.rint((values - references) / steps) @ np.array([one.points for one in self.items])
        ).astype(np.intp)
        return found

    def scores(self, X: Any) -> FloatArray:
        """Return the score of the model that the points of each row stand for."""
        return np.asarray(self.base + self.unit * self.points(X), dtype=np.float64)


def _columns(X: Any, columns: IntArray) -> FloatArray:
    part = X[:, columns]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def _steps(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the step and the reference of each column."""
    steps, references = [], []
    for column in values.T:
        if np.isin(column, (0.0, 1.0)).all():
            steps.append(1.0)
            references.append(0.0)
            continue
        step = nice_step(float(column.std()))
        steps.append(step)
        references.append(step * float(np.rint(column.mean() / step)))
    return np.array(steps), np.array(references)


def nice_step(size: float) -> float:
    """Return 1, 2 or 5 times a power of ten, the one that is nearest to a size as a ratio.

    >>> [nice_step(size) for size in (0.013, 0.4, 6.2, 32.0)]
    [0.01, 0.5, 5.0, 50.0]
    """
    if not size > 0:
        return 1.0
    power = math.floor(math.log10(size))
    candidates = [float(f"{lead}e{power + up}") for up in (0, 1) for lead in (1, 2, 5)]
    return min(candidates, key=lambda one: abs(math.log(one / size)))
