"""Whole numbers too large for floating point, which would make two neighbours one.

Such numbers are mostly IDs. A column of them is kept as text, so that two different IDs stay two.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.arrays import BoolArray
from hipad.data.texts import Cells

EXACT: Final = 2**53  # floating point holds every whole number up to here
IS_WHOLE: Final = r"^[-+]?[0-9]+$"  # in Arrow's own engine, where $ is the very end
KEPT_AS_TEXT: Final = "of whole numbers above 2^53 kept as text"
ROUNDED: Final = "whole numbers above 2^53 were rounded: keep codes out of the matrix"


def reach_beyond_exact(values: npt.NDArray[Any], limit: int = EXACT) -> bool:
    """Whether a number among these is as large as the limit; gaps do not count."""
    if not values.size:
        return False
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    return bool(high >= limit or low <= -limit)


def large_wholes(cells: Cells, values: npt.NDArray[np.float64]) -> BoolArray:
    """Which cells are written as whole numbers, and are too large for floating point."""
    result = np.zeros(len(values), dtype=bool)
    if reach_beyond_exact(values):
        large = np.abs(values) >= EXACT
        written = cells.filter(pa.array(large))
        whole = pc.fill_null(pc.match_substring_regex(written, IS_WHOLE), False)
        result[large] = whole.to_numpy(zero_copy_only=False)
    return result


def plain_wholes(cells: Cells) -> Cells:
    """Whole numbers written in one way: without a plus sign and without zeros before them."""
    return pc.replace_substring_regex(cells, r"^\+?(-?)0*([0-9])", r"\1\2")
