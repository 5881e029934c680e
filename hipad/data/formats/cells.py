"""Rows of written cells turned into numbers and text, whatever they hold.

Every cell is read as a number; where that fails, the column's texts are collected instead. A column
that is numeric but for a few odd cells (`<5`, `n.d.`) stays numeric, its odd cells count as
missing, and a remark says so. A row is an Arrow array, whose string functions read 500 x 50,000
cells in a few seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.limits import Limits
from hipad.data.table import MISSING, Table, Text, count, some, tidy_names, tidy_text
from hipad.data.telling import tell_rows
from hipad.errors import DataError

ODD_SHARE: Final = 0.1
NUMBER: Final = r"^-?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|(?i:inf(inity)?))$"
GAPS: Final = pa.array(sorted(MISSING))
USUAL_GAPS: Final = pa.array(["", "NA", "?"])

Cells: TypeAlias = Any  # an Arrow array of strings (Arrow has no types)
Row: TypeAlias = tuple[int, Cells]  # its number in the file, and its cells
Floats = npt.NDArray[np.float64]


def to_number(cell: str) -> float | None:
    """The cell as a number, NaN where it is a gap, None where it is something else."""
    if cell.strip().lower() in MISSING:
        return np.nan
    try:
        return float(cell)
    except ValueError:
        return None


def table_from_cells(
    header: Sequence[object],
    rows: Callable[[], Iterable[Row]],
    *,
    most_rows: int,
    format: str,
    limits: Limits,
    decimal: str = ".",
) -> Table:
    """Build a table from rows that can be read twice; each must be as long as the header."""
    names, remarks = tidy_names(header)
    limits.check_shape(most_rows, len(names))
    matrix, texts = _read_numbers(rows(), (most_rows, len(names)), decimal)
    late = max((len(matrix) - len(cells) for cells in texts.values()), default=0)
    early = _read_columns(islice(rows(), late), list(texts))
    text = {}
    for j, cells in texts.items():
        written = np.array(early[j][: len(matrix) - len(cells)] + cells)
        values, told = _mostly_numbers(written, decimal)
        if values is None:
            text[names[j]] = tidy_text(written)
        else:
            matrix[:, j] = values
            remarks.append(f"column {names[j]!r}: {told}")
    kept = [j for j, name in enumerate(names) if name not in text]
    return Table(
        numbers=_select(matrix, kept),
        number_names=tuple(names[j] for j in kept),
        text=text,
        format=format,
        remarks=tuple(remarks),
    )


def _read_numbers(
    rows: Iterable[Row], shape: tuple[int, int], decimal: str
) -> tuple[Floats, dict[int, list[str]]]:
    """All cells as numbers (NaN where there is none), and the columns that hold something else.

    Of such a column come the texts from the row on in which it was found out.
    """
    matrix, n_rows = np.empty(shape), 0
    odd = np.zeros(shape[1], dtype=bool)
    texts: dict[int, list[str]] = {}
    for number, cells in rows:
        if len(cells) != shape[1]:
            raise DataError(
                f"expected {count(shape[1], 'cell')} in every row, as in the header, got "
                f"{len(cells):,} in row {number:,}: look there for a separator or quote too many "
                "or too few"
            )
        plain = pc.replace_substring(cells, ",", ".") if decimal == "," else cells
        matrix[n_rows] = _read_row(plain, odd)
        n_rows += 1
        tell_rows(n_rows, shape[0])
        columns = np.flatnonzero(odd)
        for j, cell in zip(columns.tolist(), cells.take(columns).to_pylist(), strict=True):
            texts.setdefault(j, []).append(cell)
    return matrix[:n_rows], texts


def _read_row(cells: Cells, odd: npt.NDArray[np.bool_]) -> Floats:
    """One row as numbers; columns newly found to hold something else are marked in `odd`."""
    if odd.any():
        cells = pc.if_else(pa.array(odd), None, cells)
    for tidy in (_as_written, _without_usual_gaps, _without_gaps):
        cells = tidy(cells)
        try:
            return _cast(cells)
        except pa.ArrowInvalid:
            continue
    is_number = pc.match_substring_regex(cells, NUMBER)
    odd |= ~pc.fill_null(is_number, True).to_numpy(zero_copy_only=False)
    return _cast(pc.if_else(is_number, cells, None))


def _as_written(cells: Cells) -> Cells:
    return cells


def _without_usual_gaps(cells: Cells) -> Cells:
    """Cheap, and enough for most rows that have gaps."""
    return pc.if_else(pc.is_in(cells, USUAL_GAPS), None, cells)


def _without_gaps(cells: Cells) -> Cells:
    plain = pc.replace_substring_regex(pc.utf8_trim_whitespace(cells), r"^\+", "")
    return pc.if_else(pc.is_in(pc.utf8_lower(plain), GAPS), None, plain)


def _cast(cells: Cells) -> Floats:
    numbers: Floats = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def _read_columns(rows: Iterable[Row], columns: list[int]) -> dict[int, list[str]]:
    """The texts of a few columns."""
    places = np.array(columns, dtype=np.int64)
    written = [cells.take(places).to_pylist() for _, cells in rows]
    return {j: [cells[i] for cells in written] for i, j in enumerate(columns)}


def _select(matrix: Floats, columns: list[int]) -> Floats:
    """Some columns, without a copy when they are neighbours."""
    if columns and columns[-1] - columns[0] == len(columns) - 1:
        return matrix[:, columns[0] : columns[-1] + 1]
    return matrix[:, columns]


def _mostly_numbers(cells: Text, decimal: str) -> tuple[Floats | None, str]:
    """The column as numbers if all but a few cells are, and a remark on the others."""
    written = cells.tolist()
    numbers = [to_number(cell.replace(decimal, ".")) for cell in written]
    odd = [cell for cell, number in zip(written, numbers, strict=True) if number is None]
    filled = sum(number is None or number == number for number in numbers)
    if len(odd) > ODD_SHARE * filled:
        return None, ""
    values = np.array([np.nan if number is None else number for number in numbers])
    return values, f"{count(len(odd), 'cell')} not a number ({some(odd)}), taken as missing"
