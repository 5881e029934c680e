"""Delimited text: lines cut into cells in blocks of rows, and blocks made into a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.cells import (
    BLOCK_CELLS,
    FIRST_ROWS,
    Block,
    CellStyle,
    WidthError,
    check_width,
    table_from_blocks,
)
from hipad.data.dialect import (
    FIELD_CHARACTERS,
    LAST_ROWS,
    NEWLINE,
    ROW_NAMES,
    LabelLines,
    Lines,
    Row,
    check_row_names,
    count_letters,
    csv_rows,
    cut_label_lines,
    find_footers,
    find_frame,
    find_names,
    find_separator,
    first_lines,
    footers_remark,
    is_index,
    sample_evidence,
    sample_rows,
    second_header,
    watched_columns,
)
from hipad.data.file_format import FOUND_OUT, SEPARATORS, FileFormat, Question
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.data.written_numbers import Cells
from hipad.exceptions import DataError
from hipad.utils import count

# --------------------------------------------------------------------------------------------------
# Lines cut into cells, in blocks of rows.
#
# NumPy finds where cells end, many rows at once. It can do so as long as every quote opens a cell,
# closes one, or is doubled within one. From the first place on where a quote stands otherwise,
# Python's csv module takes over, which is slower and right in every case. Both give the same cells.
#
# Arrow's reader of CSV is no substitute (`python -m benchmarks.csv_reading`). Where every cell is
# kept as text, as decimal commas, "<5", leading zeros and words for gaps ask, it takes from 0.8 to
# 2 times as long as all of the reading here, before it has looked for any of them. It is faster
# only where it finds the types itself, and there "007" and "1.234" lose their meaning; a wide table
# takes it more than three times as long even so.


QUOTE: Final = ord('"')
SPACE: Final = ord(" ")
COMMENT: Final = ord("#")
BLANK: Final = b" \t"

Letters = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]


def blocks_of(lines: Lines, separator: str, width: int, skip: int) -> Iterator[Block]:
    """Yield all rows after some lines to skip."""
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
    """Return the cells of whole rows; None if a quote stands where only the csv module knows its
    sense.
    """
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
    """Return how many letters go at each separator, end of a line and quote; None if quotes are
    irregular.

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
    """Return all places between each of the first and its last one, without these."""
    sizes = last - first - 1
    before = np.cumsum(sizes) - sizes
    return np.repeat(first + 1 - before, sizes) + np.arange(sizes.sum())


def _rows(cut: Cut, chunk: bytes, width: int, before: int) -> Block:
    """Return the rows of a piece that are not blank, each of which must have the right number of
    cells.

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
    """Return which rows begin with a letter of one byte."""
    if not len(cut.text):
        return np.zeros(len(first), dtype=bool)
    starts = cut.starts[first]
    begins: npt.NDArray[np.bool_] = cut.text[np.minimum(starts, len(cut.text) - 1)] == letter
    return begins & (starts < len(cut.text))


def _is_blank(cut: Cut, first: Places, last: Places) -> npt.NDArray[np.bool_]:
    """Return which rows, from their first to their last cell, hold blanks only."""
    starts, ends = cut.starts[first], cut.starts[last + 1]
    blank = starts == ends
    if not len(cut.text):
        return blank
    begins = cut.text[np.minimum(starts, len(cut.text) - 1)]
    for row in np.flatnonzero(np.isin(begins, list(BLANK)) & ~blank).tolist():
        blank[row] = not cut.text[starts[row] : ends[row]].tobytes().strip(BLANK)
    return blank


def split_records(lines: Lines, separator: str, width: int, before: int) -> Iterator[Block]:
    """Yield all rows after some lines, by Python's csv module."""
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


# --------------------------------------------------------------------------------------------------
# Text tables: separated in any usual way, with decimal points or commas, gaps and quotes.
#
#     table = TextTable(data, limits, stated).read()
#
# The header, titles above it and lines below the last row are found once. Rows of a gene table that
# hold classes can be left out of the reading (`without`), to be read apart.


