"""A table and a synthetic recipe small enough for many fits."""

from __future__ import annotations

import numpy as np

from hipad.experiments.methods import ExperimentData, Synthetic


def table(n: int = 60, seed: int = 0) -> ExperimentData:
    """Two features that carry the class, and six that do not."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, 8))
    X[:, :2] += 1.5 * y[:, None]
    names = tuple(f"f{j}" for j in range(8))
    return ExperimentData("small", X, y, names, rules="f0 >= 1 => 1\nf1 <= -1 => -1")


def recipe() -> Synthetic:
    """ksvm-s with few rows and features."""
    sizes = (("n_features", 60), ("n_train", 30), ("n_test", 40), ("block_size", 5))
    return Synthetic("tiny", preset="10k", sizes=sizes)
