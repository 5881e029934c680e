"""Lines of a text table that hold words where its other lines hold numbers.

In tables with one row per gene the classes of the patients often stand in a row of their own, above
the values or below. These lines are read apart, so that they do not spoil columns of numbers.
"""

from __future__ import annotations

import csv
from typing import Final, NamedTuple

from hipad.data.formats.text.dialect import ROW_NAMES, names_are_one_short
from hipad.data.genes.describing import BOTTOM, TOP, LabelRows, label_rows

SEPARATORS: Final = "\t,;|"
LONGEST: Final = 2**20  # bytes of a line that is looked at


class LabelLines(NamedTuple):
    """The text without some lines, and these."""

    rest: bytes
    found: LabelRows


def cut_label_lines(data: bytes) -> LabelLines:
    """Leave out lines at both ends that hold words; nothing where lines are no rows."""
    nothing = LabelLines(data, LabelRows([]))
    header, *spans = _ends(data)
    first = data[slice(*header)].decode("utf-8", "replace")
    separator = max(SEPARATORS, key=first.count)
    rows = [_cells(data[a:b], separator) for a, b in (header, *spans)]
    width = len(rows[0])
    if names_are_one_short(rows[0], [row for row in rows[1:] if row]):
        rows[0] = [ROW_NAMES, *rows[0]]
    elif not any(cell.strip() for row in rows for cell in row[width:]):
        rows = [row[:width] for row in rows]
    if len(rows[0]) < 3 or any(len(row) not in (0, len(rows[0])) for row in rows):
        return nothing
    filled = [i for i, row in enumerate(rows) if row and i]
    chosen = [filled[i] for i in label_rows([rows[i] for i in filled])]
    if not chosen:
        return nothing
    rest, last = [], 0
    for a, b in (spans[i - 1] for i in chosen):
        rest.append(data[last:a])
        last = b
    return LabelLines(b"".join([*rest, data[last:]]), LabelRows(rows[0], [rows[i] for i in chosen]))


def _ends(data: bytes) -> list[tuple[int, int]]:
    """Where the header and some lines at both ends of a text begin and end.

    Blank lines before the header are passed over; a text with a line too long has no such rows.
    """
    spans: list[tuple[int, int]] = []
    at = data.rfind(b"\n", 0, len(data) - len(data.lstrip())) + 1
    while at < len(data) and len(spans) <= TOP:
        end = data.find(b"\n", at, at + LONGEST) + 1 or len(data)
        if end - at > LONGEST:
            return [(0, 0)]
        spans.append((at, end))
        at = end
    last: list[tuple[int, int]] = []
    end = len(data)
    while end > at and len(last) < BOTTOM:
        start = data.rfind(b"\n", max(at, end - LONGEST), end - 1) + 1 or at
        last.append((start, end))
        end = start
    return [*spans, *reversed(last)] or [(0, 0)]


def _cells(line: bytes, separator: str) -> list[str]:
    try:
        found = list(
            csv.reader([line.decode("utf-8", "replace").strip("\r\n")], delimiter=separator)
        )
    except csv.Error:
        return []
    return found[0] if found else []
