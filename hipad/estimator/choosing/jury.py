"""Who judges the values of lambda1 and lambda2: held-out patients, and the rules beside them.

Each repeat divides the patients into folds; the models of a fold are judged by the patients whom
they did not see. Rules have a say too: the typical patient of each, by its worth, halved because
nobody holds a rule out. It fades with the worth.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from hipad.arrays import IntArray
from hipad.designs.base import FloatArray
from hipad.estimator.calibration import Calibration, class_means_at_one
from hipad.estimator.choosing.folds import content_folds, given_folds, repeated_folds
from hipad.estimator.choosing.following import Fits
from hipad.estimator.choosing.posing import Posing
from hipad.estimator.choosing.weighing import (
    Evidence,
    Fitted,
    Opinion,
    logistic_fit,
    platt_targets,
    weighted_median,
)

SAY = 0.5
FOLDS = 5
MOST_ROWS = 1000  # as many teach enough to choose by, where features are as many
PATIENTS = 120  # scores of the rarer class that a choice should rest on: else folds are repeated
MOST_REPEATS = 4
FARTHEST = 3.0  # times the median: what scores beyond it say, they say there
LEAST_MEDIAN = 1 / FARTHEST  # class means lie at 1, and are no outliers
LEAST_VARIANCE = 1e-6  # of a feature that is constant in a fold, and has no weight there


class Jury:
    """The patients of one fit, divided into folds."""

    def __init__(self, posing: Posing) -> None:
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
        """The scale of each feature by the training rows of each fold, where it matters.

        Columns are standardised on all rows. A fold that used these scales would know more of its
        held-out patients than of new ones: a value that is rare among its own would look tame. What
        a scale has beyond the deviation of its column (in wide tables) is left as it is.
        """
        data = self.data
        if data.design.scale is None:
            return None
        everyone = np.arange(data.y.size)
        shares = np.zeros((data.y.size, len(self.training) + 1))
        for k, rows in enumerate([*self.training, everyone]):
            shares[rows, k] = data.weights[rows] / data.weights[rows].sum()
        variance = data.design.square_sums(shares) - data.design.correlate(shares) ** 2
        beyond = np.maximum(1.0 - variance[:, -1:], 0.0)
        return np.sqrt(np.maximum(variance[:, :-1] + beyond, LEAST_VARIANCE))

    def opinion(self, fits: Fits) -> Opinion:
        """What patients and rules say of the models at one pair of values."""
        scores, margins = self._outside(fits)
        seen = scores if self.in_sight else self._outside(self._without_named(fits))[0]
        found = [self._fitted(*one) for one in zip(seen, margins, strict=True)]
        heard = np.asarray(np.isfinite(scores).any(axis=0))
        return Opinion(
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

    def _without_named(self, fits: Fits) -> Fits:
        """Return the models without the features that rules name."""
        named = self.data.design.columns(self.named) @ fits.named
        return replace(fits, scores=fits.scores - named)

    def _outside(self, fits: Fits) -> tuple[FloatArray, FloatArray]:
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

    def _calibration(self, fits: Fits, k: int) -> Calibration:
        rows, data = self.training[k], self.data
        scores = fits.scores[rows, k]
        return class_means_at_one(scores, data.y[rows], data.weights[rows], float(fits.b[k]))

    def _margins(self, named: FloatArray) -> FloatArray:
        """Of the patient of each rule, whom the middle between the classes calibrates."""
        at = [np.searchsorted(self.named, say.columns) for say in self.says]
        pairs = zip(self.says, at, strict=True)
        return np.array([say.sign * float(named[own] @ say.z) for say, own in pairs])

    def _fitted(self, scores: FloatArray, margins: FloatArray) -> Fitted:
        """The best logistic fit of one repeat; patients without a score have a loss of NaN."""
        known, ones = np.r_[np.isfinite(scores), np.ones(margins.size, bool)], np.ones(margins.size)
        evidence = Evidence(
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
