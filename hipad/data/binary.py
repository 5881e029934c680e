"""Tables that are not text: Excel workbooks, Parquet and NumPy archives.

What a file says of its own size is checked before anything is unpacked, and nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import scipy.sparse as sp

from hipad.data.cells import Row, table_from_cells
from hipad.data.table import Limits, Matrix, Table, count, label_text, some, tidy_names, tidy_text
from hipad.errors import DataError


def check_archive(data: bytes, limits: Limits) -> list[str]:
    """Names of a ZIP archive's members, after a look at how large they become."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise DataError(f"the file is damaged ({error}): save it again") from error
    unpacked = sum(member.file_size for member in members)
    if unpacked > limits.unpacked_bytes:
        raise DataError(
            f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {unpacked:,}"
        )
    return [member.filename for member in members]


def read_workbook(data: bytes, limits: Limits) -> Table:
    """The first sheet of an Excel workbook; its first row that is not empty holds the names."""
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


def _sheet_rows(sheet: openpyxl.worksheet.worksheet.Worksheet, limits: Limits) -> Iterator[list]:
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        limits.check_shape(number, len(cells))
        yield [_written(cell) for cell in cells]


def _written(cell: object) -> str:
    if cell is None:
        return ""
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def read_parquet(data: bytes, limits: Limits) -> Table:
    """Number, truth-value and text columns of a Parquet file."""
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        meta = file.metadata
        limits.check_shape(meta.num_rows, meta.num_columns)
        unpacked = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        if unpacked > limits.unpacked_bytes:
            raise DataError(
                f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {unpacked:,}"
            )
        table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"the Parquet file cannot be read ({error}): save it again") from error
    return _from_arrow(table)


def _from_arrow(table: pa.Table) -> Table:
    names, remarks = tidy_names(table.column_names)
    numbers, text, left_out = {}, {}, []
    for name, column in zip(names, table.columns, strict=True):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            numbers[name] = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
        elif pa.types.is_decimal(kind):
            numbers[name] = np.array(
                [np.nan if v is None else float(v) for v in column.to_pylist()]
            )
        elif pa.types.is_nested(kind) or pa.types.is_binary(kind):
            left_out.append(name)
        else:
            values = ["" if v is None else str(v) for v in column.to_pylist()]
            text[name] = tidy_text(np.array(values, dtype=str))
    if left_out:
        remarks.append(
            f"{count(len(left_out), 'column')} of lists or bytes left out: {some(left_out)}"
        )
    matrix = np.empty((table.num_rows, len(numbers)))
    for j, values in enumerate(numbers.values()):
        matrix[:, j] = values
    return Table(matrix, tuple(numbers), text, format="Parquet", remarks=tuple(remarks))


def read_npz(data: bytes, limits: Limits) -> Table:
    """An archive with X (or the parts of a CSR matrix) and, where known, y and features."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                _check_member(archive, member)
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except DataError:
        raise
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"the archive cannot be read ({error}): save it again") from error
    X = _npz_matrix(arrays, limits)
    features = arrays.get("features", arrays.get("feature_names"))
    if features is not None and features.size != X.shape[1]:
        raise DataError(
            f"expected one feature name a column, got {features.size} for {X.shape[1]} columns"
        )
    raw = [f"x{j}" for j in range(X.shape[1])] if features is None else features.ravel().tolist()
    names, remarks = tidy_names(raw)
    used = {"X", "y", "data", "indices", "indptr", "shape", "features", "feature_names"}
    if unused := sorted(set(arrays) - used):
        remarks.append(f"not used of the archive: {some(unused)}")
    text, label = _labels(arrays.get("y"), X.shape[0], names)
    return Table(X, tuple(names), text, "NumPy archive", tuple(remarks), label)


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse Python objects, and an array that claims to be larger than its bytes."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read_header(file)
    if dtype.hasobject:
        raise DataError(
            f"{member.filename} holds Python objects, which could run code when opened: "
            "save X, y and features as plain arrays of numbers and text"
        )
    if math.prod(shape) * dtype.itemsize > member.file_size:
        raise DataError(f"{member.filename} is damaged: it holds less than it claims")


def _npz_matrix(arrays: dict[str, np.ndarray], limits: Limits) -> Matrix:
    if "X" in arrays:
        X = arrays["X"]
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise DataError(f"expected X to be a matrix of numbers, got {X.ndim}-d {X.dtype}")
        limits.check_shape(*X.shape)
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    parts = ("data", "indices", "indptr", "shape")
    if not set(parts) <= set(arrays):
        raise DataError(
            "expected an array X, or data, indices, indptr and shape of a CSR matrix, "
            f"got {some(sorted(arrays)) or 'an empty archive'}"
        )
    values, indices, indptr, shape = (arrays[key] for key in parts)
    try:
        limits.check_shape(int(shape[0]), int(shape[1]), cells=values.size)
        X = sp.csr_array((values.astype(np.float64), indices, indptr), shape=tuple(shape))
        X.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise DataError(f"the parts do not make a CSR matrix: {error}") from error
    X.sum_duplicates()
    return X


def _labels(
    y: np.ndarray | None, n_rows: int, names: list[str]
) -> tuple[dict[str, np.ndarray], str | None]:
    if y is None:
        return {}, None
    if y.shape != (n_rows,):
        raise DataError(f"expected one label a row in y, got {y.shape} for {n_rows} rows")
    label = "y" if "y" not in names else "label of y"
    return {label: label_text(y)}, label
