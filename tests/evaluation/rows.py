"""Patients of whom the first column tells the class, and the others nothing."""

import numpy as np

from hipad.rules import FeatureIndex

INDEX = FeatureIndex(["a", "b", "c"])
CLASSES = ("well", "ill")
RNG = np.random.default_rng(0)
Y = np.where(np.arange(60) % 2, 1.0, -1.0)
X = np.column_stack([5 + 2 * Y, RNG.normal(size=60), RNG.normal(size=60)])
X[:, 0] += RNG.normal(0, 0.3, 60)
