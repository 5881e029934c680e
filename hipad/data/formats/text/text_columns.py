"""One column of written cells: numbers but for a few, or text.

A column that is numeric but for a few odd cells (`n.d.`) stays numeric, its odd cells count as
missing, and a remark says so. A value beyond what could be measured (`<5`, `>100`) is read as that
limit: it is low or high, and a gap would be filled with a usual value. Work is done on the
different texts only, which are often few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.arrays import BoolArray
from hipad.data.formats.text_room import TextRoom, column_remarks
from hipad.data.limits import Limits
from hipad.data.texts import (
    NUMBER,
    Cells,
    Text,
    are_numbers,
    as_written,
    level_array,
    signs,
    text_gaps,
    tidy_levels,
)
from hipad.data.whole_numbers import IS_WHOLE, KEPT_AS_TEXT, reach_beyond_exact
from hipad.wording import count, some

ODD_SHARE: Final = 0.1
BEYOND_SHARE: Final = 0.5  # more cells such as `<5` than that are classes, not measures
IS_BEYOND: Final = f"^(<|>|<=|>=|≤|≥) *{NUMBER}$"  # in Arrow's own engine
COLUMNS_AT_ONCE: Final = 100
SAMPLE_ROWS: Final = 1_000
DISTINCT_SHARE: Final = 0.9  # of a sample: most cells of the column differ, as IDs do

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class WrittenColumn:
    """A column: its different texts, which of them are gaps, and which one each row has.

    It is one of numbers if `numbers` is there; `remark` says what it leaves out.
    """

    levels: Cells
    gaps: BoolArray
    codes: Codes | None  # None: there is one text per row
    longest: int  # characters of the longest text
    numbers: npt.NDArray[np.float64] | None = None
    remark: str = ""
    is_large: bool = False  # whole numbers that floating point would make the same

    def text(self) -> Text:
        """All rows, each as wide as the longest text."""
        levels = level_array(self.levels, self.gaps)
        return levels if self.codes is None else levels.take(self.codes)

    def written(self) -> Text | None:
        """All rows as they were written, where words were taken as gaps and levels are few."""
        levels = as_written(self.levels, self.gaps, self.longest)
        return levels if levels is None or self.codes is None else levels.take(self.codes)


def read_columns(
    columns: Iterable[tuple[int, Cells]], decimal: str = "."
) -> Iterator[tuple[int, WrittenColumn]]:
    """Read columns in which a cell was found that is no number, many at a time."""
    rest = iter(columns)
    while some_columns := list(islice(rest, COLUMNS_AT_ONCE)):
        encoded = [_encoded(cells) for _, cells in some_columns]
        levels = Levels.of(pa.concat_arrays([texts for texts, _ in encoded]), decimal)
        end = 0
        for (j, _), (texts, codes) in zip(some_columns, encoded, strict=True):
            here = slice(end, end := end + len(texts))
            yield j, _column(levels.part(here), codes)


def _encoded(cells: Cells) -> tuple[Cells, Codes | None]:
    """The different texts and which one each row has; all texts if looking for equals is vain."""
    if len(cells) > SAMPLE_ROWS:
        sample = cells[:SAMPLE_ROWS]
        if len(pc.unique(sample)) > DISTINCT_SHARE * SAMPLE_ROWS:
            return cells, None
    encoded = cells.dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)


class Levels(NamedTuple):
    """Different texts, and what each of them is."""

    texts: Cells
    gaps: BoolArray
    plus: BoolArray
    minus: BoolArray
    numeric: BoolArray
    beyond: BoolArray  # a limit such as `<5`, with that number
    numbers: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int32]

    @classmethod
    def of(cls, written: Cells, decimal: str) -> Levels:
        """Look at texts as they are written."""
        texts, gaps = tidy_levels(written)
        plain = pc.replace_substring(texts, ",", ".") if decimal == "," else texts
        numeric = are_numbers(plain)
        numbers = np.full(len(texts), np.nan)
        if numeric.any():
            written = plain.filter(pa.array(numeric))
            numbers[numeric] = pc.cast(written, pa.float64()).to_numpy(zero_copy_only=False)
        beyond = _beyond(plain, numbers)
        lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False)
        return cls(texts, gaps, *signs(texts), numeric, beyond, numbers, lengths)

    def part(self, here: slice) -> Levels:
        """Some of them."""
        parts: list[Any] = [part[here] for part in self]
        return Levels(*parts)


def _beyond(plain: Cells, numbers: npt.NDArray[np.float64]) -> BoolArray:
    """Which texts are limits such as `<5`; their numbers are written among the others."""
    found = pc.match_substring_regex(plain, "^[<>≤≥]").to_numpy(zero_copy_only=False)
    if not found.any():
        return np.zeros(len(plain), dtype=bool)
    beyond = np.array(pc.match_substring_regex(plain, IS_BEYOND).to_numpy(zero_copy_only=False))
    limits = pc.replace_substring_regex(plain.filter(pa.array(beyond)), "^[<>=≤≥]+ *", "")
    numbers[beyond] = pc.cast(limits, pa.float64()).to_numpy(zero_copy_only=False)
    return beyond


def _column(levels: Levels, codes: Codes | None) -> WrittenColumn:
    """Text, or numbers if all but a few cells are, with a remark on the others."""
    gaps = levels.gaps & ~levels.minus if levels.plus.any() else levels.gaps
    text = WrittenColumn(levels.texts, gaps, codes, int(levels.lengths.max(initial=0)))
    odd = ~(levels.numeric | levels.beyond | gaps)
    times = np.ones(len(gaps)) if codes is None else np.bincount(codes, minlength=len(gaps))
    times = times.astype(np.int64)
    n_odd, n_beyond = int(times[odd].sum()), int(times[levels.beyond].sum())
    filled = int(times[~gaps].sum())
    if n_odd > ODD_SHARE * filled or n_beyond > BEYOND_SHARE * filled:
        gaps, remark = text_gaps(levels.texts, levels.gaps, times)
        return replace(text, gaps=gaps, remark=remark)
    if _is_large(levels):
        return replace(text, is_large=True)
    remark = _remark(levels, odd, n_odd, n_beyond)
    numbers = levels.numbers if codes is None else levels.numbers[codes]
    return replace(text, numbers=numbers, remark=remark)


def _remark(levels: Levels, odd: BoolArray, n_odd: int, n_beyond: int) -> str:
    """What became of cells that are no plain numbers."""

    def told(which: BoolArray) -> str:
        return some(pc.unique(levels.texts.filter(pa.array(which))).to_pylist())

    parts = []
    if n_beyond:
        parts.append(
            f"{count(n_beyond, 'cell')} beyond the limit of detection ({told(levels.beyond)}), "
            "read as the limit itself"
        )
    if n_odd:
        parts.append(f"{count(n_odd, 'cell')} not a number ({told(odd)}), taken as missing")
    return "; ".join(parts)


def _is_large(levels: Levels) -> bool:
    """Whether all numbers are written as whole ones, some of them too large for floating point."""
    if not reach_beyond_exact(levels.numbers):
        return False
    written = levels.texts.filter(pa.array(levels.numeric & ~levels.gaps))
    return bool(pc.all(pc.match_substring_regex(written, IS_WHOLE)).as_py())


def fixed_width(
    columns: dict[str, WrittenColumn], n_rows: int, limits: Limits
) -> tuple[dict[str, Text], list[str]]:
    """Text columns for a table, and remarks on what became of some of them.

    Narrow columns come first, so that a wide one takes no room that many others could use.
    """
    room = TextRoom(n_rows, limits)
    kept = {
        name: columns[name].text()
        for name in sorted(columns, key=lambda name: columns[name].longest)
        if room.takes(name, columns[name].longest)
    }
    large = [name for name in columns if columns[name].is_large and name in kept]
    remarks = column_remarks({KEPT_AS_TEXT: large}) + room.remarks()
    return {name: kept[name] for name in columns if name in kept}, remarks
