"""Whether columns that vary little for the size of their values count less: labelled rows say.

Both scalings (hipad/designs/scaling.py) are free of units. Each is judged by ridge regression of
the labels, whose leave-one-out errors have a closed form: with row shares p that sum to one,
K = Z Z' and a ridge t,

    minimise sum_j p_j (y_j - z_j'w - b)^2 + t |w|^2

has residuals r = t a / p, where (a, b) = A^{-1} (y, 0) for the matrix A of K + t diag(1/p) bordered
by ones, and leverages h = 1 - t diag(A^{-1}) / p. The error of row j, were it left out, is
r_j / (1 - h_j) (Allen's PRESS); a row of weight two is two rows, of which one is left out. The
ridge of least error counts for each scaling. Deviation 1 stays unless the damped scale is better by
more than `CLEARLY` standard errors of the difference, row by row, at the level of Student's t for
so many rows: of few rows the error itself is hardly known.

On text, images and gene expression the difference was 3 to 20 standard errors in favour of damping,
on clinical tables and spectra -8 to 1.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from hipad.arrays import FloatArray
from hipad.data.moments import ColumnStatistics, column_statistics
from hipad.designs import Design, make_design
from hipad.designs.scaling import damped_scale, unit_scale, varying
from hipad.estimator.choosing.folds import content_folds

CLEARLY: Final = 3.0  # standard errors of many rows by which damping must be better
RIDGES: Final = np.geomspace(1e-3, 10.0, 9)  # t, in units of the mean squared norm of a row
LEAST_ROWS: Final = 3  # of each class: with fewer nobody can say
MOST_ROWS: Final = 400  # as many say it clearly


def standardised_design(
    X: Any, labels: FloatArray, weights: FloatArray, moments: ColumnStatistics | None = None
) -> Design:
    """Return the rows with columns scaled as serves them best.

    Of several classes each is told from all others. `moments` are the statistics of the columns,
    where further rows have a part in them.
    """
    stats = column_statistics(X, weights) if moments is None else moments
    usual = make_design(X, mean=stats.mean, scale=unit_scale(stats))
    classes = np.unique(labels)
    told_apart = classes[1:] if classes.size == 2 else classes
    signs = np.where(labels[:, None] == told_apart, 1.0, -1.0)
    rows = _rows_to_ask(usual, signs, weights)
    if rows.size == 0 or not varying(stats).any():
        return usual
    damped = make_design(X, mean=stats.mean, scale=damped_scale(stats))
    everybody = rows.size == len(signs)
    grams = [
        (one if everybody else make_design(X[rows], mean=one.mean, scale=one.scale)).gram()
        for one in (usual, damped)
    ]
    gain, error = _gain(grams, signs[rows], weights[rows])
    least = float(student.isf(norm.sf(CLEARLY), max(weights[rows].sum() - 1.0, 1.0)))
    return damped if gain > least * error else usual


def leave_one_out_errors(
    K: FloatArray, y: FloatArray, p: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the errors of rows that are left out of a ridge regression, at its best ridge.

    >>> x = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> p, ones = np.full(4, 0.25), np.ones(4)
    >>> leave_one_out_errors(np.outer(x, x), np.sign(x), p, ones).round(2).tolist()
    [0.24, -0.69, 0.69, -0.24]
    """
    root = np.sqrt(p)
    values, vectors = np.linalg.eigh(root[:, None] * K * root)
    found, least = np.zeros_like(y), np.inf
    for t in RIDGES * max(float(p @ np.diag(K)), 1e-300):
        inverse = 1.0 / (np.maximum(values, 0.0) + t)

        def solve(of: FloatArray, inverse: FloatArray = inverse) -> FloatArray:
            return np.asarray(root * (vectors @ (inverse * (vectors.T @ (root * of)))))

        ones = solve(np.ones_like(y))
        a = solve(y) - ones * (ones @ y) / ones.sum()
        diagonal = vectors**2 @ inverse - ones**2 / (p * ones.sum())  # of A^{-1}, by p
        leverage = (1.0 - t * diagonal) / np.maximum(weights, 1.0)
        errors = t * a / (p * np.maximum(1.0 - leverage, 1e-12))
        if (loss := float(p @ errors**2)) < least:
            found, least = errors, loss
    return found


def _rows_to_ask(design: Design, signs: FloatArray, weights: FloatArray) -> np.ndarray:
    """Rows of all classes, not too many; none where a class has too few."""
    smallest = min(np.count_nonzero(signs == sign, axis=0).min() for sign in (-1.0, 1.0))
    if smallest < LEAST_ROWS:
        return np.zeros(0, dtype=int)
    n = len(signs)
    if n <= MOST_ROWS:
        return np.arange(n)
    parts = content_folds(design, signs[:, 0], weights / weights.sum(), -(-n // MOST_ROWS))
    rows = np.flatnonzero(parts == 0)
    both = all(np.unique(column).size == 2 for column in signs[rows].T)
    return rows if both else np.zeros(0, dtype=int)


def _gain(grams: list[FloatArray], signs: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """By how much the second scaling has the smaller squared errors, and the error of that."""
    share = weights / weights.sum()
    gains = np.zeros(len(signs))
    for y in signs.T:
        positive = y > 0
        p = share * np.where(positive, 0.5 / share[positive].sum(), 0.5 / share[~positive].sum())
        first, second = (leave_one_out_errors(K, y, p, weights) ** 2 for K in grams)
        gains += p / share * (first - second)
    mean = float(share @ gains)
    variance = (share**2 / weights) @ (gains - mean) ** 2
    return mean, float(np.sqrt(variance))
