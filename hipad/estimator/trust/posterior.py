"""How probable each candidate is, given how it predicts labelled rows that it did not see.

Decision values have the average rows of the two classes at -1 and +1. Where the values of a class
have a deviation of about one, the log odds of a row are twice its decision value, so that

    l_ik = log(1 + exp(-2 y_i f_k(x_i)))

is the log loss of held-out row i under candidate k, and prior_k exp(-sum_i l_ik) would be its
posterior. Few rows make nobody certain, so decision values count up to `MOST` in either direction:
log odds of three. With few rows that sum is mostly chance. As in pseudo-BMA+ (Yao, Vehtari,
Simpson and Gelman 2018, Bayesian Analysis 13:917) the posterior is therefore averaged over how the
sums would vary if other rows had been drawn. They are taken to be normal, with the covariance of
the rows' losses: a row of weight two is two rows, and their order plays no part.

A row can testify on a rule only if it lies some way towards the patients of whom the rule speaks,
or in the other direction. On ksvm-s every labelled row lies within a twenty-fifth of the way: the
rows cannot see what the rules speak of, and say nothing for or against them
(`choosing.posing.relevance`).
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm, qmc

from hipad.arrays import FloatArray, IntArray

LOG_ODDS: Final = 2.0  # of a decision value of one
MOST: Final = 1.5  # decision value: 95 % certain
DRAWS: Final = 10  # powers of two: 1,024 points of the normal distribution, always the same


def held_out_losses(scores: FloatArray, y: FloatArray) -> FloatArray:
    """Log losses of held-out decision values, one column for each candidate.

    >>> held_out_losses(np.array([[0.0], [1.0], [np.nan]]), np.array([1.0, 1.0, -1.0])).round(3)
    array([[0.693],
           [0.127],
           [0.693]])
    """
    known = np.where(np.isfinite(scores), scores, 0.0)  # a score of 0 has the loss of a coin
    losses: FloatArray = np.logaddexp(0.0, -LOG_ODDS * y[:, None] * np.clip(known, -MOST, MOST))
    return losses


def posterior(
    losses: FloatArray,
    prior: FloatArray,
    weights: FloatArray,
    counts: FloatArray,
    groups: IntArray | None = None,
) -> FloatArray:
    """Probabilities of the candidates; `losses` has one row a labelled row, one column each.

    A labelled row counts `weights` in the sums, and is `counts` rows that were drawn. Of rows of
    one group the sum was drawn: they are one patient.

    >>> even, ones = np.array([0.5, 0.5]), np.ones(40)
    >>> posterior(np.tile([0.7, 0.3], (40, 1)), even, ones, ones).round(6)
    array([0., 1.])
    >>> posterior(np.tile([0.5, 0.5], (40, 1)), even, ones, ones)
    array([0.5, 0.5])
    """
    sums = weights @ losses
    apart = losses - sums / weights.sum()
    if groups is None:
        covariance = (apart.T * (weights**2 / counts)) @ apart
    else:
        drawn = np.zeros((int(groups.max()) + 1, prior.size))
        np.add.at(drawn, groups, weights[:, None] * apart)
        covariance = drawn.T @ drawn
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
