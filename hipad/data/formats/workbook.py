"""Excel workbooks: the first sheet, its first row that is not empty holding the names."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pyarrow as pa

from hipad.data.formats.cells import Row, table_from_cells
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError


def read_workbook(data: bytes, limits: Limits) -> Table:
    """The first sheet of an Excel workbook; its first row that is not empty holds the names."""
    import openpyxl  # here, as most tables do without it and it takes a while

    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        rows = [
            (number, list(cells))
            for number, cells in enumerate(_sheet_rows(sheet, limits), start=1)
            if any(cells)
        ]
    except DataError:
        raise
    except Exception as error:  # openpyxl lets errors of many kinds through
        raise DataError(f"the workbook cannot be read ({error}): save it as CSV") from error
    if not rows:
        raise DataError(f"expected a table in the first sheet ({sheet.title!r}), found it empty")
    width = max(len(cells) for _, cells in rows)
    padded = [(number, cells + [""] * (width - len(cells))) for number, cells in rows]

    def body() -> Iterator[Row]:
        yield from ((number, pa.array(cells)) for number, cells in padded[1:])

    table = table_from_cells(
        padded[0][1], body, most_rows=len(padded) - 1, format="Excel workbook", limits=limits
    )
    if len(book.sheetnames) == 1:
        return table
    remark = f"only the first of {len(book.sheetnames)} sheets was read: {sheet.title!r}"
    return replace(table, remarks=(remark, *table.remarks))


def _sheet_rows(sheet: Any, limits: Limits) -> Iterator[list]:
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        limits.check_shape(number, len(cells))
        yield [_written(cell) for cell in cells]


def _written(cell: object) -> str:
    if cell is None:
        return ""
    return cell.isoformat() if isinstance(cell, date) else str(cell)
