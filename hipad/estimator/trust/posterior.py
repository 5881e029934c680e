"""How probable each candidate is, given how it predicts labelled rows that it did not see.

Decision values have the average rows of the two classes at -1 and +1. Where the values of a class
are normal with variance v, as linear discriminant analysis has it, the log odds of a row are 2 f/v:

    l_ik = log(1 + exp(-2 y_i f_k(x_i) / v_k))

is the log loss of held-out row i under candidate k, with v_k the variance of its held-out values
within the classes (at least 1), and prior_k exp(-sum_i l_ik) would be its posterior. The same
precision 1/v_k weighs the candidate in the average of all: a model that hardly separates the
classes has decision values of any size, which would drown those of the others.

Few rows make nobody certain, so log odds count up to three in either direction. With few rows the
sum of losses is mostly chance. As in pseudo-BMA+ (Yao, Vehtari, Simpson and Gelman 2018, Bayesian
Analysis 13:917) the posterior is therefore averaged over how the sums would vary if other rows had
been drawn. They are taken to be normal, with the covariance of the rows' losses: a row of weight
two is two rows, and their order plays no part.

A row can testify on a rule only if it lies some way towards the patients of whom the rule speaks,
or in the other direction. On ksvm-s every labelled row lies within a twenty-fifth of the way: the
rows cannot see what the rules speak of, and say nothing for or against them (`relevance`).
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm, qmc

from hipad.arrays import FloatArray

MOST: Final = 3.0  # log odds: 95 % certain
LEAST_VARIANCE: Final = 1.0  # of decision values within a class
NEAR: Final = 0.1  # share of the way to the patients of a rule at which a row counts one half
DRAWS: Final = 10  # powers of two: 1,024 points of the normal distribution, always the same


def precisions(scores: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """One over the variance of held-out decision values within the classes, for each candidate.

    >>> scores = np.array([[-1.0, -4.0], [-1.0, 2.0], [1.0, 4.0], [1.0, -2.0]])
    >>> precisions(scores, np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4)).round(3).tolist()
    [1.0, 0.111]
    """
    known = np.where(np.isfinite(scores), scores, 0.0)
    variance = np.zeros(scores.shape[1])
    for sign in (-1.0, 1.0):
        own, share = known[y == sign], weights[y == sign] / weights[y == sign].sum()
        variance += 0.5 * (share @ (own - share @ own) ** 2)
    found: FloatArray = 1.0 / np.maximum(variance, LEAST_VARIANCE)
    return found


def held_out_losses(scores: FloatArray, y: FloatArray, precision: FloatArray) -> FloatArray:
    """Log losses of held-out decision values, one column for each candidate.

    >>> scores, y = np.array([[0.0], [1.0], [np.nan]]), np.array([1.0, 1.0, -1.0])
    >>> held_out_losses(scores, y, np.ones(1)).round(3)
    array([[0.693],
           [0.127],
           [0.693]])
    """
    known = np.where(np.isfinite(scores), scores, 0.0)  # a score of 0 has the loss of a coin
    odds = np.clip(2.0 * precision * known, -MOST, MOST)
    losses: FloatArray = np.logaddexp(0.0, -y[:, None] * odds)
    return losses


def relevance(reach: FloatArray) -> FloatArray:
    """How much rows may say on rules, from 0 to 1.

    `reach` is the share of the way from the middle between the classes to the typical patient of
    the rule that lies nearest: a row that is a tenth of the way counts one half.

    >>> relevance(np.array([0.0, 0.01, 0.1, 1.0])).round(2).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    return reach**4 / (reach**4 + NEAR**4)


def posterior(
    losses: FloatArray, prior: FloatArray, weights: FloatArray, counts: FloatArray
) -> FloatArray:
    """Probabilities of the candidates; `losses` has one row a labelled row, one column each.

    A labelled row counts `weights` in the sums, and is `counts` rows that were drawn.

    >>> even, ones = np.array([0.5, 0.5]), np.ones(40)
    >>> posterior(np.tile([0.7, 0.3], (40, 1)), even, ones, ones).round(6)
    array([0., 1.])
    >>> posterior(np.tile([0.5, 0.5], (40, 1)), even, ones, ones)
    array([0.5, 0.5])
    """
    sums = weights @ losses
    apart = losses - sums / weights.sum()
    covariance = (apart.T * (weights**2 / counts)) @ apart
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    logits = np.log(prior) - (sums + normal_points(prior.size) @ root)
    shares = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    mean: FloatArray = shares.mean(axis=0)
    return mean


@cache
def normal_points(dimensions: int) -> FloatArray:
    """Points that represent the standard normal distribution, mirrored at zero."""
    inside = qmc.Sobol(dimensions, scramble=True, rng=0).random_base2(DRAWS - 1)
    points = norm.ppf(np.clip(inside, 1e-9, 1.0 - 1e-9))
    points = np.vstack([points, -points])
    points.flags.writeable = False
    return points
