"""Calibration: scale and intercept of decision values, and probabilities of all classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.isotonic import IsotonicRegression

from hipad.estimator.settings import SELECTION, SelectionSettings
from hipad.exceptions import HipadError
from hipad.solvers.exact import least_loss_intercept
from hipad.solvers.losses import HINGE, Loss, RowLosses
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# Calibration: keep the direction of a model, choose its scale and intercept on training scores.
#
# Stiff rules shrink w until every sample sits inside its margin; the hinge is then linear and the
# intercept hardly determined. Class means at +1 and -1 fix both: the decision value then reads "+1
# is the average positive training row, -1 the average negative one".


APART: Final = 1e-6  # of the scores' spread: class means that are nearer tell nobody apart


@dataclass(frozen=True)
class Calibration:
    """score -> factor * score + offset, where score is w'x without the intercept."""

    factor: float
    offset: float


def class_means_at_one(
    scores: FloatArray, y: FloatArray, weights: FloatArray, b: float
) -> Calibration:
    """Put the mean score of each class at its label.

    Where the direction does not separate the classes (w = 0, or rules that contradict the data)
    there is nothing to calibrate and the model's own intercept b stays.

    >>> class_means_at_one(np.array([1.0, 3.0]), np.array([-1.0, 1.0]), np.ones(2), 0.0)
    Calibration(factor=1.0, offset=-2.0)
    """
    means = class_means(scores, y, weights)
    if means is None:
        return Calibration(1.0, b)
    low, high = means
    factor = 2.0 / (high - low)
    return Calibration(factor, -0.5 * factor * (high + low))


