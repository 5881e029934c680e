"""How good a value is, told by scores of patients whom its models did not see.

The scores are judged by the logistic loss after the scale and offset that suit them best: neither
how far a model overstates its margins nor where it puts its intercept has a say. Labels are taken
with the usual reserve (Platt's targets), so that a few patients who happen to be told apart do not
make an infinite scale.

The offset tells more: where the best cut lies. That is the intercept of the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hipad.arrays import IntArray
from hipad.designs.base import FloatArray

MOST_STEPS = 50
MOST_FOLDS = 0.5  # share of the folds that keep a feature which is stable
LEAST_SCALE = 0.1  # scores that tell next to nothing say nothing of the cut either


class Evidence(NamedTuple):
    """Scores with targets, weights, and for how many patients each of them speaks.

    `offset` is 0 where the offset must not matter (rules). Evidence of one patient has the same
    number in `clusters`.
    """

    scores: FloatArray
    offset: FloatArray
    target: FloatArray
    weight: FloatArray
    patients: FloatArray
    clusters: IntArray | None = None


class Fitted(NamedTuple):
    """The best scale and offset, and the loss of each piece of evidence."""

    scale: float
    offset: float
    offset_error: float
    losses: FloatArray

    @property
    def cut(self) -> float:
        """The score at which both classes are as likely, drawn towards 0 by its error."""
        if self.offset_error >= abs(self.offset):
            return 0.0
        sure = 1.0 - (self.offset_error / abs(self.offset)) ** 2
        return -sure * self.offset / max(self.scale, LEAST_SCALE)


def platt_targets(y: FloatArray, weights: FloatArray) -> FloatArray:
    """What a patient of each class counts as: not quite 1 and 0.

    >>> platt_targets(np.array([1.0, 1.0, -1.0]), np.ones(3)).round(3).tolist()
    [0.75, 0.75, 0.333]
    """
    high, low = (float(weights[y == sign].sum()) for sign in (1.0, -1.0))
    return np.where(y > 0, (high + 1) / (high + 2), 1 / (low + 2))


def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The median of what is not NaN, where a weight of two counts as two.

    >>> weighted_median(np.array([3.0, 1.0, np.nan, 2.0]), np.array([2.0, 1.0, 9.0, 1.0]))
    2.5
    """
    order = np.argsort(np.where(np.isfinite(values), values, np.inf))
    known = order[np.isfinite(values[order])]
    below = np.cumsum(weights[known]) / weights[known].sum()
    low, high = np.searchsorted(below, [0.5 - 1e-12, 0.5 + 1e-12])
    return float((values[known[low]] + values[known[min(high, known.size - 1)]]) / 2)


def upper_median(values: FloatArray, weights: FloatArray) -> float:
    """The value with half of the weight on either side; of two such values the larger one.

    >>> upper_median(np.array([1.0, 5.0, 2.0]), np.array([1.0, 2.0, 1.0]))
    5.0
    """
    order = np.argsort(-values)
    above = np.cumsum(weights[order]) / weights.sum()
    return float(values[order[np.searchsorted(above, 0.5 - 1e-9)]])


def logistic_fit(evidence: Evidence) -> Fitted:
    """The least logistic loss over scale >= 0 and offset, by Newton's method."""
    X = np.column_stack([evidence.scores, evidence.offset])
    start = np.zeros(2)
    found = _newton(X, evidence, start)
    if found[0] < 0:  # the scores point the wrong way: a scale of zero is best
        X = X * [0.0, 1.0]
        found = _newton(X, evidence, start)
    losses = _losses(X @ found, evidence.target)
    return Fitted(float(found[0]), float(found[1]), _offset_error(X @ found, evidence), losses)


def _offset_error(z: FloatArray, evidence: Evidence) -> float:
    """The standard error of the offset at its best, given the scale."""
    q = 1.0 / (1.0 + np.exp(-z))
    curvature = evidence.offset @ (evidence.weight * q * (1 - q))
    parts = evidence.offset * (q - evidence.target)
    noise = variance_of_sum(parts, evidence.weight, evidence.patients, evidence.clusters)
    return float(np.sqrt(noise) / max(curvature, 1e-300))


