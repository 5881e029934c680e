"""One column of written cells: numbers but for a few, or text.

A column that is numeric but for a few odd cells (`<5`, `n.d.`) stays numeric, its odd cells count
as missing, and a remark says so. Work is done on the different texts only, which are often few.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.limits import Limits
from hipad.data.table import count, some
from hipad.data.texts import IS_NUMBER, Cells, Text, level_array, tidy_levels

ODD_SHARE: Final = 0.1
CHARACTER_BYTES: Final = np.dtype("U1").itemsize
TEXT_SHARE: Final = 4  # text columns may take this part of the memory that reading may take

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Column:
    """A column: its different texts, which of them are gaps, and which one each row has.

    It is one of numbers if `numbers` is there; `remark` says what it leaves out.
    """

    levels: Cells
    gaps: Mask
    codes: npt.NDArray[np.int32]
    numbers: npt.NDArray[np.float64] | None = None
    remark: str = ""

    @cached_property
    def longest(self) -> int:
        """Characters of the longest text."""
        return int(pc.max(pc.utf8_length(self.levels)).as_py())

    def text(self) -> Text:
        """All rows, each as wide as the longest text."""
        return level_array(self.levels, self.gaps)[self.codes]


def column_from_cells(cells: Cells, decimal: str = ".") -> Column:
    """Read a column in which a cell was found that is no number."""
    encoded = cells.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    levels, gaps = tidy_levels(encoded.dictionary)
    plain = pc.replace_substring(levels, ",", ".") if decimal == "," else levels
    is_number = pc.match_substring_regex(plain, IS_NUMBER)
    odd = ~(is_number.to_numpy(zero_copy_only=False) | gaps)
    times = np.bincount(codes, minlength=len(levels))
    n_odd = int(times[odd].sum())
    if n_odd > ODD_SHARE * int(times[~gaps].sum()):
        return Column(levels, gaps, codes)
    values = pc.cast(pc.if_else(is_number, plain, None), pa.float64())
    told = some(levels.filter(pa.array(odd)).to_pylist())
    remark = f"{count(n_odd, 'cell')} not a number ({told}), taken as missing"
    numbers = values.to_numpy(zero_copy_only=False)[codes]
    return Column(levels, gaps, codes, numbers, remark)


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
