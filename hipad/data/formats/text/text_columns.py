"""One column of written cells: numbers but for a few, or text.

A column that is numeric but for a few odd cells (`<5`, `n.d.`) stays numeric, its odd cells count
as missing, and a remark says so. Work is done on the different texts only, which are often few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.arrays import BoolArray
from hipad.data.limits import Limits
from hipad.data.texts import IS_NUMBER, Cells, Text, level_array, signs, tidy_levels
from hipad.wording import count, some

ODD_SHARE: Final = 0.1
COLUMNS_AT_ONCE: Final = 100
CHARACTER_BYTES: Final = np.dtype("U1").itemsize
TEXT_SHARE: Final = 4  # text columns may take this part of the memory that reading may take


@dataclass(frozen=True)
class Column:
    """A column: its different texts, which of them are gaps, and which one each row has.

    It is one of numbers if `numbers` is there; `remark` says what it leaves out.
    """

    levels: Cells
    gaps: BoolArray
    codes: npt.NDArray[np.int32]
    longest: int  # characters of the longest text
    numbers: npt.NDArray[np.float64] | None = None
    remark: str = ""

    def text(self) -> Text:
        """All rows, each as wide as the longest text."""
        return level_array(self.levels, self.gaps)[self.codes]


def read_columns(
    columns: Iterable[tuple[int, Cells]], decimal: str = "."
) -> Iterator[tuple[int, Column]]:
    """Read columns in which a cell was found that is no number, many at a time."""
    rest = iter(columns)
    while some_columns := list(islice(rest, COLUMNS_AT_ONCE)):
        encoded = [cells.dictionary_encode() for _, cells in some_columns]
        levels = Levels.of(pa.concat_arrays([part.dictionary for part in encoded]), decimal)
        end = 0
        for (j, _), part in zip(some_columns, encoded, strict=True):
            here = slice(end, end := end + len(part.dictionary))
            yield j, _column(levels.part(here), part.indices.to_numpy(zero_copy_only=False))


class Levels(NamedTuple):
    """Different texts, and what each of them is."""

    texts: Cells
    gaps: BoolArray
    plus: BoolArray
    minus: BoolArray
    numeric: BoolArray
    numbers: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int32]

    @classmethod
    def of(cls, written: Cells, decimal: str) -> Levels:
        """Look at texts as they are written."""
        texts, gaps = tidy_levels(written)
        plain = pc.replace_substring(texts, ",", ".") if decimal == "," else texts
        is_number = pc.match_substring_regex(plain, IS_NUMBER)
        numbers = pc.cast(pc.if_else(is_number, plain, None), pa.float64())
        more = (is_number, numbers, pc.utf8_length(texts))
        return cls(
            texts, gaps, *signs(texts), *(part.to_numpy(zero_copy_only=False) for part in more)
        )

    def part(self, here: slice) -> Levels:
        """Some of them."""
        parts: list[Any] = [part[here] for part in self]
        return Levels(*parts)


def _column(levels: Levels, codes: npt.NDArray[np.int32]) -> Column:
    """Text, or numbers if all but a few cells are, with a remark on the others."""
    gaps = levels.gaps & ~levels.minus if levels.plus.any() else levels.gaps
    longest = int(levels.lengths.max(initial=0))
    odd = ~(levels.numeric | gaps)
    times = np.bincount(codes, minlength=len(gaps))
    n_odd = int(times[odd].sum())
    if n_odd > ODD_SHARE * int(times[~gaps].sum()):
        return Column(levels.texts, gaps, codes, longest)
    told = some(levels.texts.filter(pa.array(odd)).to_pylist())
    remark = f"{count(n_odd, 'cell')} not a number ({told}), taken as missing"
    return Column(levels.texts, gaps, codes, longest, levels.numbers[codes], remark)


def fixed_width(
    columns: dict[str, Column], n_rows: int, limits: Limits
) -> tuple[dict[str, Text], list[str]]:
    """Text columns for a table, and remarks on those left out because their texts are too long.

    A column takes as much for every row as for its longest text; wide ones go first.
    """
    left = limits.memory_bytes // TEXT_SHARE
    kept, too_long, too_much = {}, [], []
    for name in sorted(columns, key=lambda name: columns[name].longest):
        longest = columns[name].longest
        size = n_rows * longest * CHARACTER_BYTES
        if longest > limits.text_characters:
            too_long.append(name)
        elif size > left:
            too_much.append(name)
        else:
            kept[name] = columns[name].text()
            left -= size
    remarks = []
    if too_long:
        what = f"with texts of more than {limits.text_characters:,} characters"
        remarks.append(f"{count(len(too_long), 'column')} {what} left out: {some(too_long)}")
    if too_much:
        what = "with texts too long for so many rows"
        remarks.append(f"{count(len(too_much), 'column')} {what} left out: {some(too_much)}")
    return {name: kept[name] for name in columns if name in kept}, remarks
