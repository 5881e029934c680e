"""Small data, rules and a grid that the tests of the search share."""

import numpy as np

GRID = {"lambda1": [0.2, 0.02, 0.06], "lambda2": [0.1, 3.0]}
RULES = "x0 >= 0.5 and x3 < 1 => ill worth 3 patients\nx1 < -1 => fit"


def data(n=48, m=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, "ill", "fit")
    X = rng.standard_normal((n, m)) * rng.uniform(0.5, 3.0, m) + 1.0
    return X + np.outer(np.where(y == "ill", 0.9, -0.9), np.r_[np.ones(5), np.zeros(m - 5)]), y
