"""Written cells as numbers, by the cheapest way that works."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hipad.arrays import BoolArray, FloatArray
from hipad.data.texts import IS_NUMBER, USUAL_GAPS, Cells, GapWords
from hipad.data.whole_numbers import large_wholes, reach_beyond_exact

QUICK_GAPS: Final = ("", "NA", "?")  # cheap to find, and enough for most tables that have gaps


class NumberReader:
    """Reads block after block; each begins with the way that the blocks before it needed.

    A cast that fails costs far more than one that works, so the first block, which is small, is
    looked at before it is cast. `gaps` counts the words that were taken as gaps.
    """

    def __init__(self, words: GapWords = USUAL_GAPS) -> None:
        self.words = words
        self.quick = pa.array([word for word in QUICK_GAPS if word.lower() in words.words])
        self.ways = (_as_written, self._without_quick_gaps, self._without_gaps)
        self.way = 0
        self.is_first = True
        self.gaps: Counter[str] = Counter()

    def _without_quick_gaps(self, cells: Cells) -> Cells:
        return pc.if_else(pc.is_in(cells, self.quick), None, cells)

    def _without_gaps(self, cells: Cells) -> Cells:
        plain = pc.utf8_trim_whitespace(cells)
        return pc.if_else(self.words.are_gaps(plain), None, plain)

    def _cast(self, way: int, cells: Cells, odd: BoolArray) -> FloatArray:
        """Numbers of cells that a way leaves as such; the words it took as gaps are counted."""
        left = self.ways[way](cells)
        numbers = _cast(left, odd)
        if way and left.null_count:
            found = pc.value_counts(pc.utf8_trim_whitespace(cells.filter(left.is_null())))
            for pair in found.to_pylist():
                self.gaps[pair["values"]] += pair["counts"]
        return numbers

    def read(self, cells: Cells, odd: BoolArray) -> FloatArray:
        """Rows of numbers in the columns that are not `odd`.

        Columns newly found to hold something else are marked there, and left out.
        """
        if self.is_first:
            self.is_first = False
            _mark(self._without_gaps(cells), odd)
            cells = _even(cells, odd)
            self.way = next(i for i, way in enumerate(self.ways) if _all_numbers(way(cells)))
            return self._cast(self.way, cells, odd)
        kept = _even(cells, odd)
        for way in range(self.way, len(self.ways)):
            try:
                numbers = self._cast(way, kept, odd)
            except pa.ArrowInvalid:
                continue
            self.way = way
            return numbers
        _mark(self._without_gaps(cells), odd)
        return self._cast(len(self.ways) - 1, _even(cells, odd), odd)


def _as_written(cells: Cells) -> Cells:
    return cells


def _even(cells: Cells, odd: BoolArray) -> Cells:
    """The cells of columns that are not odd."""
    if not odd.any():
        return cells
    rows = np.arange(0, len(cells), len(odd), dtype=np.int32)
    places = np.add.outer(rows, np.flatnonzero(~odd).astype(np.int32)).ravel()
    return pc.take(cells, pa.array(places), boundscheck=False)


def _mark(cells: Cells, odd: BoolArray) -> None:
    """Mark the columns in which a cell is no number."""
    is_number = pc.fill_null(pc.match_substring_regex(cells, IS_NUMBER), True)
    other = ~is_number.to_numpy(zero_copy_only=False)
    odd |= other.reshape(-1, len(odd)).any(axis=0)


def _all_numbers(cells: Cells) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, IS_NUMBER), min_count=0).as_py())


def _cast(cells: Cells, odd: BoolArray) -> FloatArray:
    """Rows of numbers; columns of whole numbers too large for floating point are marked as odd."""
    numbers: FloatArray = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
    n_columns = len(odd) - int(np.count_nonzero(odd))
    if not n_columns:
        return np.empty((0, 0))
    large = large_wholes(cells, numbers) if reach_beyond_exact(numbers) else None
    numbers = numbers.reshape(-1, n_columns)
    if large is None or not large.any():
        return numbers
    marked = large.reshape(-1, n_columns).any(axis=0)
    odd[np.flatnonzero(~odd)[marked]] = True
    return numbers[:, ~marked]
