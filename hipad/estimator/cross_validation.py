"""Cross-validation of lambda1 and lambda2: scored held-out rows, and what rules add to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hipad.designs import Design
from hipad.estimator.calibration import Calibration, class_means_at_one
from hipad.estimator.problem_factory import ProblemFactory
from hipad.estimator.training_data import content_folds, given_folds, repeated_folds
from hipad.utils import FloatArray, IntArray

if TYPE_CHECKING:
    from hipad.estimator.path import PathFits


# --------------------------------------------------------------------------------------------------
# How good a value is, told by scores of patients whom its models did not see.
#
# The scores are judged by the logistic loss after the scale and offset that suit them best: neither
# how far a model overstates its margins nor where it puts its intercept has a say. Labels are taken
# with the usual reserve (Platt's targets), so that a few patients who happen to be told apart do
# not make an infinite scale.
#
# The offset tells more: where the best cut lies. That is the intercept of the model.


MOST_STEPS = 50
MOST_FOLDS = 0.5  # share of the folds that keep a feature which is stable
LEAST_SCALE = 0.1  # scores that tell next to nothing say nothing of the cut either


class ScoredSamples(NamedTuple):
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


def logistic_fit(evidence: ScoredSamples) -> PlattFit:
    """The least logistic loss over scale >= 0 and offset, by Newton's method."""
    X = np.column_stack([evidence.scores, evidence.offset])
    start = np.zeros(2)
    found = _newton(X, evidence, start)
    if found[0] < 0:  # the scores point the wrong way: a scale of zero is best
        X = X * [0.0, 1.0]
        found = _newton(X, evidence, start)
    losses = _losses(X @ found, evidence.target)
    return PlattFit(float(found[0]), float(found[1]), _offset_error(X @ found, evidence), losses)


def _offset_error(z: FloatArray, evidence: ScoredSamples) -> float:
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

    def without(self, patients: np.ndarray) -> CVResult:
        """What the others say."""
        weights = self.weights.copy()
        weights[patients] = 0.0
        return replace(self, weights=weights / weights.sum())

    @cached_property
    def loss(self) -> float:
        return float(self.weights @ self.losses)

    def behind(self, other: CVResult) -> tuple[float, float]:
        """By how much the loss is larger than another one's, and the standard error of that.

        Patient by patient: what makes a patient hard for all values does not count.
        """
        difference = self.losses - other.losses
        mean = float(self.weights @ difference)
        variance = variance_of_sum(difference - mean, self.weights, self.counts, self.clusters)
        return mean, float(np.sqrt(variance))


# --------------------------------------------------------------------------------------------------
# Who judges the values of lambda1 and lambda2: held-out patients, and the rules beside them.
#
# Each repeat divides the patients into folds; the models of a fold are judged by the patients whom
# they did not see. Rules have a say too: the typical patient of each, by its worth, halved because
# nobody holds a rule out. It fades with the worth.


SAY = 0.5
FOLDS = 5
MOST_ROWS = 1000  # as many teach enough to choose by, where features are as many
PATIENTS = 120  # scores of the rarer class that a choice should rest on: else folds are repeated
MOST_REPEATS = 4
FARTHEST = 3.0  # times the median: what scores beyond it say, they say there
LEAST_MEDIAN = 1 / FARTHEST  # class means lie at 1, and are no outliers
LEAST_VARIANCE = 1e-6  # of a feature that is constant in a fold, and has no weight there


