"""Excel workbooks: the cells of one sheet, read row by row and within limits."""

from __future__ import annotations

import io
import re
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import chain
from typing import Any, Final

import openpyxl
import pyarrow as pa
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

from hipad.data.cells import CellStyle, NumberedRow, table_from_cells
from hipad.data.dialect import (
    LAST_ROWS,
    SAMPLE_ROWS,
    Frame,
    Row,
    find_footers,
    find_frame,
    footers_remark,
    is_index,
    sample_evidence,
    second_header,
    watched_columns,
)
from hipad.data.file_format import FOUND_OUT, Answer, FileFormat, Limits, Question
from hipad.data.orientation import LabelRows, Turn, label_rows, oriented
from hipad.data.table import Table
from hipad.exceptions import DataError
from hipad.utils import count, some

# --------------------------------------------------------------------------------------------------
# The cells of one sheet of a workbook as texts, read row by row and within limits.
#
# A workbook's own numbers of rows are not trusted: a row that is not there costs nothing. Formulas
# that were saved without their values and cells that hold an error are counted by column.


PIECE_BYTES: Final = 2**20
DOCTYPE: Final = b"<!DOCTYPE"
ELEMENT_BYTES: Final = 200  # that an element of XML takes in memory
ENCODING: Final = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([^"']*)""")
SAFE_ENCODINGS: Final = (b"utf-8", b"us-ascii", b"ascii")
LOOKS_LIKE_XML: Final = (b"<", b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe", b"\0<")


def check_xml(data: bytes, limits: Limits) -> None:
    """Refuse XML that declares entities, hides its letters, or is too much for memory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            with archive.open(name) as part:
                start = part.read(PIECE_BYTES)
                is_xml = start.lstrip()[:3].startswith(LOOKS_LIKE_XML)
                if is_xml or name.endswith((".xml", ".rels")):
                    rest = iter(partial(part.read, PIECE_BYTES), b"")
                    _check_part(name, chain([start], rest), limits)


def _check_part(name: str, pieces: Iterable[bytes], limits: Limits) -> None:
    """Look at a part in pieces, each with the end of the last, so that no word is cut in two."""
    elements, last = 0, b""
    for number, piece in enumerate(pieces):
        declared = ENCODING.search(piece[:500]) if number == 0 else None
        hidden = declared is not None and declared.group(1).lower() not in SAFE_ENCODINGS
        joined = last + piece
        if hidden or b"\0" in piece or DOCTYPE in joined:
            raise DataError(f"{name} holds what no workbook needs: save it again")
        elements += piece.count(b"<") - joined.count(b"</")
        last = piece[1 - len(DOCTYPE) :].replace(b"</", b"")
        if elements * ELEMENT_BYTES > limits.memory_bytes:
            raise DataError(f"expected a smaller workbook, got {elements:,} cells: save it as CSV")


class SheetReader(WorkSheetParser):
    """The rows of a sheet that hold something, and what could not be read of them."""

    def __init__(self, *arguments: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*arguments, data_only=True, **options)
        self.limits = limits
        self.without_value: Counter[int] = Counter()  # formulas, by column from one
        self.errors: Counter[int] = Counter()

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row's number and its cells up to the last that is filled."""
        cells, filled, until = 0, 0, time.monotonic() + self.limits.seconds
        for number, row in self.parse():
            written = {cell["column"]: _written(cell["value"]) for cell in row}
            width = max((column for column, text in written.items() if text), default=0)
            cells += width
            filled += len(written)
            self.limits.check_content(cells, filled)
            self.limits.check_shape(number, width, cells=cells)
            if time.monotonic() > until:
                raise DataError(f"reading took more than {self.limits.seconds} s: save it as CSV")
            if width:
                yield number, [written.get(column, "") for column in range(1, width + 1)]

    def parse_cell(self, element: Any) -> dict[str, Any]:
        """Return one cell; an error counts as a gap, and so does a formula without a value."""
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["data_type"] == "e" and cell["value"] is not None:
            self.errors[cell["column"]] += 1
            cell["value"] = None
        elif cell["value"] is None and element.find(FORMULA_TAG) is not None:
            # A formula whose result is an empty text was saved with its value.
            self.without_value[cell["column"]] += element.get("t") != "str"
        return cell

    def remarks(self, names: list[str]) -> list[str]:
        """Return what the user should know of cells that were not read as they look."""
        counted = {
            "formula": (self.without_value, "saved without a value, taken as missing"),
            "cell": (self.errors, "with an error (such as #DIV/0!), taken as missing"),
        }
        found = [
            f"{count(where.total(), noun)} {what}: {_columns(where, names)}"
            for noun, (where, what) in counted.items()
            if where.total()
        ]
        merged = len(self.merged_cells.mergeCell) if self.merged_cells is not None else 0
        if merged:
            found.append(f"{count(merged, 'merged range')}: only the first cell has the value")
        return found


def _columns(where: Counter[int], names: list[str]) -> str:
    shown = [names[j - 1] if j <= len(names) else f"column_{j}" for j in sorted(+where)]
    more = f" and {len(shown) - 5:,} more" if len(shown) > 5 else ""
    return "column " + ", ".join(repr(name[:40]) for name in shown[:5]) + more


def _written(value: object) -> str:
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, date) else str(value)


# --------------------------------------------------------------------------------------------------
# Excel workbooks: one sheet, whose header, titles and sums are found as those of a text are.


SheetRows = list[tuple[int, list[str]]]


def read_workbook(
    data: bytes, limits: Limits, turn: Turn = False, stated: FileFormat = FOUND_OUT
) -> Table:
    """Return a sheet of an Excel workbook, the first unless another is stated."""
    try:
        check_xml(data, limits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they would put cells of the table into logs
            book = openpyxl.load_workbook(
                io.BytesIO(data), read_only=True, data_only=True, keep_links=False
            )
            sheet = _sheet(book, stated)
            reader = _reader(sheet, limits)
            rows = list(reader.rows())
    except DataError:
        raise
    except Exception as error:  # openpyxl lets errors of many kinds through
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"the workbook cannot be read ({reason}): save it as CSV") from error
    if not rows:
        raise DataError(f"expected a table in the first sheet ({sheet.title!r}), found it empty")
    names = tuple(each.title for each in book.worksheets)
    table = _oriented(rows, reader, limits, turn, stated)
    remarks = reader.remarks(_header_names(table, rows))
    questions = table.reading.questions
    if len(names) > 1 and stated.sheet is None:
        remarks.insert(0, f"only the first of {len(names)} sheets was read: {sheet.title!r}")
        others = tuple(Answer(f"sheet {name!r}", {"sheet": name}) for name in names[1:6])
        asked = f"only the first of {len(names)} sheets was read: {sheet.title!r}"
        questions = (Question("sheet", asked, others), *questions)
    reading = replace(
        table.reading,
        found=replace(table.reading.found, sheet=sheet.title),
        sheets=names,
        questions=questions,
    )
    return replace(table, remarks=(*remarks, *table.remarks), reading=reading)


def _sheet(book: Any, stated: FileFormat) -> Any:
    if stated.sheet is None:
        return book.worksheets[0]
    found = next((sheet for sheet in book.worksheets if sheet.title == stated.sheet), None)
    if found is None:
        names = [sheet.title for sheet in book.worksheets]
        raise DataError(f"expected a sheet {stated.sheet!r}, got {some(names)}: name one of these")
    return found


def _header_names(table: Table, rows: SheetRows) -> list[str]:
    line = table.reading.found.header_row
    return next((list(cells) for number, cells in rows if number == line), [])


def _reader(sheet: Any, limits: Limits) -> SheetReader:
    book = sheet.parent
    return SheetReader(
        sheet._get_source(),
        sheet._shared_strings,
        limits=limits,
        epoch=book.epoch,
        date_formats=book._date_formats,
        timedelta_formats=book._timedelta_formats,
    )


def _oriented(
    rows: SheetRows, reader: SheetReader, limits: Limits, turn: Turn, stated: FileFormat
) -> Table:
    """Return the table, turned where it has one row per gene; rows of labels are read apart
    then.
    """
    width = max([len(cells) for _, cells in rows] + list(+reader.without_value))
    limits.check_shape(len(rows) - 1, width)
    seen = [Row(number, 1, _padded(cells, width)) for number, cells in rows[: SAMPLE_ROWS + 1]]
    frame = find_frame(seen, stated)
    ends = [Row(number, 1, _padded(cells, width)) for number, cells in rows[-LAST_ROWS:]]
    begin = frame.body[0].line if frame.body else rows[-1][0]
    footers, asked = find_footers([row for row in ends if row.line > begin], frame, stated)
    header = frame.names + [""] * (width - len(frame.names))
    gone = {row.line for row in footers}
    body = [row for row in rows if row[0] > frame.body_line and row[0] not in gone]
    if not frame.header_row:
        body = [row for row in rows if row[0] >= begin and row[0] not in gone]
    _check_formulas(header, body, reader)
    second = {row.line for row in frame.second}
    chosen = set(label_rows([cells for _, cells in body]))
    found = LabelRows(header, [body[i][1] for i in sorted(chosen)])
    rest = [row for i, row in enumerate(body) if i not in chosen]

    def read(cut: bool) -> Table:
        kept = rest if cut else [row for row in body if row[0] not in second]
        table = _table(header, kept, frame, limits, stated)
        more = [] if cut or not second else [second_header(frame)]
        return _with_account(table, frame, footers, [*frame.questions, *asked, *more])

    return oriented(read, found, turn, limits)


def _padded(cells: list[str], width: int) -> list[str]:
    return cells + [""] * (width - len(cells))


def _check_formulas(header: list[str], body: SheetRows, reader: SheetReader) -> None:
    """Refuse a column that lost all its values to formulas."""
    filled = Counter(j for _, cells in body for j, cell in enumerate(cells, 1) if cell)
    lost = [j for j in sorted(+reader.without_value) if not filled[j]]
    if lost:
        names = some([header[j - 1] or f"column_{j}" for j in lost])
        raise DataError(
            f"expected values, got only formulas saved without them in {names}: open the workbook "
            "in a spreadsheet program and save it there"
        )


def _table(
    header: list[str], rows: SheetRows, frame: Frame, limits: Limits, stated: FileFormat
) -> Table:
    def body() -> Iterator[NumberedRow]:
        for number, cells in rows:
            yield number, pa.array(_padded(cells, len(header)), pa.string())

    seen = [Row(number, 1, _padded(cells, len(header))) for number, cells in rows[:SAMPLE_ROWS]]
    evidence = sample_evidence(seen)
    index = 0 if is_index(header, seen, frame) else -1
    watched = tuple(watched_columns(seen, evidence, ","))  # Excel writes its numbers with points
    style = CellStyle(stated, "", evidence, watched, index)
    return table_from_cells(
        header, body, most_rows=len(rows), format="Excel workbook", limits=limits, style=style
    )


def _with_account(
    table: Table, frame: Frame, footers: list[Row], questions: list[Question]
) -> Table:
    """Return the table with the account of how it was understood."""
    reading = table.reading
    found = replace(
        reading.found, header_row=frame.header_row, footer_rows=len(footers), decimal=None
    )
    if reading.found.decimal == ",":
        found = replace(found, decimal=",")
    account = replace(
        reading,
        found=found,
        reasons={**reading.reasons, **frame.reasons},
        titles=frame.titles,
        units=frame.units,
        footers=tuple(row.shown for row in footers),
        questions=(*questions, *reading.questions),
    )
    remarks = [*frame.remarks, *footers_remark(footers)]
    return replace(table, remarks=(*remarks, *table.remarks), reading=account)
