"""Cross-validation of lambda1 and lambda2: scored held-out rows, and what rules add to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hipad.designs import Design
from hipad.estimator.calibration import Calibration, class_means_at_one
from hipad.estimator.problem_factory import (
    ProblemFactory,
    content_folds,
    given_folds,
    repeated_folds,
)
from hipad.utils import FloatArray, IntArray

if TYPE_CHECKING:
    from hipad.estimator.path import PathFits


# --------------------------------------------------------------------------------------------------
# Excess losses of pairs (lambda1, lambda2) on rows that their models did not see.
#
# The scores are judged by the logistic loss after the scale and offset that suit them best: neither
# how far a model overstates its margins nor where it puts its intercept has a say. Labels are taken
# with the usual reserve (Platt's targets), so that a few rows that are separated by chance do
# not make an infinite scale.
#
# The offset tells more: where the best cut lies. That is the intercept of the model.


MOST_STEPS = 50
LEAST_SCALE = 0.1  # a smaller scale does not determine the cut


class ScoredSamples(NamedTuple):
    """Scores with targets, weights, and for how many rows each counts.

    `offset` is 0 where the offset must not matter (rules). Rows of one group have the same
    number in `clusters`.
    """

    scores: FloatArray
    offset: FloatArray
    target: FloatArray
    weight: FloatArray
    counts: FloatArray
    clusters: IntArray | None = None


class PlattFit(NamedTuple):
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
    """Return the target of each row: not quite 1 and 0.

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


def logistic_fit(evidence: ScoredSamples) -> PlattFit:
    """The least logistic loss over scale >= 0 and offset, by Newton's method."""
    X = np.column_stack([evidence.scores, evidence.offset])
    start = np.zeros(2)
    found = _newton(X, evidence, start)
    if found[0] < 0:  # the scores are in the wrong order: a scale of zero is best
        X = X * [0.0, 1.0]
        found = _newton(X, evidence, start)
    losses = _losses(X @ found, evidence.target)
    return PlattFit(float(found[0]), float(found[1]), _offset_error(X @ found, evidence), losses)


def _offset_error(z: FloatArray, evidence: ScoredSamples) -> float:
    """The standard error of the offset at its best, given the scale."""
    q = 1.0 / (1.0 + np.exp(-z))
    curvature = evidence.offset @ (evidence.weight * q * (1 - q))
    parts = evidence.offset * (q - evidence.target)
    noise = variance_of_sum(parts, evidence.weight, evidence.counts, evidence.clusters)
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


