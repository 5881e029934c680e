"""Delimited text: lines cut into cells in blocks of rows, and blocks made into a table."""

from __future__ import annotations

import csv
import io
import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

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
    names_are_one_short,
    sample_evidence,
    sample_rows,
    second_header,
    watched_columns,
)
from hipad.data.file_format import (
    FOUND_OUT,
    MOST_MEMBERS,
    SEPARATORS,
    FileFormat,
    Limits,
    Question,
    unpacked,
)
from hipad.data.matrices import empty_columns_remark, used_columns
from hipad.data.orientation import GenesBySamples, patients_by_genes, symbol_column
from hipad.data.table import Table, tidy_names
from hipad.data.written_numbers import Cells
from hipad.exceptions import DataError
from hipad.utils import count, some

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
    """Yield pieces of the text that end with a row, and the number of lines before each.

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
        self.questions = [*self.frame.questions, *self._longer_rows(sample)]
        self.start = self.frame.header_row or self.frame.body_line + 1
        self.data = self._core(data)

    def _longer_rows(self, sample: list[str]) -> list[Question]:
        """Ask about rows of one cell more than the header, where a decimal comma may be the reason.

        R, which leaves out the name of the column of row names, puts these in quotes.
        """
        frame = self.frame
        body = [row.cells for row in frame.body]
        if self.separator != "," or not frame.header_row or self.stated.separator:
            return []
        if not names_are_one_short(frame.names, body) or any(
            line.lstrip().startswith('"') for line in sample
        ):
            return []
        return [
            Question(
                "longer rows",
                "every row has one cell more than the header, and the first ones were read as "
                "names of rows: if a decimal comma splits numbers, write these with points, or "
                "with semicolons between the cells",
            )
        ]

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
        return self._with_account(table, [*frame.remarks, *remarks], questions)

    def _with_account(self, table: Table, remarks: list[str], questions: list[Question]) -> Table:
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
        account = replace(
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
            reading=account,
        )


class RepeatedHeader:
    """Rows that say the names of the columns again, as files that were put together have them."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.found = 0

    def without(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks without such rows."""
        self.found = 0
        names = [cell.strip() for cell in self.names]
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


# --------------------------------------------------------------------------------------------------
# GCT text, versions 1.2 and 1.3: genes by samples, with what is known of both.
#
# The second line states how many rows and columns there are, in 1.3 also how many columns describe
# genes and how many rows describe samples. What it states must agree with what follows.


VERSIONS: Final = ("#1.2", "#1.3")


class Stated(NamedTuple):
    """What the second line states."""

    rows: int
    columns: int
    about_genes: int  # columns between the name and the values
    about_samples: int  # rows between the header and the values


def looks_like_gct(data: bytes) -> bool:
    """Return whether the first line names a version of GCT."""
    return first_line(data[:100])[0].strip() in VERSIONS


def read_gct(data: bytes, limits: Limits) -> Table:
    """Return one row per sample; the description of a gene, or its symbol column, is its symbol."""
    version, start = first_line(data)
    line, start = first_line(data, start)
    stated = _gct_shape(line, has_more=version.strip() == "#1.3")
    limits.check_shape(stated.columns, stated.rows)
    header, body = first_line(data, start)
    names = next(csv_rows([header], "\t"), [])
    if len(names) != 1 + stated.about_genes + stated.columns:
        raise DataError(
            f"expected {1 + stated.about_genes + stated.columns:,} columns, as the second line of "
            f"the GCT file states, got {len(names):,}"
        )
    about: list[list[str]] = []
    for _ in range(stated.about_samples):
        row, body = first_line(data, body)
        about.append(next(csv_rows([row], "\t"), []))
        if len(about[-1]) != len(names):
            raise DataError(
                f"expected {len(names):,} cells in the row {row[:20]!r} of the GCT file"
            )
    # The header's own line is kept for the reader of the values.
    table = read_tabbed(header.encode() + b"\n" + data[body:], limits, format="GCT")
    return _gct_transposed(table, names, about, stated, limits)


def _gct_shape(line: str, *, has_more: bool) -> Stated:
    words = line.split()
    sound = [word for word in words if word.isascii() and word.isdecimal() and len(word) < 10]
    wanted = 4 if has_more else 2
    if len(sound) != len(words) or len(words) < wanted:
        raise DataError(
            f"expected {wanted} numbers in the second line of the GCT file, got {line[:40]!r}"
        )
    rows, columns, *more = map(int, sound)
    return Stated(rows, columns, *(more[:2] if has_more else (1, 0)))


def _gct_transposed(
    table: Table, header: list[str], about: list[list[str]], stated: Stated, limits: Limits
) -> Table:
    if table.n_rows != stated.rows:
        raise DataError(
            f"expected {stated.rows:,} rows, as the second line of the GCT file states, got "
            f"{table.n_rows:,}: the file is cut, or has rows too many"
        )
    names, _ = tidy_names(header)
    genes, samples = names[1 : 1 + stated.about_genes], names[1 + stated.about_genes :]
    wrong = [name for name in samples if name not in table.number_names]
    if wrong:
        raise DataError(f"expected numbers for every sample, got text for {wrong[0][:40]!r}")
    place = {name: j for j, name in enumerate(table.number_names)}
    columns = [place[name] for name in samples]
    symbol = symbol_column(genes) or ("Description" if "Description" in genes else None)
    whole = len(columns) == len(place)
    given = GenesBySamples(
        names=table.as_text(names[0]).tolist(),
        values=table.numbers if whole else table.numbers[:, columns],
        ids=samples,
        format="GCT",
        symbols=table.text[symbol].tolist() if symbol in table.text else [],
        about={row[0]: row[1 + stated.about_genes :] for row in about},
        remarks=table.remarks,
    )
    return patients_by_genes(given, limits)


# --------------------------------------------------------------------------------------------------
# GEO files: a series matrix, with values and what is known of each sample, and platform tables.
#
# A series matrix has lines that begin with `!Series_` and `!Sample_`, then a table of probes by
# samples between two marks. A characteristic such as `disease: ALL` becomes a column `disease`.
# What is known of a sample is found by its accession, never by its position, where the file tells
# it.


SERIES: Final = "GEO series matrix"
PLATFORM: Final = "GEO platform table"
BEGIN: Final = re.compile(rb"^!series_matrix_table_begin[ \t]*\r?\n", re.MULTILINE | re.IGNORECASE)
END: Final = re.compile(rb"^!series_matrix_table_end", re.MULTILINE | re.IGNORECASE)
PLATFORM_BEGIN: Final = re.compile(rb"^!platform_table_begin[ \t]*\r?\n", re.MULTILINE)
PLATFORM_END: Final = re.compile(rb"^!platform_table_end", re.MULTILINE)
COMMENTED: Final = re.compile(rb"(?:[#!^][^\n]*\n|\s*\n)*")
DESCRIBED: Final = re.compile(rb"^!Sample_[^\n]*", re.MULTILINE)
ACCESSION: Final = "!Sample_geo_accession"
USED: Final = (ACCESSION, "!Sample_title", "!Sample_source_name_ch1", "!Sample_description")
MOST_LINES: Final = 2_000  # that describe samples
LOOKED_AT: Final = 100_000
OTHER_KEY: Final = "characteristics"


def looks_like_series(data: bytes) -> bool:
    """Return whether a text begins as a series matrix does."""
    start = data[:LOOKED_AT].lstrip()
    return start.startswith((b"!Series_", b"!Sample_")) or b"\n!Series_geo_accession" in start


def read_series(data: bytes, limits: Limits) -> Table:
    """Return one row per sample: its values, and as text what is known of it."""
    begin, end = BEGIN.search(data), END.search(data)
    if begin is None or end is None or end.start() < begin.end():
        raise DataError(
            "expected a GEO series matrix with its values between !series_matrix_table_begin and "
            "!series_matrix_table_end, got a part of one: download it again"
        )
    body = data[begin.end() : end.start()]
    if body.strip().count(b"\n") < 1:
        raise DataError(
            "expected values in the GEO series matrix, got none: this series keeps them in its "
            "supplementary files"
        )
    probes = read_tabbed(body, limits, format=SERIES)
    first = body.lstrip(b'\r\n"').split(b"\t", 1)[0].decode("utf-8", "replace").strip(' "')
    if first not in probes.names:
        raise DataError(f"expected ID_REF as the first column of the values, got {first[:40]!r}")
    return _geo_transposed(probes, first, data[: begin.start()], limits)


def _geo_transposed(probes: Table, first: str, above: bytes, limits: Limits) -> Table:
    wrong = [name for name in probes.text if name != first]
    if wrong:
        raise DataError(f"expected numbers for every sample, got text for {wrong[0][:40]!r}")
    names = probes.as_text(first).tolist()
    columns = [j for j, name in enumerate(probes.number_names) if name != first]
    ids = [probes.number_names[j] for j in columns]
    lines = list(_lines(above))
    places, remarks = _places(lines, ids)
    given = GenesBySamples(
        names=names,
        values=probes.numbers
        if len(columns) == len(probes.number_names)
        else probes.numbers[:, columns],
        ids=ids,
        format=SERIES,
        about=_geo_metadata(lines, places),
        remarks=(*probes.remarks, *remarks),
    )
    return patients_by_genes(given, limits)


def _places(lines: list[tuple[str, list[str]]], ids: list[str]) -> tuple[list[int], list[str]]:
    """Return where the lines speak of each sample, or -1: by its accession, and what does not
    match.
    """
    accessions = next((cells for key, cells in lines if key == ACCESSION), None)
    if accessions is None:
        for key, cells in lines:
            if len(cells) != len(ids):
                raise DataError(
                    f"expected {len(ids):,} cells in the line {key[:40]!r}, one per sample, got "
                    f"{len(cells):,}: download the file again"
                )
        remark = f"no line {ACCESSION}: samples are matched with what is known of them by position"
        return list(range(len(ids))), [remark] if lines else []
    names = [cell.strip() for cell in accessions]
    if twice := sorted(name for name, n in Counter(names).items() if n > 1):
        raise DataError(
            f"expected every accession once in {ACCESSION}, got {some(twice)} again: download the "
            "file again"
        )
    place = {name: at for at, name in enumerate(names)}
    lacking = [name for name in ids if name not in place]
    if len(lacking) == len(ids):
        raise DataError(
            f"expected the values' columns to be samples of {ACCESSION} ({some(names[:2])}), got "
            f"{some(ids[:2])}: nothing matches"
        )
    remarks = []
    if lacking:
        remarks.append(f"{count(len(lacking), 'sample')} without a description: {some(lacking)}")
    known = {*ids}
    if others := [name for name in names if name not in known]:
        remarks.append(f"{count(len(others), 'described sample')} without values: {some(others)}")
    if not lacking and [name for name in names if name in known] != ids:
        remarks.append("samples are described in another order than their values, matched by name")
    for key, cells in lines:
        if len(cells) != len(names):
            raise DataError(
                f"expected {len(names):,} cells in the line {key[:40]!r}, one per sample, got "
                f"{len(cells):,}: download the file again"
            )
    return [place.get(name, -1) for name in ids], remarks


def _geo_metadata(lines: list[tuple[str, list[str]]], places: list[int]) -> dict[str, list[str]]:
    """Return what the lines above the values say of each sample."""
    result: dict[str, list[str]] = {}
    for key, every in lines:
        cells = [every[at] if at >= 0 else "" for at in places]
        if key == ACCESSION:
            continue
        if key.startswith("!Sample_characteristics"):
            for i, cell in enumerate(cells):
                name, colon, value = cell.partition(":")
                name = name.strip() if colon else OTHER_KEY
                if cell:
                    place = result.setdefault(name or OTHER_KEY, [""] * len(cells))
                    place[i] = place[i] or (value if colon else cell).strip()
        elif len(set(cells)) > 1:
            result.setdefault(key.removeprefix("!Sample_").removesuffix("_ch1"), cells)
    return result


def _lines(above: bytes) -> Iterator[tuple[str, list[str]]]:
    """Return the lines about samples that are used, characteristics first."""
    found = []
    for number, line in enumerate(DESCRIBED.finditer(above)):
        if number >= MOST_LINES:
            raise DataError(f"expected at most {MOST_LINES:,} lines about samples, got more")
        text = line.group().decode("utf-8", "replace").rstrip("\r")
        if text.startswith(("!Sample_characteristics", *USED)):
            key, *cells = next(csv_rows([text], "\t"))
            found.append((key.strip(), cells))
    return iter(sorted(found, key=lambda pair: not pair[0].startswith("!Sample_char")))


def looks_like_platform(data: bytes) -> bool:
    """Return whether a text begins as a table of a platform's probes does."""
    start = data[:LOOKED_AT]
    return start.startswith((b"^Annotation", b"^PLATFORM", b"^Platform", b"#ID = ", b"#ID\t="))


def read_platform(data: bytes, limits: Limits) -> Table:
    """Return the table of probes in an .annot file or a platform's full table."""
    begin, end = PLATFORM_BEGIN.search(data), PLATFORM_END.search(data)
    if begin is None:
        comments = COMMENTED.match(data)
        start = comments.end() if comments else 0
        return read_tabbed(data[start:], limits, format=PLATFORM)
    return read_tabbed(
        data[begin.end() : end.start() if end else len(data)], limits, format=PLATFORM
    )


# --------------------------------------------------------------------------------------------------
# Matrix Market text (.mtx): the places and values of a matrix that is mostly zero.
#
# The first line says what follows, and its sizes are held against the limits and the length of the
# file before anything is made of it.


MATRIX_ALONE: Final = "Matrix Market"
MARK: Final = "%%matrixmarket"
KINDS: Final = ("coordinate", "array")
FIELDS: Final = ("real", "integer", "double", "pattern", "unsigned-integer")
SYMMETRIES: Final = ("general", "symmetric", "skew-symmetric")
MOST_COMMENTS: Final = 10_000


class Sizes(NamedTuple):
    """What the head of the file states, and where the values begin."""

    rows: int
    columns: int
    stored: int
    start: int


def looks_like_matrix_market(data: bytes) -> bool:
    """Return whether the first words are those of the format."""
    return data[:20].lower().startswith(MARK.encode())


def read_matrix_market(data: bytes, limits: Limits) -> Table:
    """Return a matrix alone: its rows are patients, its columns are called x1, x2, ..."""
    X = market_matrix(data, limits)
    if not X.shape[1]:
        raise DataError("expected columns of numbers, got a matrix without columns")
    n_columns = X.shape[1]
    X, used = used_columns(X)
    columns = np.arange(n_columns) if used is None else used
    names = tuple(f"x{j}" for j in (columns + 1).tolist())
    remark = "a Matrix Market file names neither rows nor columns: give classes in a second file"
    remarks = (remark, *empty_columns_remark(n_columns, used))
    return Table(X, names, {}, MATRIX_ALONE, remarks)


def market_matrix(data: bytes, limits: Limits) -> sp.csr_array:
    """Return the matrix, checked and read."""
    sizes = _sizes(data, limits)
    limits.check_shape(sizes.rows, sizes.columns, cells=sizes.stored)
    limits.check_content(sizes.rows, sizes.stored)
    lines = count_letters(data[sizes.start :], NEWLINE) + 1
    if sizes.stored > lines:
        raise DataError(
            f"expected {sizes.stored:,} values, as the Matrix Market file states, got at most "
            f"{lines:,} lines: the file is cut"
        )
    from scipy.io import mmread  # takes its time to load, and few tables need it

    try:
        X = mmread(io.BytesIO(data), spmatrix=False)
        result = sp.csr_array(X, dtype=np.float64)
    except MemoryError:
        raise
    except Exception as error:  # the parser lets errors of many kinds through
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"the Matrix Market file is damaged ({reason}): save it again") from error
    if result.shape != (sizes.rows, sizes.columns):
        raise DataError("the Matrix Market file is damaged (its sizes differ): save it again")
    result.sum_duplicates()
    return result


