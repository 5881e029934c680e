"""Text tables: separated in any usual way, with decimal points or commas, gaps and quotes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hipad.data.formats.text.cells import WidthError, table_from_blocks
from hipad.data.formats.text.cutting import blocks_of
from hipad.data.formats.text.dialect import (
    ROW_NAMES,
    check_row_names,
    find_dialect,
    find_header,
    first_lines,
)
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
    skip = before + 1 if dialect.has_header else 0

    def read(names: list[str]) -> Table:
        lines.check_width(len(names))
        table = table_from_blocks(
            names,
            lambda: blocks_of(lines, dialect.separator, len(names), skip),
            most_rows=lines.most_rows,
            format=str(dialect),
            limits=limits,
            decimal=dialect.decimal,
        )
        if len(names) > len(rows[0]) and ROW_NAMES in table.names:
            check_row_names(table.as_text(names[0]).tolist(), rows[0])
        return table

    try:
        table = read(header)
    except WidthError as error:
        if {len(row) for row in rows[1:]} != {len(header) + 1} or not dialect.has_header:
            raise
        # The last cells of the first rows are empty, and later ones are not: names of rows?
        try:
            table = read([ROW_NAMES, *header])
        except DataError:
            raise error from None
    return replace(table, remarks=remarks + table.remarks)


def _sample(lines: Lines, limits: Limits) -> tuple[int, list[str]]:
    """How many lines without a cell come first, and some lines with cells after them."""
    before = 0
    for line in lines:
        if line.strip(NOTHING):
            break
        before += 1
    return before, first_lines((line for line in lines if line.strip(NOTHING)), limits)