LAST_BYTES: Final = 2**20  # of a file, in which lines that are no rows are looked for


def read_delimited(data: bytes, limits: Limits, stated: FileFormat = FOUND_OUT) -> Table:
    """Read a text table in UTF-8 whose dialect is found from its first rows, or stated."""
    return TextTable(data, limits, stated).read()


class TextTable:
    """A text table: how it is written, and the reading of it."""

    def __init__(self, data: bytes, limits: Limits, stated: FileFormat) -> None:
        self.limits, self.stated = limits, stated
        sample = first_lines(Lines(data, limits), limits)
        if not any(line.strip(' \t\r\f\v,;|"') for line in sample):
            raise DataError("expected a table, got an empty file")
        self.separator, self.why = find_separator(sample, stated)
        rows = sample_rows(sample, self.separator)
        self.frame = find_frame(rows, stated)
        if self.frame.width == 1:
            raise DataError(
                "expected columns separated by commas, semicolons, tabs or bars, got one column "
                f"only: the first line is {sample[0][:60]!r}"
            )
        self.footers: list[Row] = []
        self.questions = list(self.frame.questions)
        self.start = self.frame.header_row or self.frame.body_line + 1
        self.data = self._core(data)

    def _core(self, data: bytes) -> bytes:
        """Return the text from the header to the last row."""
        footers, asked, end = self._last_rows(data)
        self.footers, self.questions = footers, [*self.questions, *asked]
        if self.frame.body and footers:
            gone = {row.line for row in footers}
            self.frame.body = [row for row in self.frame.body if row.line not in gone]
        if self.start == 1 and not footers:
            return data
        if b"\r" in data:
            data = data[:end].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            end = len(data)
        at = 0
        for _ in range(self.start - 1):
            at = data.find(b"\n", at) + 1
        return data[at:end]

    def _last_rows(self, data: bytes) -> tuple[list[Row], list[Question], int]:
        """Lines at the end that are no rows, what is to be asked of them, and where they begin."""
        if self.stated.footer_rows == 0:
            return [], [], len(data)
        tail = data[-LAST_BYTES:]
        spans: list[tuple[int, int]] = []
        end = len(tail)
        while end > 0 and len(spans) < LAST_ROWS + 8:
            begin = max(tail.rfind(b"\n", 0, end - 1), tail.rfind(b"\r", 0, end - 1)) + 1
            if begin == 0 and len(tail) < len(data):
                break  # a line longer than what is looked at
            spans.append((begin, end))
            end = begin
        rows: list[tuple[int, Row]] = []
        n_lines = data.count(b"\n") if len(data) <= LAST_BYTES else 0
        for n, (a, b) in enumerate(reversed(spans)):
            line = tail[a:b].decode("utf-8", "replace").strip("\r\n")
            if line.count('"') % 2:
                rows.clear()
                continue
            cells = next(iter(sample_rows([line], self.separator)), None)
            if cells is not None:
                number = n_lines - len(spans) + n + 1 + (not data.endswith(b"\n"))
                rows.append((len(data) - len(tail) + a, cells._replace(line=number)))
        rows = rows[-LAST_ROWS:]
        if len(data) <= LAST_BYTES:  # rows of the header are no rows at the end
            first = self.frame.body[0].line if self.frame.body else 0
            rows = [(at, row) for at, row in rows if row.line > first] if first else []
        found, asked = find_footers([row for _, row in rows], self.frame, self.stated)
        if not found:
            return [], asked, len(data)
        at = next(at for at, row in rows if row is found[0])
        return found, asked, at

    def label_lines(self) -> LabelLines:
        """Lines at both ends that hold words, as classes of patients in a table of genes do."""
        return cut_label_lines(self.data)

    def read(self, without: LabelLines | None = None) -> Table:
        """Return the table; of a gene table without the lines that hold classes."""
        frame = self.frame
        lines = Lines(self.data if without is None else without.rest, self.limits, self.start - 1)
        skip = frame.body_line - (self.start - 1)
        rows = frame.body
        if frame.second:
            rows = rows[len(frame.second) :]
            if without is None:
                last = frame.second[-1]
                skip = max(skip, last.line + last.n_lines - self.start)
        framed = replace(frame, body=rows)
        header, remarks = find_names(framed)
        names_rows = len(header) > len(frame.names)
        index = 0 if names_rows or is_index(header, rows, frame) else -1
        evidence = sample_evidence(rows)
        style = CellStyle(
            self.stated,
            self.separator,
            evidence,
            tuple(watched_columns(rows, evidence, self.separator)),
            index,
        )

        repeats = RepeatedHeader()

        def read(names: list[str], style: CellStyle) -> Table:
            lines.check_width(len(names))
            repeats.names = names
            table = table_from_blocks(
                names,
                lambda: repeats.without(blocks_of(lines, self.separator, len(names), skip)),
                most_rows=lines.most_rows,
                format=f"text, separated by {SEPARATORS[self.separator]}",
                limits=self.limits,
                style=style,
            )
            if len(names) > len(frame.names) and ROW_NAMES in table.names:
                check_row_names(table.as_text(names[0]).tolist(), frame.names)
            return table

        try:
            table = read(header, style)
        except WidthError as error:
            if {len(row.cells) for row in rows} != {len(header) + 1} or not frame.header_row:
                raise
            # The last cells of the first rows are empty, and later ones are not: names of rows?
            try:
                table = read([ROW_NAMES, *header], replace(style, index=0))
            except DataError:
                raise error from None
        remarks += repeats.remarks()
        questions = self.questions
        if frame.second and without is None:
            questions = [*questions, second_header(frame)]
        return self._told(table, [*frame.remarks, *remarks], questions)

    def _told(self, table: Table, remarks: list[str], questions: list[Question]) -> Table:
        """Return the table with the account of how it was understood."""
        frame, reading = self.frame, table.reading
        remarks = [*remarks, *footers_remark(self.footers)]
        decimal = ", decimal commas" if reading.found.decimal == "," else ""
        found = replace(
            reading.found,
            separator=self.separator,
            header_row=frame.header_row,
            footer_rows=len(self.footers),
        )
        told = replace(
            reading,
            found=found,
            reasons={**reading.reasons, **frame.reasons, "separator": self.why},
            titles=frame.titles,
            units=frame.units,
            footers=tuple(row.shown for row in self.footers),
            questions=(*questions, *reading.questions),
        )
        return replace(
            table,
            format=table.format + decimal,
            remarks=(*remarks, *table.remarks),
            reading=told,
        )


