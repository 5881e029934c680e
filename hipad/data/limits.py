"""What a file may cost: bytes, rows, columns, cells, memory and time.

Readers keep these bounds while they read, so that a file beyond them ends in a sentence. The
process that a file is read in (`hipad.data.process`) is held to `memory_bytes` and `seconds` by
the operating system as well. Each bound can be set by an environment variable, for example
`HIPAD_LIMIT_MEMORY_BYTES=8e9`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from hipad.errors import DataError

PREFIX: Final = "HIPAD_LIMIT_"
FREE_CELLS: Final = 2_000_000  # that any file may have
CELLS_PER_CONTENT: Final = 1_000  # and more for each value or byte that it holds


@dataclass(frozen=True)
class Limits:
    """What a file may hold and cost at most."""

    file_bytes: int = 500 * 2**20
    unpacked_bytes: int = 2**30
    line_bytes: int = 128 * 2**20  # of a text file
    rows: int = 5_000_000
    columns: int = 2_000_000
    cells: int = 100_000_000
    text_characters: int = 1_000  # of one cell: a longer text is prose, and no category
    memory_bytes: int = 4 * 2**30
    seconds: int = 120

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Limits:
        """The usual limits, or those that environment variables state instead.

        >>> Limits.from_environment({"HIPAD_LIMIT_SECONDS": "30"}).seconds
        30
        """
        usual = asdict(cls())
        stated = {
            name: stated_number(PREFIX + name.upper(), value, environment)
            for name, value in usual.items()
        }
        return cls(**stated)

    def check_shape(self, rows: int, columns: int, *, cells: int | None = None) -> None:
        """Refuse a table that is too large; `cells` counts what is stored of it."""
        if rows > self.rows:
            raise DataError(
                f"expected at most {self.rows:,} rows, got {rows:,}: leave out rows, a model of "
                "this kind learns from far fewer"
            )
        if columns > self.columns:
            raise DataError(
                f"expected at most {self.columns:,} columns, got {columns:,}: "
                "leave out columns that cannot matter"
            )
        cells = rows * columns if cells is None else cells
        if cells > self.cells:
            raise DataError(
                f"expected at most {self.cells:,} cells, got {cells:,} ({rows:,} rows x "
                f"{columns:,} columns): leave out columns, or save mostly empty data as LIBSVM"
            )

    def check_content(self, cells: int, content: int) -> None:
        """Refuse a table of far more cells than its file has content, in values or bytes."""
        if cells > FREE_CELLS + CELLS_PER_CONTENT * content:
            raise DataError(
                f"expected a table that fits its file, got {cells:,} cells of {content:,} values "
                "or bytes: the file is damaged, or made to do harm; save it again"
            )


def stated_number(
    variable: str, usual: int, environment: Mapping[str, str] = os.environ, *, least: int = 1
) -> int:
    """The whole number that an environment variable states, or the usual one where it is not set.

    >>> stated_number("HIPAD_JOBS", 4, {"HIPAD_JOBS": "2e0"}), stated_number("HIPAD_JOBS", 4, {})
    (2, 4)
    """
    if variable not in environment:
        return usual
    text = environment[variable]
    try:
        value = int(float(text))
    except (ValueError, OverflowError):
        value = least - 1
    if value < least:
        above = "above zero" if least == 1 else f"of {least} or more"
        raise DataError(
            f"expected a number {above} in {variable}, got {text!r}: set it, for example, to "
            f"{usual}, or leave it out"
        )
    return value


LIMITS: Final = Limits.from_environment()
