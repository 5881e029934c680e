"""Lines cut into cells, in blocks of rows.

NumPy finds where cells end, many rows at once. It can do so as long as every quote opens a cell,
closes one, or is doubled within one. From the first place on where a quote stands otherwise,
Python's csv module takes over, which is slower and right in every case. Both give the same cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hipad.data.formats.text.cells import BLOCK_CELLS, FIRST_ROWS, Block, check_width
from hipad.data.formats.text.dialect import FIELD_CHARACTERS, csv_rows
from hipad.data.formats.text.lines import NEWLINE, Lines, count_letters
from hipad.data.texts import Cells
from hipad.errors import DataError

QUOTE: Final = ord('"')
SPACE: Final = ord(" ")
COMMENT: Final = ord("#")
BLANK: Final = b" \t"

Letters = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]


def blocks_of(lines: Lines, separator: str, width: int, skip: int) -> Iterator[Block]:
    """All rows after some lines to skip."""
    for before, chunk in _pieces(lines, skip):
        cut = None if separator == " " else cut_cells(chunk, ord(separator))
        if cut is None:
            yield from split_records(lines, separator, width, before)
            return
        block = _rows(cut, chunk, width, lines.before + before)
        if block.n_rows:
            yield block


def _pieces(lines: Lines, skip: int) -> Iterator[tuple[int, bytes]]:
    """Pieces of the text that end with a row, and the number of lines before each.

    A row may go on in the next line where a quote is open, so the quotes of a piece are even in
    number. The last piece may have an open quote, and so has one that is too long for a cell.
    """
    before, held, n_lines = 0, b"", 0
    for chunk in lines.chunks():
        new_lines = count_letters(chunk, NEWLINE) + (not chunk.endswith(b"\n"))
        if skip - before >= new_lines and not held:
            before += new_lines
            continue
        if skip > before:
            chunk = chunk.split(b"\n", skip - before)[-1]
            before, new_lines = skip, new_lines - (skip - before)
        held, n_lines = held + chunk, n_lines + new_lines
        if count_letters(held, QUOTE) % 2 == 0 or len(held) > FIELD_CHARACTERS:
            yield before, held
            before, held, n_lines = before + n_lines, b"", 0
    if held:
        yield before, held


class Cut(NamedTuple):
    """Cells one after the other, where each of them ends in the text, and which end a row."""

    cells: Cells
    starts: npt.NDArray[np.int32]  # of each cell in `text`, and the end of the last
    text: Letters  # without separators, ends of lines, and quotes that are no content
    ends: Places  # of each cell, in the text as it was
    row_ends: Places  # the last cell of each row


def cut_cells(chunk: bytes, separator: int) -> Cut | None:
    """The cells of whole rows; None if a quote stands where only the csv module knows its sense."""
    letters = np.frombuffer(chunk if chunk.endswith(b"\n") else chunk + b"\n", np.uint8)
    is_end = (letters == separator) | (letters == NEWLINE)
    if QUOTE not in chunk:
        ends, is_text = np.flatnonzero(is_end), ~is_end
        starts = ends - np.arange(len(ends))
    else:
        marks = np.flatnonzero(is_end | (letters == QUOTE))
        gone = _letters_gone(letters, is_end, marks)
        if gone is None:
            return None
        is_text = np.ones(len(letters), dtype=bool)
        is_text[marks] = gone == 0
        if gone.max() > 1:
            is_text[marks[gone > 1] - 1] = False
        closes = (gone == 1) & (letters[marks] != QUOTE)
        ends = marks.compress(closes)
        starts = ends - np.cumsum(gone, dtype=np.int32).compress(closes) + 1
    text = letters.compress(is_text)
    offsets = np.zeros(len(ends) + 1, dtype=np.int32)
    offsets[1:] = starts
    buffers = pa.py_buffer(offsets), pa.py_buffer(text)
    cells = pa.StringArray.from_buffers(len(ends), *buffers)
    return Cut(cells, offsets, text, ends, np.flatnonzero(letters[ends] == NEWLINE))


def _letters_gone(
    letters: Letters, is_end: npt.NDArray[np.bool_], marks: Places
) -> npt.NDArray[np.int8] | None:
    """How many letters go at each separator, end of a line and quote; None if quotes are irregular.

    A separator in quotes stays, and so does one of two quotes in a row. A blank before the quote
    that opens a cell goes with it. The last letter ends a line, so index -1 is an end, too.
    """
    quotes = np.flatnonzero(letters[marks] == QUOTE)
    if len(quotes) % 2:
        return None
    opening, closing = quotes[::2], quotes[1::2]
    opens, closes = marks[opening], marks[closing]
    doubled = np.zeros(len(opens) + 1, dtype=bool)
    doubled[1:-1] = closes[:-1] + 1 == opens[1:]
    begins = is_end[opens - 1] | doubled[:-1]
    spaced = ~begins & (letters[opens - 1] == SPACE) & is_end[opens - 2]
    if not ((begins | spaced).all() and (is_end[closes + 1] | doubled[1:]).all()):
        return None
    gone = np.ones(len(marks), dtype=np.int8)
    gone[_between(opening, closing)] = 0
    gone[opening] += spaced.view(np.int8) - doubled[:-1].view(np.int8)
    return gone


def _between(first: Places, last: Places) -> Places:
    """All places between each of the first and its last one, without these."""
    sizes = last - first - 1
    before = np.cumsum(sizes) - sizes
    return np.repeat(first + 1 - before, sizes) + np.arange(sizes.sum())


def _rows(cut: Cut, chunk: bytes, width: int, before: int) -> Block:
    """The rows of a piece that are not blank, each of which must have the right number of cells.

    Cells beyond the header that are all empty, as separators at the end of a line leave them, go,
    and so do lines of another length that begin with #.
    """
    first = np.concatenate([[0], cut.row_ends[:-1] + 1])
    last = cut.row_ends
    if not len(last):
        return Block(cut.cells[:0], 0)
    blank = _is_blank(cut, first, last)
    widths = last - first + 1
    longer = (widths > width) & ~blank
    if longer.any():
        longer[longer] = _is_blank(cut, first[longer] + width, last[longer])
    wrong = (widths != width) & ~blank & ~longer
    comments = wrong & _begins(cut, first, COMMENT) if wrong.any() else wrong
    wrong, blank = wrong & ~comments, blank | comments
    if wrong.any():
        at = int(np.argmax(wrong))
        number = before + count_letters(chunk[: cut.ends[last[at]]], NEWLINE) + 1
        check_width(int(widths[at]), width, number)
    cells = cut.cells[int(first[0]) :]
    if longer.any():
        kept = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths) < width
        cells = cells.filter(pa.array(kept & np.repeat(~blank, widths)))
    elif blank.any():
        cells = cells.filter(pa.array(np.repeat(~blank, widths)))
    trimmed, n_comments = np.count_nonzero(longer), np.count_nonzero(comments)
    return Block(cells, int(np.count_nonzero(~blank)), int(trimmed), int(n_comments))


def _begins(cut: Cut, first: Places, letter: int) -> npt.NDArray[np.bool_]:
    """Which rows begin with a letter of one byte."""
    if not len(cut.text):
        return np.zeros(len(first), dtype=bool)
    starts = cut.starts[first]
    begins: npt.NDArray[np.bool_] = cut.text[np.minimum(starts, len(cut.text) - 1)] == letter
    return begins & (starts < len(cut.text))


def _is_blank(cut: Cut, first: Places, last: Places) -> npt.NDArray[np.bool_]:
    """Which rows, from their first to their last cell, hold blanks only."""
    starts, ends = cut.starts[first], cut.starts[last + 1]
    blank = starts == ends
    if not len(cut.text):
        return blank
    begins = cut.text[np.minimum(starts, len(cut.text) - 1)]
    for row in np.flatnonzero(np.isin(begins, list(BLANK)) & ~blank).tolist():
        blank[row] = not cut.text[starts[row] : ends[row]].tobytes().strip(BLANK)
    return blank


def split_records(lines: Lines, separator: str, width: int, before: int) -> Iterator[Block]:
    """All rows after some lines, by Python's csv module."""
    n_separators = lines.data.count(separator.encode())
    if separator == " ":
        n_separators -= lines.data.count(b"  ")
    if n_separators > lines.limits.cells:
        raise DataError(
            f"expected at most {lines.limits.cells:,} cells, got {n_separators:,} or more: "
            "leave out rows or columns"
        )
    count = LineCount(islice(lines, before, None), before)
    rows = csv_rows(count, separator)
    held: list[str] = []
    n_rows, trimmed, comments, most = 0, 0, 0, FIRST_ROWS
    for cells in rows:
        if not any(cell.strip(BLANK.decode()) for cell in cells):
            continue
        if len(cells) > width and not any(cell.strip(BLANK.decode()) for cell in cells[width:]):
            cells = cells[:width]
            trimmed += 1
        if len(cells) != width and cells[0].startswith("#"):
            comments += 1
            continue
        check_width(len(cells), width, lines.before + count.number)
        held += cells
        n_rows += 1
        if n_rows >= most:
            yield Block(pa.array(held, pa.string()), n_rows, trimmed, comments)
            held, n_rows, trimmed, comments = [], 0, 0, 0
            most = max(1, BLOCK_CELLS // width)
    if held:
        yield Block(pa.array(held, pa.string()), n_rows, trimmed, comments)


class LineCount:
    """Lines for the csv module, and the number of the last one given."""

    def __init__(self, lines: Iterable[str], before: int) -> None:
        self.lines = lines
        self.number = before

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.number += 1
            yield f"{line}\n"