class RepeatedHeader:
    """Rows that say the names of the columns again, as files that were put together have them."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.found = 0

    def without(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks without such rows."""
        self.found = 0
        names = _tidy(self.names)
        for block in blocks:
            width = len(names)
            first = block.cells.take(pa.array(np.arange(0, len(block.cells), width)))
            maybe = pc.equal(first, self.names[0]).to_numpy(zero_copy_only=False)
            gone = [
                row
                for row in np.flatnonzero(maybe).tolist()
                if [c.strip() for c in block.cells[row * width : (row + 1) * width].to_pylist()]
                == names
            ]
            if not gone:
                yield block
                continue
            self.found += len(gone)
            kept = np.ones(block.n_rows, dtype=bool)
            kept[gone] = False
            if kept.any():
                cells = block.cells.filter(pa.array(np.repeat(kept, width)))
                yield block._replace(cells=cells, n_rows=int(kept.sum()))

    def remarks(self) -> list[str]:
        """Say how many such rows were left out."""
        again = f"{count(self.found, 'row')} with the names of the columns again left out"
        return [again] if self.found else []


def _tidy(cells: list[str]) -> list[str]:
    return [cell.strip() for cell in cells]


# --------------------------------------------------------------------------------------------------
# A table with tabs between its cells, as scientific formats wrap it: the header is known.


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
    """Return a line as text, and where the next one begins."""
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    return data[start:end].decode("utf-8", "replace").rstrip("\r"), end + 1