def _newton(X: FloatArray, evidence: ScoredSamples, at: FloatArray) -> FloatArray:
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
class CVResult:
    """Losses of held-out rows and of rules at one pair of values.

    `losses` and `weights` have one entry for each row, then for each rule; `counts` are the rows
    that each counts for. `scores` are those of the rows, on the scale of decision
    values, averaged over the repeats, and NaN for a row that every fold needed; `by_repeat` has
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
    clusters: IntArray | None = None  # equal numbers for rows of one group
    stable_share: float = 0.5

    @cached_property
    def stable(self) -> np.ndarray:
        """The features that most folds keep; those that are kept most often, where none is."""
        least = min(self.stable_share, float(self.frequency.max(initial=0.0)))
        return self.features[self.frequency >= least]

    @cached_property
    def error(self) -> float:
        """The standard error of the loss."""
        parts = (self.losses - self.loss, self.weights, self.counts, self.clusters)
        return float(np.sqrt(variance_of_sum(*parts)))

    def without(self, rows: np.ndarray) -> CVResult:
        """Return the result on all other rows."""
        weights = self.weights.copy()
        weights[rows] = 0.0
        return replace(self, weights=weights / weights.sum())

    @cached_property
    def loss(self) -> float:
        return float(self.weights @ self.losses)

    def excess_loss(self, other: CVResult) -> tuple[float, float]:
        """Return the excess over another loss, and its standard error, by paired differences."""
        difference = self.losses - other.losses
        mean = float(self.weights @ difference)
        variance = variance_of_sum(difference - mean, self.weights, self.counts, self.clusters)
        return mean, float(np.sqrt(variance))


# --------------------------------------------------------------------------------------------------
# Cross-validation of lambda1 and lambda2 by held-out rows, with the rules beside them.
#
# Each repeat divides the rows into folds; the models of a fold are judged by the rows that they
# did not see. Rules vote too: the typical row of each, by its weight, halved because
# nobody holds a rule out. It fades with the worth.


LEAST_VARIANCE = 1e-6  # of a feature that is constant in a fold, and has no weight there


class CrossValidator:
    """Repeated folds of the rows of one fit, and the results on them."""

    def __init__(self, factory: ProblemFactory) -> None:
        data, plan = factory.data, factory.plan
        self.data, self.in_sight = data, not plan.rules or factory.in_sight
        self.settings, self.vote_weight = plan.selection, plan.rule_settings.vote
        self.votes = factory.rule_votes() if self.in_sight else ()
        self.named = factory.trial(1.0).stack.features
        given = np.where(np.arange(data.y.size) < data.n_labelled, data.weights, 0.0)
        rarer = min(self._count_of(given, sign) for sign in (-1.0, 1.0))
        own = self.settings
        repeats = int(np.clip(round(own.judged_rows / max(rarer, 1.0)), 1, own.max_repeats))
        seed = plan.random_state or 0
        if isinstance(plan.cv, list):
            self.repeats = given_folds(plan.cv, data.y[: data.n_labelled])
        else:
            count = plan.cv or own.n_folds
            labelled = data.labelled  # labels that rules gave judge nothing
            groups = None if data.groups is None else data.groups[: data.n_labelled]
            self.repeats = repeated_folds(*labelled, count, repeats, seed, groups)
        self.targets = platt_targets(data.y, np.where(given > 0, data.group_weights, 0.0))

    @cached_property
    def training(self) -> list[np.ndarray]:
        """The training rows of all folds of all repeats, and last those of the model itself."""
        rows = self._training_rows()
        parts = [self._with_their_groups(part) for parts in self.repeats for part in parts]
        return [np.setdiff1d(rows, part) for part in parts] + [rows]

    def _with_their_groups(self, part: np.ndarray) -> np.ndarray:
        """Held-out rows, and rows of the same groups that have their label from rules."""
        groups = self.data.groups
        if groups is None or not self.data.n_inferred:
            return part
        return np.flatnonzero(np.isin(groups[: self.data.y.size], groups[part]))

    def _count_of(self, given: FloatArray, sign: float) -> float:
        """Count the groups, or else rows, of this class."""
        own = (self.data.y == sign) & (given > 0)
        if self.data.groups is None:
            return float(given[own].sum())
        return float(np.unique(self.data.groups[: own.size][own]).size)

    @property
    def _clusters(self) -> IntArray | None:
        """Numbers that are equal for rows of one group; each rule has its own."""
        groups, n = self.data.groups, self.data.y.size
        if groups is None:
            return None
        return np.r_[groups[:n], groups[:n].max() + 1 + np.arange(len(self.votes))]

    @cached_property
    def units(self) -> FloatArray | None:
        """The scale of each feature by the training rows of each fold, where it matters."""
        return units_of(self.data.design, self.data.weights, self.training)

    def evaluate(self, fits: PathFits) -> CVResult:
        """Return the result of the models at one pair of values."""
        scores, margins = self._outside(fits)
        seen = scores if self.in_sight else self._outside(self._without_named(fits))[0]
        found = [self._fitted(*one) for one in zip(seen, margins, strict=True)]
        known = np.asarray(np.isfinite(scores).any(axis=0))
        return CVResult(
            lambda1=fits.lambda1,
            lambda2=fits.lambda2,
            losses=_mean_of_known(np.array([one.losses for one in found])),
            weights=self._weights(known),
            counts=self._counts(),
            scores=np.where(known, _mean_of_known(scores), np.nan),
            cut=round(float(np.mean([one.cut for one in found])), 3),
            support_size=int(fits.sizes[-1]),
            by_repeat=scores,
            features=fits.features,
            frequency=fits.kept[:, :-1].mean(axis=1),
            clusters=self._clusters,
            stable_share=self.settings.stable_share,
        )

    def _training_rows(self) -> np.ndarray:
        """The rows to learn from while choosing: all, unless rows and features are both many."""
        data, most = self.data, self.settings.max_rows
        n, m = data.design.shape
        if min(n, m) <= most:
            return np.arange(n)
        parts = content_folds(data.design, data.y, data.p, -(-n // most), wave=20.0)
        return np.flatnonzero(parts == 0)

    def _without_named(self, fits: PathFits) -> PathFits:
        """Return the models without the features that rules name."""
        named = self.data.design.columns(self.named) @ fits.named
        return replace(fits, scores=fits.scores - named)

    def _outside(self, fits: PathFits) -> tuple[FloatArray, FloatArray]:
        """Calibrated scores of held-out rows, and margins of rules; one row a repeat."""
        scores = np.full((len(self.repeats), self.data.y.size), np.nan)
        margins, k = np.zeros((len(self.repeats), len(self.votes))), 0
        for repeat, parts in enumerate(self.repeats):
            for out in parts:
                scale = self._calibration(fits, k)
                scores[repeat, out] = scale.factor * fits.scores[out, k] + scale.offset
                margins[repeat] += scale.factor * self._margins(fits.named[:, k]) / len(parts)
                k += 1
        return _without_outliers(scores, self.data.weights, self.settings.outlier), margins

    def _calibration(self, fits: PathFits, k: int) -> Calibration:
        rows, data = self.training[k], self.data
        scores = fits.scores[rows, k]
        return class_means_at_one(scores, data.y[rows], data.weights[rows], float(fits.b[k]))

    def _margins(self, named: FloatArray) -> FloatArray:
        """Return the margin of each rule's typical row, from the middle between the classes."""
        at = [np.searchsorted(self.named, vote.columns) for vote in self.votes]
        pairs = zip(self.votes, at, strict=True)
        return np.array([vote.sign * float(named[own] @ vote.z) for vote, own in pairs])

    def _fitted(self, scores: FloatArray, margins: FloatArray) -> PlattFit:
        """The best logistic fit of one repeat; rows without a score have a loss of NaN."""
        known, ones = np.r_[np.isfinite(scores), np.ones(margins.size, bool)], np.ones(margins.size)
        evidence = ScoredSamples(
            scores=np.r_[scores, margins][known],
            offset=np.r_[np.ones(scores.size), 0.0 * ones][known],
            target=np.r_[self.targets, ones][known],
            weight=self._weights(np.isfinite(scores))[known],
            counts=self._counts()[known],
            clusters=None if self._clusters is None else self._clusters[known],
        )
        found = logistic_fit(evidence)
        losses = np.full(known.size, np.nan)
        losses[known] = found.losses
        return found._replace(losses=losses)

    def _weights(self, known: np.ndarray) -> FloatArray:
        """Return the weights of the known rows and of the rules; they sum to 1."""
        p = np.where(known, self.data.p, 0.0)
        weights = np.r_[p / p.sum(), [self.vote_weight * vote.sigma for vote in self.votes]]
        return weights / weights.sum()

    def _counts(self) -> FloatArray:
        return np.r_[self.data.weights, [vote.sigma * self.data.total for vote in self.votes]]


