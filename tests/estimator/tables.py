"""Small tables of two shifted columns and noise, for tests of trust."""

from __future__ import annotations

import numpy as np

# One pair of values, and two folds that are not repeated: quick fits.
SPLITS = [(np.r_[5:200], np.r_[:5]), (np.r_[:5, 10:200], np.r_[5:10])]
GIVEN = {"lambda1": 0.1, "lambda2": 1.0, "cv": SPLITS}
RIGHT = "x0 >= 1 => 1\nx1 <= -1 => 0"
FLIPPED = "x0 >= 1 => 0\nx1 <= -1 => 1"


def rows(seed, count, features=6):
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 2
    X = rng.normal(size=(count, features))
    X[:, :2] += 1.6 * (y[:, None] - 0.5)
    return X, y
