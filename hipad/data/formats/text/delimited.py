"""Text tables: separated in any usual way, with decimal points or commas, gaps and quotes.

    table = TextTable(data, limits, stated).read()

The header, titles above it and lines below the last row are found once. Rows of a gene table that
hold classes can be left out of the reading (`without`), to be read apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.file_format import FOUND_OUT, SEPARATORS, FileFormat, Question
from hipad.data.formats.text.cells import Block, CellStyle, WidthError, table_from_blocks
from hipad.data.formats.text.cutting import blocks_of
from hipad.data.formats.text.dialect import (
    LAST_ROWS,
    ROW_NAMES,
    Row,
    check_row_names,
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
from hipad.data.formats.text.label_lines import LabelLines, cut_label_lines
from hipad.data.formats.text.lines import Lines
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError
from hipad.wording import count

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
        """The text from the header to the last row."""
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
        """The table; of a gene table without the lines that hold classes."""
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
        """The table with the account of how it was understood."""
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
        """The blocks without such rows."""
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