def variance_of_sum(
    parts: FloatArray, weight: FloatArray, counts: FloatArray, clusters: IntArray | None
) -> float:
    """Return the variance of a weighted sum of centred parts, by how they vary themselves.

    A part of count two is two independent ones. Parts of one cluster are not independent of each
    other: their sum is what varies.

    >>> parts, ones = np.array([1.0, 1.0, -1.0]), np.ones(3)
    >>> variance_of_sum(parts, ones, ones, None), variance_of_sum(parts, ones, ones, [0, 0, 1])
    (3.0, 5.0)
    """
    if clusters is None:
        return float((weight**2 / counts) @ parts**2)
    sums = np.bincount(clusters, weight * parts)
    return float(sums @ sums)


def _newton(X: FloatArray, evidence: Evidence, at: FloatArray) -> FloatArray:
    weight, target = evidence.weight, evidence.target
    value = weight @ _losses(X @ at, target)
    for _ in range(MOST_STEPS):
        q = 1.0 / (1.0 + np.exp(-X @ at))
        gradient = X.T @ (weight * (q - target))
        hessian = (X.T * (weight * q * (1 - q))) @ X
        hessian[np.diag_indices(2)] += 1e-12 + 1e-9 * np.trace(hessian)
        step = np.linalg.solve(hessian, -gradient)
        while weight @ _losses(X @ (at + step), target) > value and np.abs(step).max() > 1e-12:
            step = step / 2
        at, before = at + step, value
        value = weight @ _losses(X @ at, target)
        if before - value <= 1e-12 * abs(before):
            break
    return at


def _losses(z: FloatArray, target: FloatArray) -> FloatArray:
    return np.logaddexp(0.0, z) - target * z


@dataclass(frozen=True)
class Opinion:
    """What held-out patients (and rules) say of one pair of values.

    `losses` and `weights` have one entry for each patient, then for each rule; `counts` say for how
    many patients each of them speaks. `scores` are those of the patients, on the scale of decision
    values, averaged over the repeats, and NaN for a patient whom every fold needed; `by_repeat` has
    a row for each repeat. `features` are those that some model keeps, and `frequency` says how many
    of the folds keep each.
    """

    lambda1: float
    lambda2: float
    losses: FloatArray
    weights: FloatArray
    counts: FloatArray
    scores: FloatArray
    cut: float
    support_size: int
    by_repeat: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    features: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    frequency: FloatArray = field(default_factory=lambda: np.zeros(0))
    clusters: IntArray | None = None  # equal numbers for rows of one patient

    @cached_property
    def stable(self) -> np.ndarray:
        """The features that most folds keep; those that are kept most often, where none is."""
        least = min(MOST_FOLDS, float(self.frequency.max(initial=0.0)))
        return self.features[self.frequency >= least]

    @cached_property
    def error(self) -> float:
        """The standard error of the loss."""
        parts = (self.losses - self.loss, self.weights, self.counts, self.clusters)
        return float(np.sqrt(variance_of_sum(*parts)))

    def without(self, patients: np.ndarray) -> Opinion:
        """What the others say."""
        weights = self.weights.copy()
        weights[patients] = 0.0
        return replace(self, weights=weights / weights.sum())

    @cached_property
    def loss(self) -> float:
        return float(self.weights @ self.losses)

    def behind(self, other: Opinion) -> tuple[float, float]:
        """By how much the loss is larger than another one's, and the standard error of that.

        Patient by patient: what makes a patient hard for all values does not count.
        """
        difference = self.losses - other.losses
        mean = float(self.weights @ difference)
        variance = variance_of_sum(difference - mean, self.weights, self.counts, self.clusters)
        return mean, float(np.sqrt(variance))
