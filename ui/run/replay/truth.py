"""What is known beforehand of synthetic data: the features that carry the class."""

from __future__ import annotations

import numpy as np

from hipad.arrays import IntArray
from hipad.datasets.ksvm import relevant_columns
from ui.dataset import Dataset, Loaded


def relevant_features(loaded: Loaded | None, data: Dataset) -> IntArray | None:
    """Columns of the data that carry the class; None where nobody knows."""
    if loaded is None or "preset" not in loaded.recipe:
        return None
    block_size = loaded.recipe.get("block_size")
    known = relevant_columns(loaded.recipe["preset"], block_size=block_size)
    return np.flatnonzero(np.isin(data.kept, known))
