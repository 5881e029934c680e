"""The one place that chooses a design for a given matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.designs.base import Design
from hipad.designs.dense import DenseDesign
from hipad.designs.sparse import SparseDesign


def make_design(
    X: Any, *, mean: npt.ArrayLike | None = None, scale: npt.ArrayLike | None = None
) -> Design:
    """Return the design of Z = (X - mean) / scale for an array or any scipy sparse matrix.

    float32 and float64 data are kept as they are (a memory-mapped array stays on disk), anything
    else becomes float64. `mean` None means zero, `scale` None means one, for every column.
    """
    if sp.issparse(X):
        return SparseDesign(X, mean, scale)
    return DenseDesign(np.asarray(X), mean, scale)
