"""Parquet files: columns of numbers, truth values and text."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hipad.data.limits import Limits
from hipad.data.table import Table, count, some, tidy_names, tidy_text
from hipad.errors import DataError


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
