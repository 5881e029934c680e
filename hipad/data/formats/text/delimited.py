"""Text tables: separated in any usual way, with decimal points or commas, gaps and quotes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hipad.data.formats.text.cells import Block, table_from_blocks
from hipad.data.formats.text.cutting import blocks_of
from hipad.data.formats.text.dialect import find_dialect, find_header, first_lines
from hipad.data.formats.text.lines import Lines
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError

NOTHING: Final = ' \t\r\f\v,;|"'  # a line of these only is no row


def read_delimited(data: bytes, limits: Limits) -> Table:
    """Read a text table in UTF-8 whose dialect is found from its first rows."""
    lines = Lines(data, limits)
    before, sample = _sample(lines, limits)
    if not sample:
        raise DataError("expected a table, got an empty file")
    dialect, rows = find_dialect(sample)
    header, remarks = find_header(rows, dialect)
    lines.check_width(len(header))
    skip = before + 1 if dialect.has_header else 0

    def body() -> Iterator[Block]:
        return blocks_of(lines, dialect.separator, len(header), skip)

    table = table_from_blocks(
        header,
        body,
        most_rows=lines.most_rows,
        format=str(dialect),
        limits=limits,
        decimal=dialect.decimal,
    )
    return replace(table, remarks=remarks + table.remarks)


def _sample(lines: Lines, limits: Limits) -> tuple[int, list[str]]:
    """How many lines without a cell come first, and some lines with cells after them."""
    before = 0
    for line in lines:
        if line.strip(NOTHING):
            break
        before += 1
    return before, first_lines((line for line in lines if line.strip(NOTHING)), limits)
