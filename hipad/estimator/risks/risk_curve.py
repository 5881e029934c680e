"""The risk at a decision value, learnt from out-of-fold scores.

Scores of training rows by models that did not see them are as honest as those of new patients. On
them

    sigmoid     log odds = slope * score + intercept, by maximum likelihood with Platt's targets
                (n + 1)/(n + 2) and 1/(n + 2) instead of 1 and 0: a handful of rows that happen to
                be told apart do not make anybody certain
    isotonic    from LARGE patients of the rarer class on: any rising curve, straight between the
                middles of its steps

The slope is never negative: where scores do not tell the classes apart everybody has the
prevalence. The intercept is moved until the mean risk of the rows is their prevalence, since a
class of two patients would else be drawn towards one half. Rows count by their weights as patients;
class weights have no part in it.

Another prevalence moves the log odds by the difference of the log odds of both (Bayes): right where
the classes look the same in both populations, and only their shares differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from hipad.arrays import FloatArray
from hipad.errors import HipadError

LARGE: Final = 500  # patients of the rarer class from which the curve is isotonic
NEWTON_STEPS: Final = 100
CLEARLY: Final = 4.0  # twice the log likelihood that a free number gains by chance once in twenty
NEARLY: Final = 0.05  # of the prevalence: by so much the mean risk may be moved
MOST_LOG_ODDS: Final = 36.0  # beyond it a risk is 1 to the last digit


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """Log odds rise with the score: along a line, or through the points (`at`, `log_odds`).

    `prevalence` is that of the rows it was learnt from.
    """

    prevalence: float
    slope: float
    intercept: float
    at: FloatArray
    log_odds: FloatArray

    @classmethod
    def constant(cls, prevalence: float) -> RiskCurve:
        """Everybody has the prevalence."""
        return cls(prevalence, 0.0, float(logit(prevalence)), np.zeros(0), np.zeros(0))

    @classmethod
    def fit(cls, scores: FloatArray, y: FloatArray, weights: FloatArray) -> RiskCurve:
        """The curve of rows with labels -1 and +1; a score that is NaN is not known."""
        positive, known = y > 0, np.isfinite(scores)
        curve = cls.constant(_share(positive, weights))
        s, t, w = scores[known], positive[known], weights[known]
        if t.all() or not t.any() or not np.ptp(s) > max(1e-12 * np.max(np.abs(s)), 1e-100):
            return curve
        found = _isotonic(s, t, w) if _rarer(t, w) >= LARGE else _sigmoid(s, t, w)
        return found._with_mean(s, w, _share(t, w))._moved_to(curve.prevalence)

    def risks(self, scores: FloatArray, prevalence: float | None = None) -> FloatArray:
        """The probability of the positive class at each score, above 0 and below 1."""
        moved = 0.0 if prevalence is None else float(logit(prevalence) - logit(self.prevalence))
        return expit(np.clip(self._log_odds(scores) + moved, -MOST_LOG_ODDS, MOST_LOG_ODDS))

    def of_scaled(self, factor: float, offset: float) -> RiskCurve:
        """The curve over x, where this one is over factor * x + offset, and factor > 0."""
        slope, intercept = self.slope * factor, self.slope * offset + self.intercept
        return RiskCurve(
            self.prevalence, slope, intercept, (self.at - offset) / factor, self.log_odds
        )

    def even_at(
        self,
        zero: float,
        scores: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        *,
        always: bool = False,
    ) -> RiskCurve:
        """Moved so that both classes are as likely at `zero`.

        Not so, unless `always`, where the rows speak against it.
        """
        if not self._rises:  # perhaps because no score is known
            return self
        known = np.isfinite(scores)
        s, labels, w = scores[known], (y[known] > 0).astype(float), weights[known]
        even = self._shifted(-float(self._log_odds(np.array([zero]))[0]), self.prevalence)
        mine, other = (_log_loss(curve._log_odds(s), labels, w) for curve in (self, even))
        moved = abs(float(np.average(expit(even._log_odds(s)), weights=w)) - self.prevalence)
        small = moved <= NEARLY * min(self.prevalence, 1.0 - self.prevalence)
        return even if always or (small and 2.0 * (other - mine) < CLEARLY) else self

    @property
    def _rises(self) -> bool:
        return self.slope > 0 or self.at.size > 0

    def _log_odds(self, scores: FloatArray) -> FloatArray:
        if self.at.size:
            return np.interp(scores, self.at, self.log_odds)
        return self.slope * np.asarray(scores, dtype=float) + self.intercept

    def _shifted(self, by: float, prevalence: float) -> RiskCurve:
        return RiskCurve(
            prevalence, self.slope, self.intercept + by, self.at, np.asarray(self.log_odds + by)
        )

    def _with_mean(self, scores: FloatArray, weights: FloatArray, mean: float) -> RiskCurve:
        """Moved until the mean risk of these rows is as given."""
        odds = self._log_odds(scores)

        def excess(by: float) -> float:
            return float(np.average(expit(odds + by), weights=weights)) - mean

        reach = float(np.max(np.abs(odds)) + abs(logit(mean))) + 1.0
        return self._shifted(float(brentq(excess, -reach, reach, xtol=1e-13)), mean)

    def _moved_to(self, prevalence: float) -> RiskCurve:
        if prevalence == self.prevalence:
            return self
        return self._shifted(float(logit(prevalence) - logit(self.prevalence)), prevalence)


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


def _share(positive: np.ndarray, weights: FloatArray) -> float:
    return float(weights[positive].sum() / weights.sum())


def _rarer(positive: np.ndarray, weights: FloatArray) -> float:
    return float(min(weights[positive].sum(), weights[~positive].sum()))


def _targets(positive: np.ndarray, weights: FloatArray) -> FloatArray:
    """Platt's: what an even prior for each class leaves of certainty."""
    high, low = weights[positive].sum(), weights[~positive].sum()
    return np.where(positive, (high + 1.0) / (high + 2.0), 1.0 / (low + 2.0))


