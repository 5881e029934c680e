"""Excel workbooks: the first sheet, its first row that is not empty holding the names."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import openpyxl
import pyarrow as pa

from hipad.data.formats.sheet import SheetReader, check_xml
from hipad.data.formats.text.cells import NumberedRow, table_from_cells
from hipad.data.genes.describing import LabelRows, label_rows
from hipad.data.genes.turning import Turn, oriented
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError
from hipad.wording import some

SheetRows = list[tuple[int, list[str]]]


def read_workbook(data: bytes, limits: Limits, turn: Turn = False) -> Table:
    """The first sheet of an Excel workbook; its first row that is not empty holds the names."""
    try:
        check_xml(data, limits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they would put cells of the table into logs
            book = openpyxl.load_workbook(
                io.BytesIO(data), read_only=True, data_only=True, keep_links=False
            )
            sheet = book.worksheets[0]
            reader = _reader(sheet, limits)
            rows = list(reader.rows())
    except DataError:
        raise
    except Exception as error:  # openpyxl lets errors of many kinds through
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"the workbook cannot be read ({reason}): save it as CSV") from error
    if not rows:
        raise DataError(f"expected a table in the first sheet ({sheet.title!r}), found it empty")
    header = _header(rows, reader, limits)
    table = _oriented(header, rows[1:], limits, turn)
    remarks = reader.remarks(header)
    if len(book.sheetnames) > 1:
        remarks.insert(
            0, f"only the first of {len(book.sheetnames)} sheets was read: {sheet.title!r}"
        )
    return replace(table, remarks=(*remarks, *table.remarks))


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


def _header(rows: SheetRows, reader: SheetReader, limits: Limits) -> list[str]:
    """The names, one per column; a column that lost all its values to formulas is refused."""
    width = max([len(cells) for _, cells in rows] + list(+reader.without_value))
    limits.check_shape(len(rows) - 1, width)
    header = rows[0][1] + [""] * (width - len(rows[0][1]))
    filled = Counter(j for _, cells in rows[1:] for j, cell in enumerate(cells, 1) if cell)
    lost = [j for j in sorted(+reader.without_value) if not filled[j]]
    if lost:
        names = some([header[j - 1] or f"column_{j}" for j in lost])
        raise DataError(
            f"expected values, got only formulas saved without them in {names}: open the workbook "
            "in a spreadsheet program and save it there"
        )
    return header


def _oriented(header: list[str], rows: SheetRows, limits: Limits, turn: Turn) -> Table:
    """The table, turned where it has one row per gene; rows of labels are read apart then."""
    chosen = set(label_rows([cells for _, cells in rows]))
    found = LabelRows(header, [rows[i][1] for i in sorted(chosen)])
    rest = [row for i, row in enumerate(rows) if i not in chosen]
    return oriented(lambda cut: _table(header, rest if cut else rows, limits), found, turn, limits)


def _table(header: list[str], rows: SheetRows, limits: Limits) -> Table:
    def body() -> Iterator[NumberedRow]:
        for number, cells in rows:
            yield number, pa.array(cells + [""] * (len(header) - len(cells)), pa.string())

    return table_from_cells(
        header, body, most_rows=len(rows), format="Excel workbook", limits=limits
    )
