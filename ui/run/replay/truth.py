"""What is known beforehand of synthetic data: the features that carry the class, and which way."""

from __future__ import annotations

import numpy as np

from hipad.datasets import relevant_signs
from hipad.utils import IntArray
from ui.dataset import Dataset, Loaded


def true_signs(loaded: Loaded | None, data: Dataset) -> IntArray | None:
    """The sign that the weight of each column ought to have; None where nobody knows.

    0 is for columns that carry nothing, and signs are seen from the class that is called positive.
    """
    if loaded is None or "preset" not in loaded.recipe:
        return None
    block_size = loaded.recipe.get("block_size")
    known = relevant_signs(loaded.recipe["preset"], block_size=block_size)
    signs = np.zeros(len(data.every), dtype=int)
    signs[: len(known)] = known if data.classes[1] == loaded.positive else -known
    return signs[data.kept]
