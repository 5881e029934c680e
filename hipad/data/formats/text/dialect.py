"""How a text table is written: its separator, its decimal sign, and whether it has a header.

All of it is found from the first rows.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from hipad.data.limits import Limits
from hipad.data.texts import to_number
from hipad.errors import DataError
from hipad.wording import count

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
SAMPLE_ROWS: Final = 20
SAMPLE_CHARACTERS: Final = 1_000_000
SAMPLE_CELLS: Final = 5_000
FIELD_CHARACTERS: Final = 10_000_000
ROW_NAMES: Final = "row"

# The csv module's own limit is lower; beyond this one, a quote was never closed.
csv.field_size_limit(FIELD_CHARACTERS)


class Dialect(NamedTuple):
    """How a text table is written."""

    separator: str
    decimal: str
    has_header: bool

    def __str__(self) -> str:
        decimal = ", decimal commas" if self.decimal == "," else ""
        return f"text, separated by {SEPARATORS[self.separator]}{decimal}"


def first_lines(lines: Iterable[str], limits: Limits) -> list[str]:
    """The first of some lines: three of them, or more if they are short."""
    sample: list[str] = []
    size = 0
    for line in lines:
        if len(sample) > SAMPLE_ROWS or (len(sample) >= 3 and size > SAMPLE_CHARACTERS):
            break
        limits.check_shape(1, 1 + max(line.count(separator) for separator in SEPARATORS))
        sample.append(line)
        size += len(line)
    return sample


def find_dialect(lines: list[str]) -> tuple[Dialect, list[list[str]]]:
    """The dialect, and the first rows read with it."""
    separator = max(SEPARATORS, key=lambda s: _agreement(lines, s))
    rows = list(csv_rows(lines, separator))
    if len(rows[0]) == 1:
        raise DataError(
            "expected columns separated by commas, semicolons, tabs or bars, got one column only: "
            f"the first line is {lines[0][:60]!r}"
        )
    decimal = _decimal(rows[1:]) if separator != "," else "."
    return Dialect(separator, decimal, _has_header(rows, decimal)), rows


def find_header(sample: list[list[str]], dialect: Dialect) -> tuple[list[str], tuple[str, ...]]:
    """The names of the columns, and a remark if the file does not tell them."""
    first, *body = sample
    if not dialect.has_header:
        remark = "no header row: the columns are called x0, x1, ..."
        return [f"x{j}" for j in range(len(first))], (remark,)
    if names_are_one_short(first, body):
        names = [row[0].strip() for row in body]
        check_row_names(names, first)
        return [ROW_NAMES, *first], ()
    widest = max((len(row) for row in body), default=len(first))
    named = max((j for j, name in enumerate(first, 1) if name.strip()), default=0)
    if max(widest, named) < len(first):
        surplus = count(len(first) - max(widest, named), "empty cell")
        return first[: max(widest, named)], (f"{surplus} at the end of the header dropped",)
    return first, ()


def names_are_one_short(first: list[str], body: list[list[str]]) -> bool:
    """Whether the header lacks one name: R leaves out that of the column with the rows' names.

    Where the last cell of every row is empty, a separator ends the rows and no name is lacking.
    """
    one_more = {len(row) for row in body} == {len(first) + 1}
    return one_more and any(row[-1].strip() for row in body)


def check_row_names(names: list[str], header: list[str]) -> None:
    """Refuse rows that are one longer than the header where their first cells come again."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"expected {count(len(header), 'cell')} in every row, as in the header, got one more, "
            f"and the first cells are no names of rows, for {repeated[0][:60]!r} comes again: "
            "write the name that the header lacks, or take the additional cells out"
        )


def csv_rows(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Rows of cells as Python's csv module reads them; blanks before a cell do not count."""
    if separator == " ":
        lines = (line.strip() for line in lines)
    try:
        yield from csv.reader(lines, delimiter=separator, skipinitialspace=True)
    except csv.Error as error:
        raise DataError(
            f"expected cells of at most {FIELD_CHARACTERS:,} characters, got more: look for a "
            "quote that is never closed"
        ) from error


def _decimal(rows: list[list[str]]) -> str:
    """The sign between digits that most of some cells have."""
    cells = list(islice(chain.from_iterable(rows), SAMPLE_CELLS))
    commas = sum(bool(re.fullmatch(r"\s*[-+]?\d*,\d+\s*", cell)) for cell in cells)
    points = sum(bool(re.fullmatch(r"\s*[-+]?\d*\.\d+\s*", cell)) for cell in cells)
    return "," if commas > points else "."


def _agreement(lines: list[str], separator: str) -> tuple[bool, float, float, int]:
    """How well a separator explains the lines: most agree on its columns, and most are numbers.

    The numbers tell semicolons from decimal commas, which would give more columns. Blanks come
    last: they separate the words of a text too.
    """
    widths: list[int] = []
    cells: list[str] = []
    for row in csv_rows(lines, separator):
        widths.append(len(row))
        cells += row[: 1 + SAMPLE_CELLS // len(lines)]
    if widths[0] <= 1:
        return False, 0.0, 0.0, 1
    agree = sum(width == widths[0] for width in widths) / len(widths)
    return separator != " ", agree, _share_of_numbers(cells, separator), widths[0]


def _share_of_numbers(cells: list[str], separator: str) -> float:
    """How many of some cells are numbers, with decimal commas where these do not separate."""
    plain = cells if separator == "," else (cell.replace(",", ".") for cell in cells)
    return sum(to_number(cell) is not None for cell in plain) / len(cells)


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """A header holds a text that no other row has in the same column."""
    first, *body = rows
    return any(
        to_number(cell.replace(decimal, ".")) is None
        and not any(j < len(row) and row[j] == cell for row in body)
        for j, cell in enumerate(first)
    )