def _sizes(data: bytes, limits: Limits) -> Sizes:
    head, start = first_line(data[: 2**16])
    words = head.lower().split()
    if (
        len(words) != 5
        or words[:2] != [MARK, "matrix"]
        or words[2] not in KINDS
        or words[3] not in FIELDS
        or words[4] not in SYMMETRIES
    ):
        raise DataError(
            "expected `%%MatrixMarket matrix coordinate real general` or the like in the first "
            f"line, got {head[:60]!r}"
        )
    for _ in range(MOST_COMMENTS):
        line, start = first_line(data, start)
        if line.strip() and not line.lstrip().startswith("%"):
            break
        if start >= len(data):
            break
    return _market_shape(line, words[2] == "array", start)


def _market_shape(line: str, is_dense: bool, start: int) -> Sizes:
    numbers = line.split()
    wanted = 2 if is_dense else 3
    if len(numbers) != wanted or not all(
        word.isascii() and word.isdecimal() and len(word) < 16 for word in numbers
    ):
        raise DataError(
            f"expected {wanted} whole numbers, the sizes of the matrix, got {line[:40]!r}"
        )
    rows, columns, *rest = map(int, numbers)
    stored = rows * columns if is_dense else rest[0]
    return Sizes(rows, columns, stored, start)


# --------------------------------------------------------------------------------------------------
# A folder of 10x Genomics as one archive: a matrix of counts, its features and its barcodes.
#
# The archive is a .zip, a .tar or a .tar.gz; its members may be packed with gzip each. Only the
# three members are looked at, where they lie in memory: nothing is written to disk, so that no path
# in the archive can lead anywhere.