def class_means(
    scores: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[float, float] | None:
    """The mean scores of the classes -1 and +1; None where they are not apart in this order.

    Rounding keeps the means of equal classes apart by a hair, and to divide by that would make
    scores of any size. So their distance is held against the distance of the rows from the middle.

    >>> class_means(np.array([1.0, 3.0]), np.array([-1.0, 1.0]), np.ones(2))
    (1.0, 3.0)
    >>> class_means(np.array([1e-18, 0.0, 1e-34, 1e-18]), np.array([-1, -1, 1, 1]), np.ones(4))
    """
    low, high = (float(np.average(scores[y == s], weights=weights[y == s])) for s in (-1.0, 1.0))
    spread = float(np.average(np.abs(scores - 0.5 * (low + high)), weights=weights))
    least = max(APART * spread, 1e-12 * max(abs(high), abs(low), 1e-300))
    return (low, high) if high - low > least else None


def least_loss_offset(
    scores: FloatArray, y: FloatArray, p: FloatArray, factor: float, loss: Loss = HINGE
) -> Calibration:
    """Keep the scale, put the intercept where the loss weighted by p is least.

    For classes that are not to count alike: the middle between the class means would ignore their
    weights, or how many rows each has. Where several intercepts are best, it is their middle.

    >>> least_loss_offset(np.array([1.0, 3.0]), np.array([-1.0, 1.0]), np.array([0.9, 0.1]), 1.0)
    Calibration(factor=1.0, offset=-2.0)
    """
    losses = RowLosses.of(loss, p, np.zeros(0))
    return Calibration(factor, least_loss_intercept(y - factor * scores, y, losses))


# --------------------------------------------------------------------------------------------------
# The risk at a decision value, learnt from out-of-fold scores.
#
# Scores of training rows by models that did not see them are as honest as those of new rows, if
# their own fold had no part in the choice of lambda1 and lambda2 either. On them
#
#     log odds = slope * score + intercept,    slope >= 0
#
# and with few rows many slopes are possible. So the risk is the average over all of them, each by
# its probability (Bayes): nothing is reported that the scores have not shown.
#
# prior       the scores tell nothing (slope 0) by `no_signal`. Else the slope is half Cauchy: for
#          scores of deviation 1 its median is `usual_slope`. Small slopes are usual, and large ones
#          possible.
# likelihood  that of the rows, to a power of one half to one. A row judges the models that others
#          taught, and teaches those that the others judge: what a pair of rows has in common by
#          chance counts twice, as far as models learn single rows by heart. How far they do, the
#          scores tell: the class means of training rows lie 2 apart, those of held-out rows less.
# intercept   the most likely one for each slope, at which the mean risk of the rows is their
#          prevalence. So the average has that mean too.
#
# From `isotonic_rows` rows of the rarer class on the curve is isotonic instead: any rising one,
# straight between the middles of its steps. Beyond the lowest and the highest score of the rows
# the risk stays what it is there. Rows count by their weights; class weights have no part in it.
#
# Another prevalence moves the log odds by the difference of the log odds of both (Bayes): right
# where the classes look the same in both populations, and only their shares differ.


SLOPES: Final = np.geomspace(0.01, 50.0, 48)
UNLIKELY: Final = 15.0  # log density below the greatest: such slopes have no part
POINTS: Final = 65  # of a curve
NEWTON_STEPS: Final = 100
CLEARLY: Final = 4.0  # twice the log likelihood that a free number gains by chance once in twenty
NEARLY: Final = 0.05  # of the prevalence: by so much the mean risk may be moved
HAIR: Final = 1e-6  # of log odds, and of the range of scores: what is told apart no more
MOST_LOG_ODDS: Final = 36.0  # beyond it a risk is 1 to the last digit


@dataclass(frozen=True, eq=False)
class CalibrationMap:
    """Log odds rise with the score: along a line, or through the points (`at`, `log_odds`).

    `prevalence` is that of the rows it was learnt from.
    """

    prevalence: float
    slope: float
    intercept: float
    at: FloatArray
    log_odds: FloatArray

    @classmethod
    def constant(cls, prevalence: float) -> CalibrationMap:
        """Everybody has the prevalence."""
        return cls(prevalence, 0.0, float(logit(prevalence)), np.zeros(0), np.zeros(0))

    @classmethod
    def fit(
        cls,
        scores: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        settings: SelectionSettings = SELECTION,
    ) -> CalibrationMap:
        """The curve of rows with labels -1 and +1; a score that is NaN is not known.

        `scores` may have a row for each time that the rows were scored.
        """
        curve = cls.constant(_share(y > 0, weights))
        s, t, w = _known_rows(scores, y, weights)
        if t.all() or not t.any() or not np.ptp(s) > max(1e-12 * np.max(np.abs(s)), 1e-100):
            return curve
        isotonic = _rarer(t, w) >= settings.isotonic_rows
        found = _isotonic(s, t, w) if isotonic else _averaged(s, t, w, settings)
        return found._with_mean(s, w, _share(t, w))._moved_to(curve.prevalence)

    def risks(self, scores: FloatArray, prevalence: float | None = None) -> FloatArray:
        """The probability of the positive class at each score, above 0 and below 1."""
        moved = 0.0 if prevalence is None else float(logit(prevalence) - logit(self.prevalence))
        return expit(np.clip(self._log_odds(scores) + moved, -MOST_LOG_ODDS, MOST_LOG_ODDS))

    def of_scaled(self, factor: float, offset: float) -> CalibrationMap:
        """The curve over x, where this one is over factor * x + offset, and factor > 0."""
        slope, intercept = self.slope * factor, self.slope * offset + self.intercept
        return CalibrationMap(
            self.prevalence, slope, intercept, (self.at - offset) / factor, self.log_odds
        )

    def even_at(
        self,
        zero: float,
        scores: FloatArray,
        y: FloatArray,
        weights: FloatArray,
    ) -> CalibrationMap:
        """With both classes as likely at `zero`, where the decision changes.

        The curve is moved. Where the rows speak against that, it is bent, with the same mean if
        that can be: nobody below `zero` is more likely positive than not, and nobody above it
        negative.
        """
        if not self._rises:  # perhaps because no score is known
            return self
        s, positive, w = _known_rows(scores, y, weights)
        labels = positive.astype(float)
        even = self._shifted(-float(self._log_odds(np.array([zero]))[0]), self.prevalence)
        mine, other = (_log_loss(curve._log_odds(s), labels, w) for curve in (self, even))
        moved = abs(float(np.average(expit(even._log_odds(s)), weights=w)) - self.prevalence)
        small = moved <= NEARLY * min(self.prevalence, 1.0 - self.prevalence)
        if small and 2.0 * (other - mine) < CLEARLY:
            return even

        def excess(by: float) -> float:
            odds = self._shifted(by, self.prevalence)._bent_at(zero)._log_odds(s)
            return float(np.average(expit(odds), weights=w)) - _share(positive, w)

        reach = 2.0 * float(np.ptp(self.log_odds)) + abs(float(logit(self.prevalence)))
        met = excess(-reach) <= 0.0 <= excess(reach)
        by = float(brentq(excess, -reach, reach, xtol=1e-9)) if met else 0.0
        return self._shifted(by, self.prevalence)._bent_at(zero)

    def _bent_at(self, zero: float) -> CalibrationMap:
        """Not above even odds below `zero`, and not below them above it."""
        at = np.union1d(self.at, zero + np.array([-1.0, 1.0]) * HAIR * np.ptp(self.at))
        odds = np.interp(at, self.at, self.log_odds)
        bent = np.where(at < zero, np.minimum(odds, -HAIR), np.maximum(odds, HAIR))
        return replace(self, at=at, log_odds=bent)

    @property
    def _rises(self) -> bool:
        return self.slope > 0 or self.at.size > 0

    def _log_odds(self, scores: FloatArray) -> FloatArray:
        if self.at.size:
            return np.interp(scores, self.at, self.log_odds)
        return self.slope * np.asarray(scores, dtype=float) + self.intercept

    def _shifted(self, by: float, prevalence: float) -> CalibrationMap:
        return CalibrationMap(
            prevalence, self.slope, self.intercept + by, self.at, np.asarray(self.log_odds + by)
        )

    def _with_mean(self, scores: FloatArray, weights: FloatArray, mean: float) -> CalibrationMap:
        """Moved until the mean risk of these rows is as given."""
        odds = self._log_odds(scores)

        def excess(by: float) -> float:
            return float(np.average(expit(odds + by), weights=weights)) - mean

        reach = float(np.max(np.abs(odds)) + abs(logit(mean))) + 1.0
        return self._shifted(float(brentq(excess, -reach, reach, xtol=1e-13)), mean)

    def _moved_to(self, prevalence: float) -> CalibrationMap:
        if prevalence == self.prevalence:
            return self
        return self._shifted(float(logit(prevalence) - logit(self.prevalence)), prevalence)


def says_positive(scores: FloatArray) -> np.ndarray:
    """Whether the answer at each decision value is the second class: above zero, and not at it.

    This is the one definition, of predictions and of every figure that judges them.

    >>> says_positive(np.array([-1.0, 0.0, 1e-9])).tolist()
    [False, False, True]
    """
    return np.asarray(scores) > 0


def check_prevalence(prevalence: object) -> None:
    """None, or a share above 0 and below 1."""
    if prevalence is None:
        return
    number = isinstance(prevalence, int | float | np.number) and not isinstance(prevalence, bool)
    if not number or not 0.0 < float(prevalence) < 1.0:  # type: ignore[arg-type]
        raise HipadError(
            f"expected prevalence to be None or a number above 0 and below 1, got {prevalence!r}: "
            "give the share of the positive class among those who will be asked about"
        )


def _known_rows(
    scores: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, np.ndarray, FloatArray]:
    """Return known scores, whether each is of a positive, and how many rows it counts for.

    A row that some repeats did not score says less.
    """
    times = np.atleast_2d(scores)
    known = np.isfinite(times)
    counts = np.broadcast_to(weights / max(int(known.any(axis=1).sum()), 1), times.shape)
    return times[known], np.broadcast_to(y > 0, times.shape)[known], counts[known]


def _share(positive: np.ndarray, weights: FloatArray) -> float:
    return float(weights[positive].sum() / weights.sum())


def _rarer(positive: np.ndarray, weights: FloatArray) -> float:
    return float(min(weights[positive].sum(), weights[~positive].sum()))


def _targets(positive: np.ndarray, weights: FloatArray) -> FloatArray:
    """Platt's: what an even prior for each class leaves of certainty."""
    high, low = weights[positive].sum(), weights[~positive].sum()
    return np.where(positive, (high + 1.0) / (high + 2.0), 1.0 / (low + 2.0))


def _averaged(
    scores: FloatArray, positive: np.ndarray, weights: FloatArray, settings: SelectionSettings
) -> CalibrationMap:
    """The average of all sigmoids, by their probability, as points on the range of the scores."""
    share, middle = _share(positive, weights), float(np.average(scores, weights=weights))
    power = _power(scores, positive, weights)
    spread = float(np.sqrt(np.average((scores - middle) ** 2, weights=weights)))
    z = (scores - middle) / spread

    def with_evidence(slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        at = _intercepts(slopes, z, weights / weights.sum(), share)
        return at, power * _log_likelihood(slopes, at, z, positive, weights)

    intercepts, evidence = with_evidence(np.r_[0.0, SLOPES])
    density = evidence[1:] + log_prior(SLOPES, settings.usual_slope)
    likely = np.flatnonzero(density > density.max() - UNLIKELY)
    ends = SLOPES[max(likely[0] - 1, 0)], SLOPES[min(likely[-1] + 1, SLOPES.size - 1)]
    slopes, nothing = np.geomspace(*ends, SLOPES.size), float(evidence[0])
    intercepts, evidence = with_evidence(slopes)
    mass = np.exp(evidence - max(nothing, evidence.max()) + log_prior(slopes, settings.usual_slope))
    mass *= np.gradient(slopes) * (1.0 - settings.no_signal)
    none = settings.no_signal * np.exp(nothing - max(nothing, evidence.max()))
    chances = np.r_[none, mass] / (none + mass.sum())
    at = np.linspace(z.min(), z.max(), POINTS)
    lines = np.vstack([np.full(POINTS, logit(share)), intercepts[:, None] + np.outer(slopes, at)])
    log_odds = np.log(chances @ expit(lines)) - np.log(chances @ expit(-lines))
    return CalibrationMap(share, 0.0, 0.0, middle + spread * at, np.maximum.accumulate(log_odds))


def log_prior(slopes: FloatArray, median: float = SELECTION.usual_slope) -> FloatArray:
    """Return the log density of the half Cauchy distribution of this median."""
    return np.asarray(np.log(2.0 / (np.pi * median)) - np.log1p((slopes / median) ** 2))


def _intercepts(slopes: FloatArray, z: FloatArray, weights: FloatArray, share: float) -> FloatArray:
    """The intercept for each slope at which the mean risk is `share`: Newton, inside a bracket."""
    lines, at = np.outer(slopes, z), np.full(slopes.size, float(logit(share)))
    high = np.abs(lines).max(axis=1) + abs(at) + 1.0
    low = -high
    for _ in range(NEWTON_STEPS):
        risks = expit(at[:, None] + lines)
        excess = risks @ weights - share
        if np.max(np.abs(excess)) <= 1e-13 * min(share, 1.0 - share):
            break
        low, high = np.where(excess < 0, at, low), np.where(excess > 0, at, high)
        rise = (risks * (1.0 - risks)) @ weights
        step = at - excess / np.maximum(rise, 1e-300)
        at = np.where((step > low) & (step < high), step, 0.5 * (low + high))
    return at


def _power(scores: FloatArray, positive: np.ndarray, weights: FloatArray) -> float:
    """From one half, where models learn rows by heart, to 1, where held-out rows score as others.

    >>> by_heart = _power(np.array([-1.0, 1.0, -1.0, 1.0]), np.arange(4) < 2, np.ones(4))
    >>> by_heart, _power(np.array([-1.0, 1.0]), np.array([False, True]), np.ones(2))
    (0.5, 1.0)
    """
    high, low = (np.average(scores[one], weights=weights[one]) for one in (positive, ~positive))
    return float(1.0 / (2.0 - 0.5 * np.clip(high - low, 0.0, 2.0)))


def _log_likelihood(
    slopes: FloatArray, at: FloatArray, z: FloatArray, positive: np.ndarray, weights: FloatArray
) -> FloatArray:
    """How likely the rows are at each slope and its intercept."""
    odds = at[:, None] + np.outer(slopes, z)
    return np.asarray((positive * odds - np.logaddexp(0.0, odds)) @ weights)


def _log_loss(log_odds: FloatArray, targets: FloatArray, weights: FloatArray) -> float:
    return float(weights @ (np.logaddexp(0.0, log_odds) - targets * log_odds))


def _isotonic(scores: FloatArray, positive: np.ndarray, weights: FloatArray) -> CalibrationMap:
    """A rising step function of Platt's targets, straight between the middles of its steps."""
    targets, share = _targets(positive, weights), _share(positive, weights)
    unit = 1e-12 * float(np.ptp(scores))
    scores = np.round(scores / unit) * unit  # what differs by rounding is one step
    steps = IsotonicRegression().fit(scores, targets, sample_weight=weights).predict(scores)
    values = np.unique(steps)
    middles = [np.average(scores[steps == v], weights=weights[steps == v]) for v in values]
    if values.size < 2:
        return CalibrationMap.constant(share)
    return CalibrationMap(share, 0.0, 0.0, np.array(middles), logit(values))


# --------------------------------------------------------------------------------------------------
# Decision values of several classes on one scale, and the probability of each class at them.
#
# Each class has a model of its own, against all others, and their decision values cannot be
# compared: a class between two others is told from them by no line, and its values mean little. So
# the value of class c becomes
#
#     log odds_c = slope_c * value_c + intercept_c,    slope_c >= 0,
#
# by maximum likelihood of the softmax of all of them over the rows, at their shares p. A value that
# does not tell its class gets a slope near zero, and the other classes decide. The targets are
# Platt's, for any number of classes: a row of class c is of it by (n_c + 1)/(n_c + 2), and the rest
# is spread evenly over the others; so rows that happen to be told apart make nobody certain. For
# two classes with opposite values this is Platt's sigmoid.
#
# The rows' values are out of fold where there are such, as those of new rows are.


DIGITS: Final = 3  # of slopes and intercepts: further ones hang on the order of the rows
MOST_STEPS: Final = 1000
POWER: Final = 0.5  # of the likelihood: the least that two classes have
GRID: Final = 200  # values of the sharpness that are averaged over
GAUGE: Final = 1e-9  # weight of the squares: a common constant in all intercepts says nothing


@dataclass(frozen=True, eq=False)
class MulticlassCalibration:
    """How the decision values of each class become log odds."""

    slopes: FloatArray
    intercepts: FloatArray

    @classmethod
    def fit(cls, values: FloatArray, codes: IntArray, p: FloatArray, counts: FloatArray) -> Self:
        """The most likely scale; `values` has one column per class, all finite.

        `codes` are the positions of the rows' classes, p their shares, `counts` how many
        rows each one is.
        """
        middle, spread = p @ values / p.sum(), deviations(values, counts)
        flat = spread <= 1e-12 * np.maximum(np.abs(middle), 1e-100)
        z = np.where(flat, 0.0, (values - middle) / np.where(flat, 1.0, spread))
        k, targets, share = values.shape[1], smooth_targets(codes, counts), p / p.sum()

        def loss(at: FloatArray) -> tuple[float, FloatArray]:
            odds = at[:k] * z + at[k:]
            excess = share[:, None] * (softmax(odds, axis=1) - targets)
            value = -share @ (targets * log_softmax(odds, axis=1)).sum(axis=1)
            slope = np.r_[(excess * z).sum(axis=0), excess.sum(axis=0)]
            return float(value) + GAUGE * float(at @ at), slope + 2 * GAUGE * at

        found = minimize(
            loss,
            np.r_[np.ones(k), np.zeros(k)],
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * k + [(None, None)] * k,
            options={"maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS, "ftol": 1e-15, "gtol": 1e-9},
        ).x
        slopes = np.where(flat, 1.0, found[:k] / np.where(flat, 1.0, spread))
        slopes = np.array([float(f"{slope:.{DIGITS}g}") for slope in slopes])
        intercepts = found[k:] - slopes * middle
        return cls(slopes, np.round(intercepts - intercepts.mean(), DIGITS) + 0.0)

    def of(self, values: FloatArray) -> FloatArray:
        """The log odds at decision values, a column a class."""
        return values * self.slopes + self.intercepts


@dataclass(frozen=True, eq=False)
class ClassProbabilities:
    """Probabilities: the softmax of log odds, sharpened or flattened, at the true prevalence.

    `shift` moves the log odds from the shares that the classes had in the fit to their prevalence;
    at sharpness 0 everybody has it.
    """

    sharpness: float
    shift: FloatArray

    @classmethod
    def fit(
        cls,
        log_odds: FloatArray,
        codes: IntArray,
        p: FloatArray,
        counts: FloatArray,
        settings: SelectionSettings = SELECTION,
    ) -> ClassProbabilities:
        """The mean sharpness by its probability, over rows whose values are out of fold.

        As for two classes (calibration.py): perhaps the values tell nothing, and everybody has the
        prevalence; few rows say little against that. Platt's targets bound the mean.
        """
        prevalence, share = class_shares(codes, counts), class_shares(codes, p)
        size = float(deviations(log_odds.ravel(), np.repeat(counts, log_odds.shape[1])))
        targets = smooth_targets(codes, counts)
        if not size > 0:
            return cls.constant(prevalence)
        units, per_class = np.geomspace(SLOPES[0], SLOPES[-1], GRID), np.log(share)
        weights = p / p.sum() * counts.sum()
        # at sharpness 0 everybody has the shares
        z, centre = log_odds / size, per_class / size
        fits = [
            weights @ (targets * log_softmax(unit * (z - centre) + per_class, axis=1)).sum(axis=1)
            for unit in (0.0, *units)
        ]
        evidence = POWER * (np.array(fits) - max(fits))
        prior = log_prior(units, settings.usual_slope)
        mass = np.exp(evidence[1:] + prior) * np.gradient(units) * (1.0 - settings.no_signal)
        none = settings.no_signal * np.exp(evidence[0])
        mean = float(mass @ units / (none + mass.sum())) / size
        sharpness = float(f"{mean:.{DIGITS}g}")
        return cls(sharpness, np.log(prevalence) - sharpness * per_class)

    @classmethod
    def constant(cls, prevalence: FloatArray) -> ClassProbabilities:
        """Everybody has the prevalence."""
        return cls(0.0, np.log(prevalence))

    def of(self, log_odds: FloatArray) -> FloatArray:
        """The probability of each class; each row sums to one."""
        return np.asarray(softmax(self.sharpness * log_odds + self.shift, axis=1))


def deviations(values: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the standard deviation of each column; a row that counts two is two rows."""
    share = counts / counts.sum()
    return np.asarray(np.sqrt(share @ (values - share @ values) ** 2))


def class_shares(codes: IntArray, weights: FloatArray) -> FloatArray:
    """What each class has of the weights."""
    sums = np.bincount(codes, weights=weights)
    return sums / sums.sum()


def smooth_targets(codes: IntArray, counts: FloatArray) -> FloatArray:
    """Platt's targets, for each row and class.

    >>> smooth_targets(np.array([0, 1, 2, 2]), np.ones(4))[2].round(3).tolist()
    [0.125, 0.125, 0.75]
    """
    own = np.bincount(codes, weights=counts)
    k, rest = own.size, 1.0 / (own[codes] + 2.0)
    targets = np.repeat(rest[:, None] / (k - 1), k, axis=1)
    targets[np.arange(codes.size), codes] = 1.0 - rest
    return targets
