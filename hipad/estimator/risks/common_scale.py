"""Decision values of several classes on one scale, and the probability of each class at them.

Each class has a model of its own, against all others, and their decision values cannot be compared:
a class between two others is told from them by no line, and its values mean little. So the value of
class c becomes

    log odds_c = slope_c * value_c + intercept_c,    slope_c >= 0,

by maximum likelihood of the softmax of all of them over the rows, at their shares p. A value that
does not tell its class gets a slope near zero, and the other classes decide. The targets are
Platt's, for any number of classes: a row of class c is of it by (n_c + 1)/(n_c + 2), and the rest
is spread evenly over the others; so rows that happen to be told apart make nobody certain. For two
classes with opposite values this is Platt's sigmoid.

The rows' values are out of fold where there are such, as those of new rows are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from hipad.arrays import FloatArray, IntArray
from hipad.estimator.risks.risk_curve import NOTHING, SLOPES, log_prior

DIGITS: Final = 3  # of slopes and intercepts: further ones hang on the order of the rows
MOST_STEPS: Final = 1000
POWER: Final = 0.5  # of the likelihood: the least that two classes have
GRID: Final = 200  # values of the sharpness that are averaged over
GAUGE: Final = 1e-9  # weight of the squares: a common constant in all intercepts says nothing


@dataclass(frozen=True, eq=False)
class CommonScale:
    """How the decision values of each class become log odds."""

    slopes: FloatArray
    intercepts: FloatArray

    @classmethod
    def fit(cls, values: FloatArray, codes: IntArray, p: FloatArray, counts: FloatArray) -> Self:
        """The most likely scale; `values` has a row a patient and a column a class, all finite.

        `codes` are the positions of the patients' classes, p their shares, `counts` how many
        patients each row is.
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
class ClassRisks:
    """Probabilities: the softmax of log odds, sharpened or flattened, at the true prevalence.

    `shift` moves the log odds from the shares that the classes had in the fit to their prevalence;
    at sharpness 0 everybody has it.
    """

    sharpness: float
    shift: FloatArray

    @classmethod
    def fit(
        cls, log_odds: FloatArray, codes: IntArray, p: FloatArray, counts: FloatArray
    ) -> ClassRisks:
        """The mean sharpness by its probability, over rows whose values are out of fold.

        As for two classes (risk_curve.py): perhaps the values tell nothing, and everybody has the
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
        mass = np.exp(evidence[1:] + log_prior(units)) * np.gradient(units) * (1.0 - NOTHING)
        none = NOTHING * np.exp(evidence[0])
        mean = float(mass @ units / (none + mass.sum())) / size
        sharpness = float(f"{mean:.{DIGITS}g}")
        return cls(sharpness, np.log(prevalence) - sharpness * per_class)

    @classmethod
    def constant(cls, prevalence: FloatArray) -> ClassRisks:
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
