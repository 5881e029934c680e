"""A table with tabs between its cells, as scientific formats wrap it: the header is known."""

from __future__ import annotations

from hipad.data.formats.text.cells import table_from_blocks
from hipad.data.formats.text.cutting import blocks_of
from hipad.data.formats.text.dialect import csv_rows
from hipad.data.formats.text.lines import Lines
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError


def read_tabbed(data: bytes, limits: Limits, *, format: str) -> Table:
    """Read rows whose first line that is not blank holds the names of the columns."""
    lines = Lines(data.lstrip(b"\r\n"), limits)
    header = next(csv_rows(lines, "\t"), [])
    if len(header) < 2:
        raise DataError(f"expected columns with tabs between them in {format}, got none")
    lines.check_width(len(header))
    return table_from_blocks(
        header,
        lambda: blocks_of(lines, "\t", len(header), 1),
        most_rows=lines.most_rows,
        format=format,
        limits=limits,
    )


def first_line(data: bytes, start: int = 0) -> tuple[str, int]:
    """A line as text, and where the next one begins."""
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    return data[start:end].decode("utf-8", "replace").rstrip("\r"), end + 1