class CrossValidator:
    """The patients of one fit, divided into folds."""

    def __init__(self, posing: ProblemFactory) -> None:
        data, plan = posing.data, posing.plan
        self.data, self.in_sight = data, not plan.rules or posing.in_sight
        self.says = posing.says() if self.in_sight else ()
        self.named = posing.trial(1.0).stack.features
        given = np.where(np.arange(data.y.size) < data.n_labelled, data.weights, 0.0)
        rarer = min(self._n_patients(given, sign) for sign in (-1.0, 1.0))
        repeats = int(np.clip(round(PATIENTS / max(rarer, 1.0)), 1, MOST_REPEATS))
        seed = plan.random_state or 0
        if isinstance(plan.cv, list):
            self.ways = given_folds(plan.cv, data.y[: data.n_labelled])
        else:
            count = plan.cv or FOLDS
            labelled = data.labelled  # labels that rules gave judge nothing
            groups = None if data.groups is None else data.groups[: data.n_labelled]
            self.ways = repeated_folds(*labelled, count, repeats, seed, groups)
        self.targets = platt_targets(data.y, np.where(given > 0, data.patient_weights, 0.0))

    @cached_property
    def training(self) -> list[np.ndarray]:
        """The training rows of all folds of all repeats, and last those of the model itself."""
        teachers = self._teachers()
        parts = [self._with_their_groups(part) for parts in self.ways for part in parts]
        return [np.setdiff1d(teachers, part) for part in parts] + [teachers]

    def _with_their_groups(self, part: np.ndarray) -> np.ndarray:
        """Held-out rows, and rows of the same groups that have their label from rules."""
        groups = self.data.groups
        if groups is None or not self.data.n_inferred:
            return part
        return np.flatnonzero(np.isin(groups[: self.data.y.size], groups[part]))

    def _n_patients(self, given: FloatArray, sign: float) -> float:
        """How many patients have a row of this class."""
        own = (self.data.y == sign) & (given > 0)
        if self.data.groups is None:
            return float(given[own].sum())
        return float(np.unique(self.data.groups[: own.size][own]).size)

    @property
    def _clusters(self) -> IntArray | None:
        """Numbers that are equal for evidence of one patient; each rule has its own."""
        groups, n = self.data.groups, self.data.y.size
        if groups is None:
            return None
        return np.r_[groups[:n], groups[:n].max() + 1 + np.arange(len(self.says))]

    @cached_property
    def units(self) -> FloatArray | None:
        """The scale of each feature by the training rows of each fold, where it matters."""
        return units_of(self.data.design, self.data.weights, self.training)

    def opinion(self, fits: PathFits) -> CVResult:
        """What patients and rules say of the models at one pair of values."""
        scores, margins = self._outside(fits)
        seen = scores if self.in_sight else self._outside(self._without_named(fits))[0]
        found = [self._fitted(*one) for one in zip(seen, margins, strict=True)]
        heard = np.asarray(np.isfinite(scores).any(axis=0))
        return CVResult(
            lambda1=fits.lambda1,
            lambda2=fits.lambda2,
            losses=_mean_of_known(np.array([one.losses for one in found])),
            weights=self._weights(heard),
            counts=self._counts(),
            scores=np.where(heard, _mean_of_known(scores), np.nan),
            cut=round(float(np.mean([one.cut for one in found])), 3),
            support_size=int(fits.sizes[-1]),
            by_repeat=scores,
            features=fits.features,
            frequency=fits.kept[:, :-1].mean(axis=1),
            clusters=self._clusters,
        )

    def _teachers(self) -> np.ndarray:
        """The rows to learn from while choosing: all, unless rows and features are both many."""
        data = self.data
        n, m = data.design.shape
        if min(n, m) <= MOST_ROWS:
            return np.arange(n)
        parts = content_folds(data.design, data.y, data.p, -(-n // MOST_ROWS), wave=20.0)
        return np.flatnonzero(parts == 0)

    def _without_named(self, fits: PathFits) -> PathFits:
        """Return the models without the features that rules name."""
        named = self.data.design.columns(self.named) @ fits.named
        return replace(fits, scores=fits.scores - named)

    def _outside(self, fits: PathFits) -> tuple[FloatArray, FloatArray]:
        """Calibrated scores of held-out patients, and margins of rules; one row a repeat."""
        scores = np.full((len(self.ways), self.data.y.size), np.nan)
        margins, k = np.zeros((len(self.ways), len(self.says))), 0
        for repeat, parts in enumerate(self.ways):
            for out in parts:
                scale = self._calibration(fits, k)
                scores[repeat, out] = scale.factor * fits.scores[out, k] + scale.offset
                margins[repeat] += scale.factor * self._margins(fits.named[:, k]) / len(parts)
                k += 1
        return _without_outliers(scores, self.data.weights), margins

    def _calibration(self, fits: PathFits, k: int) -> Calibration:
        rows, data = self.training[k], self.data
        scores = fits.scores[rows, k]
        return class_means_at_one(scores, data.y[rows], data.weights[rows], float(fits.b[k]))

    def _margins(self, named: FloatArray) -> FloatArray:
        """Of the patient of each rule, whom the middle between the classes calibrates."""
        at = [np.searchsorted(self.named, say.columns) for say in self.says]
        pairs = zip(self.says, at, strict=True)
        return np.array([say.sign * float(named[own] @ say.z) for say, own in pairs])

    def _fitted(self, scores: FloatArray, margins: FloatArray) -> PlattFit:
        """The best logistic fit of one repeat; patients without a score have a loss of NaN."""
        known, ones = np.r_[np.isfinite(scores), np.ones(margins.size, bool)], np.ones(margins.size)
        evidence = ScoredSamples(
            scores=np.r_[scores, margins][known],
            offset=np.r_[np.ones(scores.size), 0.0 * ones][known],
            target=np.r_[self.targets, ones][known],
            weight=self._weights(np.isfinite(scores))[known],
            patients=self._counts()[known],
            clusters=None if self._clusters is None else self._clusters[known],
        )
        found = logistic_fit(evidence)
        losses = np.full(known.size, np.nan)
        losses[known] = found.losses
        return found._replace(losses=losses)

    def _weights(self, heard: np.ndarray) -> FloatArray:
        """Of the patients who are heard, as their classes count, and of the rules; sum 1."""
        p = np.where(heard, self.data.p, 0.0)
        weights = np.r_[p / p.sum(), [SAY * say.sigma for say in self.says]]
        return weights / weights.sum()

    def _counts(self) -> FloatArray:
        return np.r_[self.data.weights, [say.sigma * self.data.total for say in self.says]]


def units_of(
    design: Design, weights: FloatArray, training: Sequence[np.ndarray]
) -> FloatArray | None:
    """Return the scale of each feature in each set of training rows; None without scaling.

    Columns are standardised on all rows. A fold that used these scales would know more of its
    held-out patients than of new ones: a value that is rare among its own would look tame. What a
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


def _without_outliers(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """No score so far out that a single patient rules the best scale of a repeat.

    A patient with a value that nobody else has may score a hundred times what others do.
    """
    medians = [[weighted_median(np.abs(one), weights)] for one in scores]
    far = FARTHEST * np.maximum(medians, LEAST_MEDIAN)
    return np.clip(scores, -far, far)


def _mean_of_known(rows: FloatArray) -> FloatArray:
    """The mean of each column over what is not NaN; 0 for a column of NaN."""
    known = np.isfinite(rows)
    return np.where(known, rows, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
