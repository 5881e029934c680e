"""Excel workbooks: one sheet, whose header, titles and sums are found as those of a text are."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import openpyxl
import pyarrow as pa

from hipad.data.file_format import FOUND_OUT, Answer, FileFormat, Question
from hipad.data.formats.sheet import SheetReader, check_xml
from hipad.data.formats.text.cells import CellStyle, NumberedRow, table_from_cells
from hipad.data.formats.text.dialect import (
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
from hipad.data.genes.describing import LabelRows, label_rows
from hipad.data.genes.turning import Turn, oriented
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError
from hipad.wording import some

SheetRows = list[tuple[int, list[str]]]


def read_workbook(
    data: bytes, limits: Limits, turn: Turn = False, stated: FileFormat = FOUND_OUT
) -> Table:
    """A sheet of an Excel workbook, the first unless another is stated."""
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
    """The table, turned where it has one row per gene; rows of labels are read apart then."""
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
        return _told(table, frame, footers, [*frame.questions, *asked, *more])

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


def _told(table: Table, frame: Frame, footers: list[Row], questions: list[Question]) -> Table:
    """The table with the account of how it was understood."""
    reading = table.reading
    found = replace(
        reading.found, header_row=frame.header_row, footer_rows=len(footers), decimal=None
    )
    if reading.found.decimal == ",":
        found = replace(found, decimal=",")
    told = replace(
        reading,
        found=found,
        reasons={**reading.reasons, **frame.reasons},
        titles=frame.titles,
        units=frame.units,
        footers=tuple(row.shown for row in footers),
        questions=(*questions, *reading.questions),
    )
    remarks = [*frame.remarks, *footers_remark(footers)]
    return replace(table, remarks=(*remarks, *table.remarks), reading=told)
