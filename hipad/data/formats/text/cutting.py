"""Lines cut into cells, in blocks of rows.

Where quotes stand only around whole cells that hold no separator, Arrow cuts the lines; elsewhere
Python's csv module does, which is slower and right in every case. Both give the same cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.formats.text.cells import BLOCK_CELLS, FIRST_ROWS, Block, check_width
from hipad.data.formats.text.dialect import csv_rows
from hipad.data.formats.text.lines import NEWLINE, Lines
from hipad.errors import DataError

QUOTE: Final = 34
BLANK: Final = " \t"


def blocks_of(lines: Lines, separator: str, width: int, skip: int) -> Iterator[Block]:
    """All rows after some lines to skip, the last of which begins the header."""
    if separator != " " and has_simple_quotes(lines, separator):
        return split_lines(lines, separator, width, skip)
    return split_records(lines, separator, width, skip)


def has_simple_quotes(lines: Lines, separator: str) -> bool:
    """Whether quotes, if any, only stand around whole cells without separator or quote."""
    if QUOTE not in lines.data:
        return True
    return all(_is_simple(chunk, ord(separator)) for chunk in lines.chunks())


def _is_simple(chunk: bytes, separator: int) -> bool:
    """Check whole lines: every pair of quotes is a cell, without an end of a cell in it."""
    if QUOTE not in chunk:
        return True
    letters = np.frombuffer(b"\n" + chunk + b"\n", np.uint8)
    ends = (letters == separator) | (letters == NEWLINE)
    quotes = np.flatnonzero(letters == QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before = np.cumsum(ends, dtype=np.int32)
    around = ends[opening - 1] & ends[closing + 1]
    return bool(around.all() and (before[opening] == before[closing]).all())


def split_lines(lines: Lines, separator: str, width: int, skip: int) -> Iterator[Block]:
    """A line is a row, and every separator in it separates."""
    for number, chunk in _after(lines, skip):
        plain = chunk.replace(b'"', b"") if QUOTE in chunk else chunk
        block = _cut_even(plain, ord(separator), width)
        if block is None:
            block = _cut_lines(plain, separator, width, number)
        if block.n_rows:
            yield block


def _after(lines: Lines, skip: int) -> Iterator[tuple[int, bytes]]:
    """Pieces of the text after some lines, with the number of each one's first line."""
    number = 1
    for chunk in lines.chunks():
        n_lines = chunk.count(b"\n") + (not chunk.endswith(b"\n"))
        left = skip + 1 - number
        if left < n_lines:
            yield max(number, skip + 1), chunk.split(b"\n", left)[left] if left > 0 else chunk
        number += n_lines


def _cut_even(chunk: bytes, separator: int, width: int) -> Block | None:
    """Cells of lines that all have the right number of cells; None if one has not, or is blank."""
    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    letters = np.frombuffer(chunk, np.uint8)
    is_newline = letters == NEWLINE
    ends, line_ends = (
        np.flatnonzero((letters == separator) | is_newline),
        np.flatnonzero(is_newline),
    )
    if not np.array_equal(ends[width - 1 :: width], line_ends) or len(ends) % width:
        return None
    starts = np.concatenate([[0], line_ends[:-1] + 1])
    blanks = np.frombuffer(bytes([separator]) + BLANK.encode(), np.uint8)
    unsure = np.isin(letters[starts], blanks)
    for start, end in zip(starts[unsure].tolist(), line_ends[unsure].tolist(), strict=True):
        if not chunk[start:end].strip(blanks.tobytes()):
            return None
    # A cell ends where the next begins once separators are gone, as Arrow has it.
    offsets = np.zeros(len(ends) + 1, dtype=np.int32)
    offsets[1:] = ends - np.arange(len(ends))
    text = chunk.translate(None, bytes([separator, NEWLINE]))
    buffers = pa.py_buffer(offsets), pa.py_buffer(text)
    return Block(pa.StringArray.from_buffers(len(ends), *buffers), len(starts))


def _cut_lines(chunk: bytes, separator: str, width: int, number: int) -> Block:
    """Cells of lines, of which the first has this number, without blank lines."""
    body = pa.array(chunk.removesuffix(b"\n").split(b"\n"), pa.string())
    is_row = pc.match_substring_regex(body, f"[^{re.escape(separator)}{BLANK}]")
    cells = pc.split_pattern(body.filter(is_row), separator)
    widths = np.diff(cells.offsets.to_numpy())
    if (widths != width).any():
        at = int(np.argmax(widths != width))
        row = np.flatnonzero(is_row.to_numpy(zero_copy_only=False))[at]
        check_width(int(widths[at]), width, number + int(row))
    return Block(cells.values, len(cells))


def split_records(lines: Lines, separator: str, width: int, skip: int) -> Iterator[Block]:
    """A row may be several lines, and a separator in quotes does not separate."""
    n_separators = lines.data.count(separator.encode())
    if separator == " ":
        n_separators -= lines.data.count(b"  ")
    if n_separators > lines.limits.cells:
        raise DataError(
            f"expected at most {lines.limits.cells:,} cells, got {n_separators:,} or more: "
            "leave out rows or columns"
        )
    count = LineCount(islice(lines, max(skip - 1, 0), None), max(skip - 1, 0))
    rows = csv_rows(count, separator)
    if skip:
        next(rows)
    held: list[str] = []
    n_rows, most = 0, FIRST_ROWS
    for cells in rows:
        if not any(cell.strip(BLANK) for cell in cells):
            continue
        check_width(len(cells), width, count.number)
        held += cells
        n_rows += 1
        if n_rows >= most:
            yield Block(pa.array(held, pa.string()), n_rows)
            held, n_rows, most = [], 0, max(1, BLOCK_CELLS // width)
    if held:
        yield Block(pa.array(held, pa.string()), n_rows)


class LineCount:
    """Lines for the csv module, and the number of the last one given."""

    def __init__(self, lines: Iterable[str], before: int) -> None:
        self.lines = lines
        self.number = before

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.number += 1
            yield f"{line}\n"