def _sigmoid(scores: FloatArray, positive: np.ndarray, weights: FloatArray) -> RiskCurve:
    """Maximum likelihood in slope and intercept by Newton's method with halved steps."""
    targets, share = _targets(positive, weights), _share(positive, weights)
    middle, spread = float(np.average(scores, weights=weights)), float(np.std(scores))
    Z = np.column_stack(((scores - middle) / spread, np.ones(scores.size)))
    at = np.array([0.0, logit(np.average(targets, weights=weights))])
    loss = _log_loss(Z @ at, targets, weights)
    for _ in range(NEWTON_STEPS):
        p = expit(Z @ at)
        gradient = Z.T @ (weights * (p - targets))
        curvature = (Z.T * (weights * p * (1.0 - p))) @ Z + 1e-12 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (new := _log_loss(Z @ (at - size * step), targets, weights)) > loss and size > 1e-9:
            size /= 2.0
        at, before, loss = at - size * step, loss, min(new, loss)
        if before - loss <= 1e-14 * abs(loss):
            break
    if at[0] <= 0:
        return RiskCurve.constant(share)
    slope = float(at[0] / spread)
    return RiskCurve(share, slope, float(at[1]) - slope * middle, np.zeros(0), np.zeros(0))


def _log_loss(log_odds: FloatArray, targets: FloatArray, weights: FloatArray) -> float:
    return float(weights @ (np.logaddexp(0.0, log_odds) - targets * log_odds))


def _isotonic(scores: FloatArray, positive: np.ndarray, weights: FloatArray) -> RiskCurve:
    """A rising step function of Platt's targets, straight between the middles of its steps."""
    targets, share = _targets(positive, weights), _share(positive, weights)
    unit = 1e-12 * float(np.ptp(scores))
    scores = np.round(scores / unit) * unit  # what differs by rounding is one step
    steps = IsotonicRegression().fit(scores, targets, sample_weight=weights).predict(scores)
    values = np.unique(steps)
    middles = [np.average(scores[steps == v], weights=weights[steps == v]) for v in values]
    if values.size < 2:
        return RiskCurve.constant(share)
    return RiskCurve(share, 0.0, 0.0, np.array(middles), logit(values))
