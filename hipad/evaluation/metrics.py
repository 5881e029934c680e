"""How good answers are, with the uncertainty that few rows bring; seen from the positive class."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import chi2, rankdata
from scipy.stats import t as student

from hipad.estimator.calibration import check_prevalence, says_positive
from hipad.estimator.path import PathPoint
from hipad.evaluation.intervals import (
    Estimate,
    bounded_effect,
    cluster_effect,
    effective_rows,
    effective_wilson_interval,
    few_groups,
    fold_inflation,
    mean_interval,
    mean_of_shares,
    newcombe_area_interval,
    ratio_of_shares,
    wilson_interval,
)
from hipad.exceptions import DataError
from hipad.rules import RuleSet, parse_rules
from hipad.rules.compiled_rule import class_sign
from hipad.rules.lexer import Place, Vocabulary
from hipad.utils import FloatArray, IntArray, count, number, percent

# --------------------------------------------------------------------------------------------------
# Rows whose class is known, and one table of the metrics that judge answers, scores and risks.
#
#     rows = ScoredRows(positive, scores, risks, groups=patients)
#     rows.measure("roc_auc")              Estimate(value, low, high)
#     rows.measure("ppv", prevalence=0.1)
#
# A metric is one entry of `METRICS`: its value, its interval, and what it needs. Several rows of
# one patient are fewer than as many patients, and scores of several folds are by models that share
# most of their rows: both widen every interval.


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows whose class is known, with what a model says of them.

    Parameters
    ----------
    positive : array of bool
        Whether a row is of the positive class.
    scores : array
        Decision values; above zero the answer is the positive class.
    risks : array, default=None
        The probability of the positive class that the model gives each row.
    groups : array, default=None
        Rows with the same value are of one patient.
    threshold : float, default=None
        The risk from which on the answer is the positive class, in place of a score above zero.
    folds : int, default=1
        Of how many folds the scores are: 1 for rows that no model has seen.
    fitted : float, default=inf
        How many numbers a model has fitted (`fitted_numbers`), where there are folds.
    """

    positive: npt.NDArray[np.bool_]
    scores: FloatArray
    risks: FloatArray | None = None
    groups: np.ndarray | None = None
    threshold: float | None = None
    folds: int = 1
    fitted: float = math.inf

    def __post_init__(self) -> None:
        known: dict[str, Any] = {
            "positive": np.asarray(self.positive, dtype=bool),
            "scores": np.asarray(self.scores, dtype=np.float64),
        }
        if self.risks is not None:
            known["risks"] = np.asarray(self.risks, dtype=np.float64)
        if self.groups is not None:
            known["groups"] = np.asarray(self.groups)
        for name, values in known.items():
            object.__setattr__(self, name, values)
            if values.shape != known["positive"].shape or values.ndim != 1:
                raise DataError(
                    f"expected one value a row in {name}, for {known['positive'].size:,} rows, got "
                    f"the shape {values.shape}: give arrays of the same length"
                )
        if not np.isfinite(self.scores).all():
            raise DataError("expected finite scores, got NaN or infinity: leave these rows out")
        risks = self.risks
        if risks is not None and not ((risks >= 0) & (risks <= 1)).all():
            raise DataError("expected risks from 0 to 1, got others: give probabilities")
        if self.threshold is not None and (risks is None or not 0 <= self.threshold <= 1):
            raise DataError(
                f"expected risks, and a threshold from 0 to 1, got {self.threshold!r}: give both"
            )

    def __len__(self) -> int:
        return int(self.positive.size)

    @property
    def predicted(self) -> npt.NDArray[np.bool_]:
        """Whether the answer is the positive class."""
        if self.threshold is None or self.risks is None:
            return says_positive(self.scores)
        return self.risks >= self.threshold

    def take(self, rows: npt.ArrayLike) -> ScoredRows:
        """Return some of the rows, or rows as often as they are named."""
        at = np.asarray(rows)
        risks, groups = (None if own is None else own[at] for own in (self.risks, self.groups))
        return replace(
            self, positive=self.positive[at], scores=self.scores[at], risks=risks, groups=groups
        )

    def at(self, threshold: float | None) -> ScoredRows:
        """Return the same rows, answered from another risk on."""
        return replace(self, threshold=threshold)

    def measure(
        self, name: str, *, prevalence: float | None = None, level: float = 0.95
    ) -> Estimate:
        """Return a metric of `METRICS` with its interval.

        `prevalence` is the share of the positive class among those who will be asked; it matters to
        predictive values only, and without one it is that of these rows.
        """
        if name not in METRICS:
            raise DataError(f"expected a metric of {', '.join(METRICS)}, got {name!r}")
        metric = METRICS[name]
        check_prevalence(prevalence)
        if metric.needs == "risks" and self.risks is None:
            raise DataError(f"expected risks for the metric {name!r}, got none: give probabilities")
        return metric.measure(self, level, prevalence)

    def measure_all(
        self, *, prevalence: float | None = None, level: float = 0.95
    ) -> dict[str, Estimate]:
        """Return every metric that can be told of these rows, in the order of the table."""
        known = [name for name, one in METRICS.items() if one.needs != "risks" or self.has_risks]
        return {name: self.measure(name, prevalence=prevalence, level=level) for name in known}

    @property
    def has_risks(self) -> bool:
        """Whether there are probabilities."""
        return self.risks is not None

    def inflation(self, n: float | None = None) -> float:
        """By how much the variance exceeds that of fresh rows, for scores of several folds."""
        return fold_inflation(self.folds, self.fitted, float(len(self)) if n is None else n)

    def share(
        self, right: npt.NDArray[np.bool_], among: npt.NDArray[np.bool_], level: float = 0.95
    ) -> Estimate:
        """Return the share of some rows that are right, with Wilson's interval."""
        n, k = int(among.sum()), int((right & among).sum())
        if not n:
            return Estimate(math.nan)
        rows = float(n)
        if self.groups is not None:
            rows = effective_rows(right[among], self.groups[among], level)
        rows /= self.inflation(rows)
        return Estimate(k / n, *effective_wilson_interval(k / n, rows, level))


