"""Text tables: commas, semicolons, tabs, bars or blanks; decimal points or commas; gaps and quotes.

Lines without separators inside quotes are split by Arrow, the others by Python's csv module, which
is slower and right in every case.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.formats.cells import Row, table_from_cells, to_number
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
SAMPLE_ROWS: Final = 20
SAMPLE_CHARACTERS: Final = 1_000_000
SAMPLE_CELLS: Final = 5_000

# A field may be as long as the file; the csv module's own limit would reject it without a reason.
csv.field_size_limit(2**31 - 1)


class Dialect(NamedTuple):
    """How a text table is written."""

    separator: str
    decimal: str
    has_header: bool

    def __str__(self) -> str:
        decimal = ", decimal commas" if self.decimal == "," else ""
        return f"text, separated by {SEPARATORS[self.separator]}{decimal}"


def read_delimited(text: str, limits: Limits) -> Table:
    """Read a text table whose dialect is found from its first rows."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    sample = _first_lines(lines)
    if not sample:
        raise DataError("expected a table, got an empty file")
    dialect, rows = _find_dialect(sample)
    header, remarks = _header(rows, dialect)
    split = _split_lines if _is_simple(lines, dialect.separator) else _split_records

    def body() -> Iterator[Row]:
        records = split(lines, dialect.separator)
        if dialect.has_header:
            next(records)
        return records

    table = table_from_cells(
        header,
        body,
        most_rows=sum(map(bool, lines)) - dialect.has_header,
        format=str(dialect),
        limits=limits,
        decimal=dialect.decimal,
    )
    return replace(table, remarks=remarks + table.remarks)


def _first_lines(lines: list[str]) -> list[str]:
    """The first lines that are not empty: three of them, or more if they are short."""
    sample: list[str] = []
    size = 0
    for line in filter(str.strip, lines):
        if len(sample) > SAMPLE_ROWS or (len(sample) >= 3 and size > SAMPLE_CHARACTERS):
            break
        sample.append(line)
        size += len(line)
    return sample


def _find_dialect(lines: list[str]) -> tuple[Dialect, list[list[str]]]:
    """The dialect, and the first rows read with it."""
    separator = max(SEPARATORS, key=lambda s: _agreement(lines, s))
    rows = list(_csv_rows(lines, separator))
    if len(rows[0]) == 1:
        raise DataError(
            "expected columns separated by commas, semicolons, tabs or bars, got one column only: "
            f"the first line is {lines[0][:60]!r}"
        )
    decimal = _decimal(rows[1:]) if separator != "," else "."
    return Dialect(separator, decimal, _has_header(rows, decimal)), rows


def _decimal(rows: list[list[str]]) -> str:
    """The sign between digits that most of some cells have."""
    cells = list(islice(chain.from_iterable(rows), SAMPLE_CELLS))
    commas = sum(bool(re.fullmatch(r"\s*[-+]?\d*,\d+\s*", cell)) for cell in cells)
    points = sum(bool(re.fullmatch(r"\s*[-+]?\d*\.\d+\s*", cell)) for cell in cells)
    return "," if commas > points else "."


def _agreement(lines: list[str], separator: str) -> tuple[bool, float, int]:
    """How well a separator explains the lines: most columns, on which most lines agree.

    Blanks come last: they separate the words of a text too.
    """
    widths = [len(row) for row in _csv_rows(lines, separator)]
    agree = sum(width == widths[0] for width in widths) / len(widths)
    return widths[0] > 1 and separator != " ", agree if widths[0] > 1 else 0.0, widths[0]


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """A header holds a text that no other row has in the same column."""
    first, *body = rows
    return any(
        to_number(cell.replace(decimal, ".")) is None
        and not any(j < len(row) and row[j] == cell for row in body)
        for j, cell in enumerate(first)
    )


def _header(sample: list[list[str]], dialect: Dialect) -> tuple[list[str], tuple[str, ...]]:
    first, *body = sample
    if not dialect.has_header:
        remark = "no header row: the columns are called x0, x1, ..."
        return [f"x{j}" for j in range(len(first))], (remark,)
    if {len(row) for row in body} == {len(first) + 1}:
        # R leaves out the name of the first column when it holds the names of the rows.
        return ["row", *first], ()
    return first, ()


def _is_simple(lines: list[str], separator: str) -> bool:
    """Whether a line is a row and every separator in it separates, quotes or not."""
    tricky = any('"' in line and _is_tricky(line, separator) for line in lines)
    return separator != " " and not tricky


def _is_tricky(line: str, separator: str) -> bool:
    parts = line.split('"')
    return len(parts) % 2 == 0 or '""' in line or any(separator in part for part in parts[1::2])


def _split_lines(lines: list[str], separator: str) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        if line.strip(f'{separator} "'):
            plain = line.replace('"', "") if '"' in line else line
            yield number, pc.split_pattern(pa.array([plain]), separator).values


def _split_records(lines: list[str], separator: str) -> Iterator[Row]:
    text = (f"{line}\n" for line in lines)
    for number, cells in enumerate(_csv_rows(text, separator), start=1):
        if any(cells):
            yield number, pa.array(cells)


def _csv_rows(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    if separator == " ":
        lines = (line.strip() for line in lines)
    return csv.reader(lines, delimiter=separator, skipinitialspace=separator == " ")
