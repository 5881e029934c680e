"""Written cells as numbers, by the cheapest way that works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.texts import GAPS, IS_NUMBER, Cells

USUAL_GAPS: Final = pa.array(["", "NA", "?"])

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def _as_written(cells: Cells) -> Cells:
    return cells


def _without_usual_gaps(cells: Cells) -> Cells:
    """Cheap, and enough for most tables that have gaps."""
    return pc.if_else(pc.is_in(cells, USUAL_GAPS), None, cells)


def _without_gaps(cells: Cells) -> Cells:
    plain = pc.utf8_trim_whitespace(cells)
    return pc.if_else(pc.is_in(pc.utf8_lower(plain), GAPS), None, plain)


WAYS: Final[tuple[Callable[[Cells], Cells], ...]] = (
    _as_written,
    _without_usual_gaps,
    _without_gaps,
)


class NumberReader:
    """Reads block after block; each begins with the way that the blocks before it needed.

    A cast that fails costs far more than one that works, so the first block, which is small, is
    looked at before it is cast.
    """

    def __init__(self) -> None:
        self.way = 0
        self.is_first = True

    def read(self, cells: Cells, n_rows: int, odd: Mask) -> Floats:
        """Cells as numbers; columns newly found to hold something else are marked in `odd`."""
        if self.is_first:
            self.is_first = False
            _mark(_without_gaps(cells), n_rows, odd)
            cells = _without(cells, n_rows, odd)
            self.way = next(i for i, way in enumerate(WAYS) if _all_numbers(way(cells)))
            return _cast(WAYS[self.way](cells))
        cells = _without(cells, n_rows, odd)
        for way in range(self.way, len(WAYS)):
            try:
                numbers = _cast(WAYS[way](cells))
            except pa.ArrowInvalid:
                continue
            self.way = way
            return numbers
        plain = _without_gaps(cells)
        _mark(plain, n_rows, odd)
        return _cast(_without(plain, n_rows, odd))


def _without(cells: Cells, n_rows: int, odd: Mask) -> Cells:
    return pc.if_else(pa.array(np.tile(odd, n_rows)), None, cells) if odd.any() else cells


def _mark(cells: Cells, n_rows: int, odd: Mask) -> None:
    """Mark the columns in which a cell is no number."""
    is_number = pc.fill_null(pc.match_substring_regex(cells, IS_NUMBER), True)
    other = ~is_number.to_numpy(zero_copy_only=False)
    odd |= other.reshape(n_rows, len(odd)).any(axis=0)


def _all_numbers(cells: Cells) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, IS_NUMBER), min_count=0).as_py())


def _cast(cells: Cells) -> Floats:
    numbers: Floats = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
    return numbers