def _accuracy(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    return rows.share(rows.predicted == rows.positive, np.ones(len(rows), dtype=bool), level)


def _sensitivity(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    return rows.share(rows.predicted, rows.positive, level)


def _specificity(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    return rows.share(~rows.predicted, ~rows.positive, level)


def _balanced(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    parts = _sensitivity(rows, level, None), _specificity(rows, level, None)
    return mean_of_shares(*parts)


def _complement(one: Estimate) -> Estimate:
    return Estimate(1.0 - one.value, 1.0 - one.high, 1.0 - one.low)


def _positive_ratio(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    specificity = _complement(_specificity(rows, level, None))
    return ratio_of_shares(_sensitivity(rows, level, None), specificity)


def _negative_ratio(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    sensitivity = _complement(_sensitivity(rows, level, None))
    return ratio_of_shares(sensitivity, _specificity(rows, level, None))


def _ppv(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    if prevalence is None:
        return rows.share(rows.positive, rows.predicted, level)
    odds = prevalence / (1.0 - prevalence)
    ratio = _positive_ratio(rows, level, None)
    value, low, high = (_of_odds(odds * end) for end in (ratio.value, ratio.low, ratio.high))
    return Estimate(value, low, high)


def _npv(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    if prevalence is None:
        return rows.share(~rows.positive, ~rows.predicted, level)
    odds = prevalence / (1.0 - prevalence)
    ratio = _negative_ratio(rows, level, None)
    value, low, high = (1.0 - _of_odds(odds * e) for e in (ratio.value, ratio.high, ratio.low))
    return Estimate(value, low, high)


def _of_odds(odds: float) -> float:
    return 1.0 if math.isinf(odds) else odds / (1.0 + odds)


def _area(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    return roc_area(rows.positive, rows.scores, level, rows.groups, rows.folds, rows.fitted)


def _average_precision(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    """With Wilson's interval of as many rows as there are positive ones.

    The logit interval of Boyd, Eng and Page (2013) has the same variance; Wilson's holds at 0 and
    1 too.
    """
    from sklearn.metrics import average_precision_score

    n = int(rows.positive.sum())
    if not n or n == len(rows):
        return Estimate(math.nan)
    value = float(average_precision_score(rows.positive, rows.scores))
    effective = float(n)
    if rows.groups is not None:
        effective = effective_rows(rows.predicted[rows.positive], rows.groups[rows.positive], level)
    effective /= rows.inflation(effective)
    return Estimate(value, *effective_wilson_interval(value, effective, level))


def _brier(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    risks = _risks(rows)
    losses = (risks - rows.positive) ** 2
    expected = risks * (1.0 - risks)
    spread = float(np.mean(expected * (1.0 - 2.0 * risks) ** 2))
    value, ends = _mean_loss(rows, losses, spread, level)
    return Estimate(value, ends[0], min(ends[1], 1.0))


def _log_loss(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    risks = np.clip(_risks(rows), TINY, 1.0 - TINY)
    losses = -np.where(rows.positive, np.log(risks), np.log1p(-risks))
    spread = float(np.mean(risks * (1.0 - risks) * logit(risks) ** 2))
    value, ends = _mean_loss(rows, losses, spread, level)
    return Estimate(value, *ends)


def _mean_loss(
    rows: ScoredRows, losses: FloatArray, prior: float, level: float
) -> tuple[float, tuple[float, float]]:
    """Return the mean; `prior` is the variance of a row's loss if risks were right."""
    if not losses.size:
        return math.nan, (0.0, math.inf)
    ends = mean_interval(losses, level, rows.groups, rows.inflation(), prior)
    return float(np.mean(losses)), ends


def _slope(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    """The coefficient of a logistic regression on the log odds of the risks, by its likelihood."""
    odds, y = _log_odds(rows), rows.positive.astype(float)
    spread = float(np.ptp(odds)) if len(rows) else 0.0
    if not spread > 0 or y.all() or not y.any():
        return Estimate(math.nan, -math.inf, math.inf)
    most = FARTHEST / spread

    def profile(slope: float) -> tuple[float, float]:
        """Return the intercept and log likelihood at a slope."""
        at = _intercept_at(slope * odds, y)
        z = slope * odds + at
        return at, float(y @ z - np.logaddexp(0.0, z).sum())

    def gradient(slope: float) -> float:
        return float((y - expit(slope * odds + profile(slope)[0])) @ odds)

    ends = gradient(-most), gradient(most)
    if ends[0] < 0 or ends[1] > 0:  # the classes are told apart: no largest likelihood
        best = math.inf if ends[1] > 0 else -math.inf
        peak, at = 0.0, math.copysign(most, best)
    else:
        best = at = float(brentq(gradient, -most, most, xtol=1e-12))
        peak = profile(best)[1]
    parts = (y - expit(at * odds + profile(at)[0])) * (odds - float(np.mean(odds)))
    # that of chi2 is right for many rows only: Student's, by the patients of the rarer class
    owners = np.arange(len(rows)) if rows.groups is None else rows.groups
    rarer = min(np.unique(owners[rows.positive == side]).size for side in (False, True))
    quantile = float(student.ppf(0.5 + level / 2, rarer)) ** 2
    low, high = _likelihood_interval(
        lambda slope: profile(slope)[1], at, peak, most, rows, parts, quantile
    )
    return Estimate(best, low, high)


def _intercept(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    """Calibration in the large: by how much log odds are off on average, by its likelihood."""
    odds, y = _log_odds(rows), rows.positive.astype(float)
    if not len(rows):
        return Estimate(math.nan, -math.inf, math.inf)
    if y.all() or not y.any():
        best, peak = math.copysign(math.inf, y[0] - 0.5), 0.0
        at = math.copysign(FARTHEST, best)
    else:
        best = at = _intercept_at(odds, y)
        peak = float(y @ (odds + at) - np.logaddexp(0.0, odds + at).sum())
    parts = y - expit(odds + at)

    def likelihood(by: float) -> float:
        return float(y @ (odds + by) - np.logaddexp(0.0, odds + by).sum())

    quantile = float(chi2.ppf(level, 1))
    ends = _likelihood_interval(likelihood, at, peak, 2.0 * FARTHEST, rows, parts, quantile)
    return Estimate(best, *ends)


def _intercept_at(odds: FloatArray, y: FloatArray) -> float:
    """Return the most likely intercept beside given log odds."""
    reach = float(np.abs(odds).max(initial=0.0)) + FARTHEST
    return float(brentq(lambda b: float((y - expit(odds + b)).sum()), -reach, reach, xtol=1e-13))


def _likelihood_interval(
    likelihood: Callable[[float], float],
    at: float,
    peak: float,
    most: float,
    rows: ScoredRows,
    parts: FloatArray,
    quantile: float,
) -> tuple[float, float]:
    """Return the values whose log likelihood is near enough to the greatest, `peak`, which is at
    `at`.

    Near enough: twice the difference is at most a quantile of its distribution.
    """
    effect = cluster_effect(parts, rows.groups) * rows.inflation()
    below = peak - 0.5 * quantile * effect

    def excess(value: float) -> float:
        return likelihood(value) - below

    ends = []
    for end in (-most, most):
        if (at - end) * end >= 0 or excess(end) > 0:
            ends.append(math.copysign(math.inf, end))
        elif excess(at) <= 0:
            ends.append(at)
        else:
            ends.append(float(brentq(excess, *sorted((at, end)), xtol=1e-10)))
    return ends[0], ends[1]


def _observed_expected(rows: ScoredRows, level: float, prevalence: float | None) -> Estimate:
    """Return positive rows over the sum of the risks; the ratios that the number of positives
    allows.

    A ratio t is allowed if positives differ from t times their expected number by no more than
    chance: the variance is that of independent rows at the risks t r.
    """
    risks, seen = _risks(rows), float(rows.positive.sum())
    expected = float(risks.sum())
    if not expected > 0:
        return Estimate(math.nan, 0.0, math.inf)
    value, largest = seen / expected, len(rows) / expected
    effect = cluster_effect(rows.positive - np.clip(value * risks, 0.0, 1.0), rows.groups)
    z2 = float(chi2.ppf(level, 1)) * effect * rows.inflation()

    def excess(ratio: float) -> float:
        own = np.clip(ratio * risks, 0.0, 1.0)
        return (seen - ratio * expected) ** 2 - z2 * float((own * (1.0 - own)).sum())

    tiny = 1e-9 * largest
    low = float(brentq(excess, 0.0, value)) if seen and excess(value) < 0 else value
    low = 0.0 if not seen else low
    high = largest
    if seen < len(rows) and excess(value + tiny) < 0 < excess(largest):
        high = float(brentq(excess, value + tiny, largest))
    return Estimate(value, low, high)


def _risks(rows: ScoredRows) -> FloatArray:
    assert rows.risks is not None  # `measure` has seen to it
    return rows.risks


def _log_odds(rows: ScoredRows) -> FloatArray:
    odds: FloatArray = logit(np.clip(_risks(rows), TINY, 1.0 - TINY))
    return odds


TINY: Final = float(np.finfo(float).eps)  # as scikit-learn's log_loss cuts risks of 0 and 1
FARTHEST_SCORE: Final = 2.0**60  # where the boundary is looked for
FARTHEST: Final = 40.0  # log odds: beyond, a risk is 0 or 1 to the last digit


@dataclass(frozen=True)
class Metric:
    """One way to judge a model.

    `needs` is "cut-off" (answers), "scores" (their order) or "risks" (probabilities); `best` is the
    value of a perfect model.
    """

    words: str
    needs: str
    best: float
    measure: Callable[[ScoredRows, float, float | None], Estimate]

    @property
    def larger_is_better(self) -> bool | None:
        """Whether a larger value is better; None where the best value is between."""
        return None if self.is_calibration else self.best > 0

    @property
    def is_calibration(self) -> bool:
        """Whether the best value lies between too small and too large ones."""
        return self.measure in (_slope, _intercept, _observed_expected)


METRICS: Final[dict[str, Metric]] = {
    "accuracy": Metric("share of right answers", "cut-off", 1.0, _accuracy),
    "balanced_accuracy": Metric("mean of sensitivity and specificity", "cut-off", 1.0, _balanced),
    "roc_auc": Metric(
        "chance that a positive row scores above a negative one", "scores", 1.0, _area
    ),
    "average_precision": Metric(
        "mean precision over all sensitivities", "scores", 1.0, _average_precision
    ),
    "sensitivity": Metric("share of positive rows that are found", "cut-off", 1.0, _sensitivity),
    "specificity": Metric("share of negative rows that are told so", "cut-off", 1.0, _specificity),
    "ppv": Metric("share of positive answers that are right", "cut-off", 1.0, _ppv),
    "npv": Metric("share of negative answers that are right", "cut-off", 1.0, _npv),
    "positive_likelihood_ratio": Metric(
        "by how much a positive answer raises the odds", "cut-off", math.inf, _positive_ratio
    ),
    "negative_likelihood_ratio": Metric(
        "by how much a negative answer lowers the odds", "cut-off", 0.0, _negative_ratio
    ),
    "brier": Metric("mean squared error of the risks", "risks", 0.0, _brier),
    "log_loss": Metric("mean log loss of the risks", "risks", 0.0, _log_loss),
    "calibration_slope": Metric(
        "below 1 risks are too extreme, above 1 too cautious", "risks", 1.0, _slope
    ),
    "calibration_intercept": Metric(
        "below 0 risks are too high on average, above 0 too low", "risks", 0.0, _intercept
    ),
    "observed_expected": Metric(
        "positive rows for each that the risks expect", "risks", 1.0, _observed_expected
    ),
}


def roc_area(
    positive: npt.ArrayLike,
    scores: npt.ArrayLike,
    level: float = 0.95,
    groups: npt.ArrayLike | None = None,
    folds: int = 1,
    fitted: float = math.inf,
) -> Estimate:
    """Return area under the ROC curve; `positive` marks the positive patients, ties count one half.

    Rows of one group are not independent; their design effect is Obuchowski's (1997).

    >>> roc_area([False, False, True, True], [0.1, 0.4, 0.3, 0.8]).value
    0.75
    """
    sick = np.asarray(positive, dtype=bool)
    n_sick, n_well = int(sick.sum()), int((~sick).sum())
    if not n_sick or not n_well:
        return Estimate(math.nan)
    ranks = rankdata(np.asarray(scores, dtype=float))
    value = (ranks[sick].sum() - n_sick * (n_sick + 1) / 2) / (n_sick * n_well)
    shrunk = 1.0
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
        shrunk = _area_rows(sick, ranks, float(value), codes, level)
    shrunk /= fold_inflation(folds, fitted, shrunk * sick.size)
    if not shrunk > 0:
        return Estimate(float(value))
    ends = newcombe_area_interval(float(value), shrunk * n_sick, shrunk * n_well, level)
    return Estimate(float(value), *ends)


def _area_rows(
    sick: npt.NDArray[np.bool_], ranks: FloatArray, value: float, codes: IntArray, level: float
) -> float:
    """The share of the rows that are as good as independent, by the variance between groups."""
    n_sick, n_well, n_groups = int(sick.sum()), int((~sick).sum()), int(codes.max()) + 1
    if n_groups < 2:
        return 0.0
    own = np.zeros(ranks.size)  # the rank of each row among those of its own class
    own[sick], own[~sick] = rankdata(ranks[sick]), rankdata(ranks[~sick])
    placed = np.where(sick, (ranks - own) / n_well, 1.0 - (ranks - own) / n_sick)
    parts = (placed - value) / np.where(sick, n_sick, n_well)
    sums, sizes = np.bincount(codes, parts), np.bincount(codes).astype(float)
    largest = float((sizes**2).sum()) / ranks.size
    alone = float(parts @ parts)
    between = float(sums @ sums) * n_groups / (n_groups - 1)
    effect = largest if alone == 0 else between / alone
    return few_groups(n_groups, level) / bounded_effect(effect, largest)


# --------------------------------------------------------------------------------------------------
# How a model does on patients whose class is known: one judgement, which others draw or print.
#
# judged = judge(scores, truth, ("well", "ill"), part="test") judged.accuracy, judged.sensitivity,
# judged.specificity, judged.area


Confusion = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Proportion:
    """k of n, with Wilson's 95 % interval.

    Of rows that belong to fewer patients, `patients` is the number of these. `effective` is the
    number of independent rows which would tell as much, where that is not n.
    """

    k: int
    n: int
    patients: int | None = None
    effective: float | None = None

    @property
    def value(self) -> float:
        return self.k / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """The shares that are plausible for so many patients."""
        if self.effective is None:
            return wilson_interval(self.k, self.n)
        return effective_wilson_interval(self.value, self.effective)

    @property
    def whom(self) -> str:
        """How many were asked.

        >>> Proportion(3, 4).whom, Proportion(3, 10, patients=2, effective=2.0).whom
        ('4 patients', '10 rows of 2 patients')
        """
        if self.patients is None:
            return count(self.n, "patient")
        return f"{count(self.n, 'row')} of {count(self.patients, 'patient')}"

    def __str__(self) -> str:
        if not self.n:
            return "no patients"
        low, high = self.interval
        return f"{percent(self.value)} ({percent(low)} to {percent(high)})"


def right_answers(
    right: npt.ArrayLike,
    groups: npt.ArrayLike | None = None,
    *,
    folds: int = 1,
    fitted: float = math.inf,
) -> Proportion:
    """Return how many answers are right, with what its interval needs.

    Rows with the same value in `groups` are of one patient. Answers of several `folds` are by
    models that share most of their rows, each with so many `fitted` numbers (`fold_inflation`).

    >>> right_answers([True, True, False]), right_answers([True] * 4, [0, 0, 1, 1]).patients
    (Proportion(k=2, n=3, patients=None, effective=None), 2)
    """
    own = np.asarray(right, dtype=bool)
    k, n = int(own.sum()), own.size
    if groups is None and folds == 1:
        return Proportion(k, n)
    rows = float(n) if groups is None else effective_rows(own, groups)
    patients = None if groups is None else int(np.unique(np.asarray(groups)).size)
    return Proportion(k, n, patients, rows / fold_inflation(folds, fitted, rows))


@dataclass(frozen=True)
class ClassificationReport:
    """Answers against the truth; `confusion[truth][answer]`, negative first."""

    part: str  # which patients were asked: "test", "training" or another word for them
    classes: tuple[str, str]  # negative, positive
    confusion: Confusion
    area: Estimate  # under the ROC curve
    # patients and effective rows: of all, of the negative and of the positive class
    clusters: tuple[tuple[int | None, float], ...] = ()

    def _share(self, k: int, n: int, which: int) -> Proportion:
        return Proportion(k, n, *(self.clusters[which] if self.clusters else ()))

    @property
    def accuracy(self) -> Proportion:
        """Patients who got the answer that is true of them."""
        (tn, fp), (fn, tp) = self.confusion
        return self._share(tn + tp, tn + fp + fn + tp, 0)

    @property
    def sensitivity(self) -> Proportion:
        """Positive patients who got the answer "positive"."""
        fn, tp = self.confusion[1]
        return self._share(tp, tp + fn, 2)

    @property
    def specificity(self) -> Proportion:
        """Negative patients who got the answer "negative"."""
        tn, fp = self.confusion[0]
        return self._share(tn, tn + fp, 1)

    @property
    def sentence(self) -> str:
        """The right answers in a sentence, for patients of the test or the training."""
        right = self.accuracy
        low, high = right.interval
        whom = "it was trained on" if self.part == "training" else "it had not seen"
        return (
            f"Of {right.whom} {whom}, the model got {right.k:,} right: "
            f"{percent(right.value)} (95 % interval {percent(low)} to {percent(high)})."
        )

    def __str__(self) -> str:
        """Return the right answers in one line: all of them, then those of each class.

        >>> scores, truth = [1.0, -1.0, -2.0, -3.0], ["ill", "ill", "well", "well"]
        >>> print(judge(scores, truth, ("well", "ill"), part="test"))
        test: 3 of 4 right, 75.0 % (30.1 to 95.4); well 2 of 2, ill 1 of 2
        """
        right, parts = self.accuracy, (self.specificity, self.sensitivity)
        low, high = right.interval
        each = ", ".join(
            f"{name} {share.k:,} of {share.n:,}"
            for name, share in zip(self.classes, parts, strict=True)
        )
        share = f"{percent(right.value)} ({100 * low:.1f} to {100 * high:.1f})"
        of = f"{right.n:,}" if right.patients is None else right.whom
        return f"{self.part}: {right.k:,} of {of} right, {share}; {each}"


def judge(
    scores: npt.ArrayLike,
    truth: npt.ArrayLike,
    classes: tuple[str, str],
    *,
    part: str,
    groups: npt.ArrayLike | None = None,
    folds: int = 1,
    fitted: float = math.inf,
    answers: npt.ArrayLike | None = None,
) -> ClassificationReport:
    """Compare scores, which are above zero for the positive class, with the true class names.

    `answers` say where the positive class is the answer, if it is not by the scores' signs.

    A patient whose true class is neither of the two counts as negative. Rows with the same value in
    `groups` are of one patient. Scores of several `folds` are by models that share most of their
    rows: their intervals are wider, the more numbers a model has `fitted` (`fold_inflation`).
    """

    scores = np.asarray(scores, dtype=float)
    positive = np.asarray(truth).astype(str) == classes[1]
    said = says_positive(scores) if answers is None else np.asarray(answers, dtype=bool)
    (tn, fp), (fn, tp) = (
        (int((mine & ~said).sum()), int((mine & said).sum())) for mine in (~positive, positive)
    )
    clusters: tuple[tuple[int | None, float], ...] = ()
    if groups is not None or folds > 1:
        own = None if groups is None else np.asarray(groups)
        shares = [
            right_answers(
                (positive == said)[rows], None if own is None else own[rows],
                folds=folds, fitted=fitted,
            )
            for rows in (np.ones(positive.size, dtype=bool), ~positive, positive)
        ]  # fmt: skip
        clusters = tuple((one.patients, one.effective or 0.0) for one in shares)
    area = roc_area(positive, scores, groups=groups, folds=folds, fitted=fitted)
    return ClassificationReport(part, classes, ((tn, fp), (fn, tp)), area, clusters)


def classes_line(
    said: npt.ArrayLike, truth: npt.ArrayLike, classes: Sequence[object], *, part: str
) -> str:
    """Return the right answers among several classes in one line: all of them, then those of each
    class.

    >>> classes_line(["a", "b", "b"], ["a", "b", "c"], ["a", "b", "c"], part="test")
    'test: 2 of 3 right, 66.7 % (20.8 to 93.9); a 1 of 1, b 1 of 1, c 0 of 1'
    """
    said, truth = np.asarray(said).astype(str), np.asarray(truth).astype(str)
    right = said == truth
    share = Proportion(int(right.sum()), right.size)
    low, high = share.interval
    each = ", ".join(
        f"{name} {int(right[truth == str(name)].sum()):,} of {int((truth == str(name)).sum()):,}"
        for name in classes
    )
    found = f"{percent(share.value)} ({100 * low:.1f} to {100 * high:.1f})"
    return f"{part}: {share.k:,} of {share.n:,} right, {found}; {each}"


# --------------------------------------------------------------------------------------------------
# Which of two classes is positive: the user says so, while scikit-learn sorts class names.
#
# Everything that goes into a classifier or comes out of it passes here, so that elsewhere "above
# zero" always means the class that the user calls positive. `classes` is (negative, positive), as
# the user means it.


def named_outcomes(
    text: str | RuleSet,
    classes: tuple[str, str],
    vocabulary: Vocabulary | None = None,
    *,
    positive_chosen: bool = True,
) -> RuleSet:
    """Return rules whose outcomes are class names, also where the user wrote positive or negative.

    With a vocabulary names such as IL-6 are read at once, as text that stands on its own needs it.

    >>> print(named_outcomes("x0 >= 2 => positive", ("well", "ill")))
    x0 >= 2 => ill
    """
    rules = parse_rules(text, vocabulary) if isinstance(text, str) else text

    def label(outcome: str, place: Place | None) -> str:
        sign = class_sign(outcome, classes, positive_chosen=positive_chosen, place=place)
        return classes[int(sign > 0)]

    named = [replace(rule, outcome=label(rule.outcome, rule.place)) for rule in rules]
    stated = [
        replace(each, outcome=label(each.outcome or "positive", each.place))
        if each.kind in ("raised", "lowered")
        else each
        for each in rules.statements
    ]
    return replace(rules, rules=tuple(named), statements=tuple(stated))


@dataclass(frozen=True, eq=False)
class PositiveClassView:
    """A fitted linear classifier, seen from the user's positive class."""

    classifier: Any
    classes: tuple[str, str]

    def __post_init__(self) -> None:
        own = [str(label) for label in self.classifier.classes_]
        if sorted(own) != sorted(self.classes):
            raise DataError(
                f"expected a model of the classes {self.classes[0]!r} and {self.classes[1]!r}, "
                f"got one of {' and '.join(map(repr, own))}: take the model of these classes"
            )

    @property
    def sign(self) -> float:
        """+1 where the classifier's second class is the positive one, -1 otherwise."""
        return 1.0 if str(self.classifier.classes_[1]) == self.classes[1] else -1.0

    @property
    def support(self) -> IntArray:
        """Columns with a weight."""
        columns: IntArray = self.classifier.support_
        return columns

    @property
    def weights(self) -> FloatArray:
        """One weight per feature, in the user's units, above zero towards the positive class."""
        weights: FloatArray = self.sign * self.classifier.coef_[0]
        return weights

    @property
    def intercept(self) -> float:
        """The score of a patient whose features are all zero."""
        return self.sign * float(self.classifier.intercept_[0])

    def scores(self, X: Any) -> FloatArray:
        """Return decision values, above zero for the positive class."""
        scores: FloatArray = self.sign * self.classifier.decision_function(X)
        return scores

    def risks(self, scores: FloatArray, prevalence: float | None = None) -> FloatArray:
        """Return the probability of the positive class at decision values of this model.

        `prevalence` is the share of the positive class; without one, what the model was told.
        """
        risks = self._risks_of_second(scores, prevalence)
        return risks if self.sign > 0 else 1.0 - risks

    def _risks_of_second(self, scores: FloatArray, prevalence: float | None) -> FloatArray:
        """Return the probability of the classifier's second class at these decision values."""
        check_prevalence(prevalence)
        curve, own = self.classifier.risk_curve_, self.classifier.prevalence
        if prevalence is not None:
            own = prevalence if self.sign > 0 else 1.0 - prevalence
        risks: FloatArray = curve.risks(self.sign * scores, own)
        return risks

    @property
    def threshold(self) -> float | None:
        """The risk from which on the answer is the positive class; None: a score above zero."""
        own: float | None = getattr(self.classifier, "risk_threshold_", None)
        # of the first class the model keeps the number just above 1 - threshold
        return own if own is None or self.sign > 0 else 1.0 - float(np.nextafter(own, 0.0))

    @property
    def boundary(self) -> float:
        """The score above which the answer is the positive class; infinite where none has it."""
        if self.threshold is None:
            return 0.0
        reach = 1.0
        while (low := self._says(-reach)) == (high := self._says(reach)) and reach < FARTHEST_SCORE:
            reach *= 2.0
        if low == high:
            return -math.inf if low else math.inf
        below, above = -reach, reach
        while (middle := 0.5 * (below + above)) not in (below, above):
            below, above = (below, middle) if self._says(middle) else (middle, above)
        return below

    def _says(self, score: float) -> bool:
        return bool(self.answers(np.array([score]))[0])

    def answers(self, scores: FloatArray, prevalence: float | None = None) -> npt.NDArray[np.bool_]:
        """Return whether the answer at decision values of this model is the positive class."""
        if self.threshold is None:
            return says_positive(scores)
        second = self._risks_of_second(scores, prevalence) >= self.classifier.risk_threshold_
        found: npt.NDArray[np.bool_] = second if self.sign > 0 else ~second
        return found

    def judge(self, X: Any, truth: Any, *, part: str, groups: Any = None) -> ClassificationReport:
        """Return how the model does on patients whose class is known."""
        scores = self.scores(X)
        said = self.answers(scores)
        return judge(scores, truth, self.classes, part=part, groups=groups, answers=said)


# --------------------------------------------------------------------------------------------------
# What few features cost, by patients who were held out while the model was chosen.


def few_features_sentence(path: Sequence[PathPoint]) -> str:
    """Say what the fewest features within one standard error of the least loss would cost, or cost.

    Accuracy counts both classes alike. Empty where nothing was chosen, or the fewest are not fewer.
    """
    sparsest = next((point for point in path if point.sparsest and point.stable_size), None)
    chosen = next((point for point in path if point.chosen), None)
    if sparsest is None or chosen is None:
        return ""
    fewest = count(sparsest.stable_size, "feature")
    if chosen is sparsest:
        best = next(point for point in path if point.best)
        return (
            f"The fewest features within one standard error of the least error: about {fewest}, "
            f"which most folds keep. {_right(sparsest)}; with the least error "
            f"({count(best.support_size, 'feature')}), {percent(best.accuracy)}."
        )
    if sparsest.stable_size >= chosen.support_size:
        return ""
    return (
        f"About {fewest}, which most folds keep, would do within one standard error of the least "
        f"error. {_right(sparsest)}; with the {chosen.support_size:,} taken here, "
        f"{percent(chosen.accuracy)}."
    )


def _right(point: PathPoint) -> str:
    return f"Of held-out patients, {percent(point.accuracy)} are right, both classes counting alike"


# --------------------------------------------------------------------------------------------------
# Figures of parts of the rows: those of a value of a column, or of one patient.
#
#     by_subgroup(rows, cut_column(X[:, age], 3), ["accuracy", "roc_auc"])
#
# Small parts have wide intervals, and of many parts some look good or bad by chance: each says how
# many rows it has.


MOST_VALUES: Final = 12  # of a column that is taken as it is: with more, numbers are cut in parts


@dataclass(frozen=True)
class Subgroup:
    """Some rows: what they have in common, how many they are, how many are positive, figures."""

    label: str
    n: int
    n_positive: int
    figures: dict[str, Estimate]


def by_subgroup(
    rows: ScoredRows,
    values: npt.ArrayLike,
    names: Sequence[str] = ("accuracy", "sensitivity", "specificity", "roc_auc"),
    *,
    level: float = 0.95,
) -> tuple[Subgroup, ...]:
    """Return the metrics of the rows of each value, values in order; groups stay together in each.

    Examples
    --------
    >>> truth, sex = np.array([0, 1, 0, 1], dtype=bool), ["f", "f", "m", "m"]
    >>> rows = ScoredRows(truth, np.array([-1.0, 1.0, 1.0, 1.0]))
    >>> [(one.label, one.figures["accuracy"].value) for one in by_subgroup(rows, sex)]
    [('f', 1.0), ('m', 0.5)]
    """
    own = np.asarray(values)
    if own.shape != rows.positive.shape:
        raise DataError(f"expected a value for each of {len(rows):,} rows, got {own.size:,}")
    usable = [name for name in names if METRICS[name].needs != "risks" or rows.has_risks]
    found = []
    for value in np.unique(own):
        part = rows.take(np.flatnonzero(own == value))
        figures = {name: part.measure(name, level=level) for name in usable}
        found.append(Subgroup(str(value), len(part), int(part.positive.sum()), figures))
    return tuple(found)


def by_patient(rows: ScoredRows) -> tuple[Subgroup, ...]:
    """Return the share of right answers of each group: whom the model gets wrong on the whole."""
    if rows.groups is None:
        raise DataError("expected rows with groups, got none: every row is a patient of its own")
    labels = rows.groups
    found = []
    for value in np.unique(labels):
        at = np.flatnonzero(labels == value)
        part = ScoredRows(
            rows.positive[at],
            rows.scores[at],
            None if rows.risks is None else rows.risks[at],
            threshold=rows.threshold,
        )
        figures = {"accuracy": part.measure("accuracy")}
        found.append(Subgroup(str(value), len(part), int(part.positive.sum()), figures))
    return tuple(found)


def cut_column(values: npt.ArrayLike, n_parts: int = 3) -> np.ndarray:
    """Name the part of each row: few values as they are, numbers cut in parts of as many rows.

    >>> cut_column(np.arange(100.0), 2)[[0, 99]].tolist()
    ['1: below 50', '2: 50 and more']
    >>> cut_column([1.0, 2.0, np.nan]).tolist()
    ['1', '2', 'no value']
    """
    column = np.asarray(values)
    if column.dtype.kind not in "iufb":
        return column.astype(str)
    numbers = column.astype(float)
    known = np.isfinite(numbers)
    different = np.unique(numbers[known])
    found = np.full(column.size, "no value", dtype=object)
    if different.size <= MOST_VALUES:
        found[known] = [number(value) for value in numbers[known].tolist()]
        return found.astype(str)
    if n_parts < 2:
        raise DataError(f"expected 2 parts or more, got {n_parts}")
    cuts = np.quantile(numbers[known], np.arange(1, n_parts) / n_parts)
    cuts = np.unique([different[np.searchsorted(different, cut)] for cut in cuts])
    texts = [number(cut) for cut in cuts.tolist()]
    pairs = enumerate(itertools.pairwise(texts), start=2)
    middles = [f"{k}: {low} to below {high}" for k, (low, high) in pairs]
    names = np.array([f"1: below {texts[0]}", *middles, f"{len(texts) + 1}: {texts[-1]} and more"])
    found[known] = names[np.searchsorted(cuts, numbers[known], side="right")]
    return found.astype(str)
