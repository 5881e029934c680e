"""One column of written cells: numbers but for a few, or text.

A column that is numeric but for a few odd cells (`<5`, `n.d.`) stays numeric, its odd cells count
as missing, and a remark says so. Work is done on the different texts only, which are often few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.limits import Limits
from hipad.data.table import count, some
from hipad.data.texts import IS_NUMBER, Cells, Text, level_array, spare_signs, tidy_levels

ODD_SHARE: Final = 0.1
COLUMNS_AT_ONCE: Final = 100
CHARACTER_BYTES: Final = np.dtype("U1").itemsize
TEXT_SHARE: Final = 4  # text columns may take this part of the memory that reading may take

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Column:
    """A column: its different texts, which of them are gaps, and which one each row has.

    It is one of numbers if `numbers` is there; `remark` says what it leaves out.
    """

    levels: list[str]
    gaps: Mask
    codes: npt.NDArray[np.int32]
    numbers: npt.NDArray[np.float64] | None = None
    remark: str = ""

    @cached_property
    def longest(self) -> int:
        """Characters of the longest text."""
        return max(map(len, self.levels), default=0)

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
        every, gaps = tidy_levels(pa.concat_arrays([part.dictionary for part in encoded]))
        plain = pc.replace_substring(every, ",", ".") if decimal == "," else every
        is_number = pc.match_substring_regex(plain, IS_NUMBER)
        values = pc.cast(pc.if_else(is_number, plain, None), pa.float64())
        texts, numbers = every.to_pylist(), values.to_numpy(zero_copy_only=False)
        numeric = is_number.to_numpy(zero_copy_only=False)
        end = 0
        for (j, _), part in zip(some_columns, encoded, strict=True):
            here = slice(end, end := end + len(part.dictionary))
            codes = part.indices.to_numpy(zero_copy_only=False)
            yield j, _column(texts[here], gaps[here], codes, numeric[here], numbers[here])


def _column(
    levels: list[str],
    gaps: Mask,
    codes: npt.NDArray[np.int32],
    numeric: Mask,
    numbers: npt.NDArray[np.float64],
) -> Column:
    """Text, or numbers if all but a few cells are, with a remark on the others."""
    spare_signs(levels, gaps)
    odd = ~(numeric | gaps)
    times = np.bincount(codes, minlength=len(levels))
    n_odd = int(times[odd].sum())
    if n_odd > ODD_SHARE * int(times[~gaps].sum()):
        return Column(levels, gaps, codes)
    told = some(levels[at] for at in np.flatnonzero(odd).tolist())
    remark = f"{count(n_odd, 'cell')} not a number ({told}), taken as missing"
    return Column(levels, gaps, codes, numbers[codes], remark)


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