MATRIX: Final = ("matrix.mtx",)
FEATURES: Final = ("features.tsv", "genes.tsv")
BARCODES: Final = ("barcodes.tsv",)
TAR_MAGIC: Final = b"ustar"
MAGIC_PLACE: Final = 257

Members = Mapping[str, bytes]


def looks_like_tar(data: bytes) -> bool:
    """Return whether the mark of a tar archive stands where it must."""
    return data[MAGIC_PLACE : MAGIC_PLACE + len(TAR_MAGIC)] == TAR_MAGIC


def has_matrix(names: list[str]) -> bool:
    """Return whether an archive with these members may be a folder of 10x."""
    return any(_called(name, MATRIX) for name in names)


def _called(path: str, names: tuple[str, ...]) -> bool:
    """Return whether a member has one of these names, packed or not, perhaps with words
    before it.
    """
    own = path.rsplit("/", 1)[-1].removesuffix(".gz")
    return not own.startswith("._") and own.endswith(names)


def _is_used(path: str) -> bool:
    return _called(path, MATRIX + FEATURES + BARCODES)


def read_zipped_folder(data: bytes, limits: Limits) -> Table:
    """Return from a .zip whose members were looked at before."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist() if _is_used(name)}
    except Exception as error:  # zipfile lets errors of many kinds through
        raise DataError(f"the archive is damaged ({error}): pack it again") from error
    return _read_folder(members, limits)


def read_tar_folder(data: bytes, limits: Limits) -> Table:
    """Return from a .tar, of which plain files are read only."""
    members: dict[str, bytes] = {}
    seen = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                seen += 1
                if seen > MOST_MEMBERS:
                    raise DataError(f"expected at most {MOST_MEMBERS:,} members, got more")
                if not member.isreg() or member.issparse() or not _is_used(member.name):
                    continue
                if member.size > len(data):
                    raise DataError("the archive is damaged (a member is cut): pack it again")
                file = archive.extractfile(member)
                members[member.name] = b"" if file is None else file.read()
    except DataError:
        raise
    except Exception as error:  # tarfile lets errors of many kinds through
        raise DataError(f"the archive is damaged ({error}): pack it again") from error
    if not members:
        raise DataError(
            "expected matrix.mtx, features.tsv and barcodes.tsv in the archive, got none of them: "
            "unpack it and give the file in it"
        )
    return _read_folder(members, limits)


def _read_folder(members: Members, limits: Limits) -> Table:
    counts = market_matrix(_member(members, MATRIX, limits), limits)
    features = _matrix_rows(_member(members, FEATURES, limits), limits)
    barcodes = [row[0] for row in _matrix_rows(_member(members, BARCODES, limits), limits)]
    if counts.shape != (len(features), len(barcodes)):
        raise DataError(
            f"expected a matrix of {len(features):,} features x {len(barcodes):,} barcodes, as the "
            f"files beside it list, got {counts.shape[0]:,} x {counts.shape[1]:,}"
        )
    symbols = [row[1] if len(row) > 1 else "" for row in features]
    names = [row[0] for row in features]
    given = GenesBySamples(
        names, counts, barcodes, "10x folder", [] if symbols == names else symbols
    )
    return patients_by_genes(given, limits)


def _member(members: Members, names: tuple[str, ...], limits: Limits) -> bytes:
    found = [path for path in members if _called(path, names)]
    if len(found) != 1:
        raise DataError(
            f"expected one {' or '.join(names)} in the 10x folder, got "
            f"{some(found) if found else 'none'}: pack the files of one sample"
        )
    return unpacked(members[found[0]], limits)


def _matrix_rows(data: bytes, limits: Limits) -> list[list[str]]:
    limits.check_shape(1, count_letters(data, NEWLINE))
    text = data.decode("utf-8", "replace").replace("\0", " ")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        return [row for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if row]
    except csv.Error as error:
        raise DataError(f"the lists in the 10x folder are damaged ({error})") from error