def units_of(
    design: Design, weights: FloatArray, training: Sequence[np.ndarray]
) -> FloatArray | None:
    """Return the scale of each feature in each set of training rows; None without scaling.

    Columns are standardised on all rows. A fold that used these scales would know more of its
    held-out rows than of new ones: a value that is rare among its own would look tame. What a
    scale has beyond the deviation of its column (in wide tables) is left as it is.
    """
    if design.scale is None:
        return None
    shares = np.zeros((weights.size, len(training) + 1))
    for k, rows in enumerate([*training, np.arange(weights.size)]):
        shares[rows, k] = weights[rows] / weights[rows].sum()
    variance = design.square_sums(shares) - design.correlate(shares) ** 2
    beyond = np.maximum(1.0 - variance[:, -1:], 0.0)
    return np.sqrt(np.maximum(variance[:, :-1] + beyond, LEAST_VARIANCE))


def _without_outliers(scores: FloatArray, weights: FloatArray, outlier: float) -> FloatArray:
    """Clip scores, so that no single row determines the scale of a repeat."""
    medians = [[weighted_median(np.abs(one), weights)] for one in scores]
    far = outlier * np.maximum(medians, 1.0 / outlier)  # class means lie at 1, and are no outliers
    return np.clip(scores, -far, far)


def _mean_of_known(rows: FloatArray) -> FloatArray:
    """The mean of each column over what is not NaN; 0 for a column of NaN."""
    known = np.isfinite(rows)
    return np.where(known, rows, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
