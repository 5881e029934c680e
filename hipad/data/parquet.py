"""Parquet and Arrow columns as numbers or texts, without loss of meaning and within limits."""

from __future__ import annotations

import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hipad.data.cells import TextBudget, column_remarks
from hipad.data.file_format import FOUND_OUT, FileFormat, Limits, Reading
from hipad.data.table import Table, tidy_names
from hipad.data.written_numbers import (
    KEPT_AS_TEXT,
    USUAL_GAPS,
    GapWords,
    Text,
    gap_words,
    reach_beyond_exact,
    tidy_column,
)
from hipad.exceptions import DataError
from hipad.utils import some

# --------------------------------------------------------------------------------------------------
# Columns of Arrow as NumPy's numbers or texts, without loss of meaning and within limits.


ArrowColumn = Any  # an Arrow array or chunked array (Arrow has no types)


class ColumnReader:
    """Reads one column after the other and keeps account of what it left out or changed."""

    def __init__(self, n_rows: int, limits: Limits, words: GapWords = USUAL_GAPS) -> None:
        self.words = words
        self.budget = TextBudget(n_rows, limits)
        self.left_out: dict[str, list[str]] = defaultdict(list)
        self.changed: dict[str, list[str]] = defaultdict(list)
        self.written: dict[str, Text] = {}  # columns in which words were taken as gaps
        self.open: list[str] = []  # remarks on words that may be gaps

    def remarks(self) -> list[str]:
        """Return what was left out and changed, as sentences."""
        left = {f"{why} left out": names for why, names in self.left_out.items()}
        return [*column_remarks({**left, **self.changed}), *self.budget.remarks(), *self.open]

    def read(self, name: str, column: ArrowColumn) -> npt.NDArray[Any] | None:
        """Return the column as numbers or text; None where it had to be left out."""
        kind, types = column.type, pa.types
        if types.is_dictionary(kind) and not _is_text(kind.value_type):
            column = pc.cast(column, kind.value_type)
            kind = column.type
        try:
            if types.is_floating(kind) or types.is_boolean(kind):
                return _floats(column)
            if types.is_integer(kind) or types.is_decimal(kind):
                return self._numbers(name, column)
            if types.is_temporal(kind):
                column = _written_time(column)
        except pa.ArrowException:
            self.left_out["that cannot be read"].append(name)
            return None
        return self._text(name, column)

    def _numbers(self, name: str, column: ArrowColumn) -> npt.NDArray[Any] | None:
        """Numbers; as text if they are whole and floating point would make two of them one."""
        values = _floats(column)
        whole = pa.types.is_integer(column.type) or column.type.scale <= 0
        if whole and reach_beyond_exact(values):
            self.changed[KEPT_AS_TEXT].append(name)
            return self._text(name, pc.cast(column, pa.string()))
        return values

    def _text(self, name: str, column: ArrowColumn) -> Text | None:
        """Texts, all as wide as the longest: left out where that takes too much."""
        levels, codes = self._levels(name, column)
        if not self.budget.takes(name, max(map(len, levels), default=0)):
            return None
        texts, own = np.unique(np.array([*levels, ""], dtype=str), return_inverse=True)
        places = own[codes]
        times = np.bincount(places, minlength=len(texts))
        column = tidy_column(texts, places, times, self.words)
        if column.written is not None:
            self.written[name] = column.written
        if column.remark:
            self.open.append(f"column {name!r}: {column.remark}")
        return column.cells

    def _levels(self, name: str, column: ArrowColumn) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Return the different texts, and which one each row has; a gap has the last code and no
        text.
        """
        levels: list[str] = []
        codes: list[npt.NDArray[np.int64]] = []
        for chunk in column.chunks:
            encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            if not pa.types.is_dictionary(encoded.type):  # a column of nulls
                codes.append(np.full(len(chunk), -1))
                continue
            encoded.validate()
            own = pc.fill_null(pc.cast(encoded.indices, pa.int64()), -1)
            places = own.to_numpy(zero_copy_only=False)
            codes.append(np.where(places < 0, -1, places + len(levels)))
            levels += self._decoded(name, encoded.dictionary)
        return levels, np.concatenate(codes) if codes else np.zeros(0, dtype=np.int64)

    def _decoded(self, name: str, texts: ArrowColumn) -> list[str]:
        """Return texts of a dictionary; bytes that are not UTF-8 are marked and told."""
        try:
            texts.validate(full=True)
            return ["" if text is None else text for text in texts.to_pylist()]
        except (pa.ArrowInvalid, UnicodeDecodeError):
            if name not in (changed := self.changed["not in UTF-8, wrong letters shown as \ufffd"]):
                changed.append(name)
            raw = pc.cast(texts, pa.large_binary()).to_pylist()
            return ["" if text is None else text.decode("utf-8", "replace") for text in raw]


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _floats(column: ArrowColumn) -> npt.NDArray[np.float64]:
    cast = pc.cast(column, pa.float64(), safe=False)
    values: npt.NDArray[np.float64] = cast.to_numpy(zero_copy_only=False)
    return values


def _written_time(column: ArrowColumn) -> ArrowColumn:
    """Dates and times as text; a moment whose zone is not known is written in universal time."""
    try:
        written = pc.cast(column, pa.string())
    except pa.ArrowException:
        written = pc.cast(pc.cast(column, pa.timestamp(column.type.unit)), pa.string())
    return pc.replace_substring_regex(written, r"\.0+(Z|[-+]\d+)?$", r"\1")


# --------------------------------------------------------------------------------------------------
# Parquet files: columns of numbers, truth values, dates and text.
#
# Texts stay a dictionary and one code per row until it is known how wide they are, because a few
# long ones repeated in many rows take little room in the file and much in memory.


INDEX: Final = re.compile(r"__index_level_\d+__")
BYTES_PER_VALUE: Final = 4  # of the file, the records of its columns among them
BATCH_ROWS: Final = 2**16
TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def read_parquet(data: bytes, limits: Limits, stated: FileFormat = FOUND_OUT) -> Table:
    """Return number, truth-value, date and text columns of a Parquet file."""
    try:
        return _table(*_read(data, limits), limits, stated)
    except DataError:
        raise
    except Exception as error:  # Arrow lets errors of many kinds through
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"the Parquet file cannot be read ({reason}): save it again") from error


def _read(data: bytes, limits: Limits) -> tuple[pa.Table, list[str]]:
    """Return the columns that can be of use, and the names of the others, which stay packed."""
    file = pq.ParquetFile(io.BytesIO(data), pre_buffer=False)
    _check_size(file.metadata, limits)
    cells = file.metadata.num_rows * file.metadata.num_columns
    limits.check_content(cells, len(data) // BYTES_PER_VALUE)
    schema = file.schema_arrow
    texts = [field.name for field in schema if any(is_text(field.type) for is_text in TEXTS)]
    useful = [field.name for field in schema if is_useful(field.type)]
    others = [field.name for field in schema if not is_useful(field.type)]
    if mixed := set(others) & set(useful):
        raise DataError(f"expected different names of columns, got two called {some(mixed)}")
    # Without a buffer Arrow starts no threads, which a limit on memory could keep from starting.
    file = pq.ParquetFile(
        io.BytesIO(data), metadata=file.metadata, read_dictionary=texts, pre_buffer=False
    )
    batches = list(_batches(file, useful, limits))
    if not batches:
        raise DataError("expected rows of data, got none: the table is empty")
    table = pa.Table.from_batches(batches)
    if table.num_rows != file.metadata.num_rows:
        raise DataError(f"the Parquet file is damaged: {table.num_rows:,} rows came of it")
    return table, others


def _batches(file: pq.ParquetFile, columns: list[str], limits: Limits) -> Iterator[pa.RecordBatch]:
    """Yield some rows after the other, for as long as they take no more memory than they may."""
    unpacked = 0
    for batch in file.iter_batches(BATCH_ROWS, columns=columns, use_threads=False):
        unpacked += batch.nbytes
        _check_unpacked(unpacked, limits)
        yield batch


def is_useful(kind: pa.DataType) -> bool:
    """Return whether a column can be read as numbers or text: neither lists nor bytes."""
    types = pa.types
    if types.is_dictionary(kind):
        return is_useful(kind.value_type)
    binary = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    other = (types.is_nested, types.is_binary_view, types.is_interval)
    is_extension = isinstance(kind, pa.BaseExtensionType)
    return not (is_extension or any(test(kind) for test in (*binary, *other)))


def _check_size(meta: pq.FileMetaData, limits: Limits) -> None:
    """Refuse what says of itself that it is too large; what is read is held to this."""
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    rows = [group.num_rows for group in groups]
    if min(rows, default=0) < 0 or meta.num_rows != sum(rows):
        raise DataError("the Parquet file is damaged: its rows do not add up")
    limits.check_shape(meta.num_rows, meta.num_columns)
    # Arrow ends the process where the record of a single column is damaged, so none is looked at.
    _check_unpacked(sum(group.total_byte_size for group in groups), limits)


def _check_unpacked(unpacked: int, limits: Limits) -> None:
    if unpacked > limits.unpacked_bytes:
        raise DataError(
            f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {unpacked:,}"
        )


def _table(arrow: pa.Table, others: list[str], limits: Limits, stated: FileFormat) -> Table:
    names, remarks = tidy_names(arrow.column_names)
    index = [name for name in names if INDEX.fullmatch(name)]
    if index:
        remarks.append(f"the row names of a data frame are the column {some(index)}")
    words = GapWords(stated.gap_words) if stated.gap_words is not None else USUAL_GAPS
    reader = ColumnReader(arrow.num_rows, limits, words)
    numbers: dict[str, np.ndarray] = {}
    text: dict[str, np.ndarray] = {}
    reader.left_out["of lists or bytes"] = others
    for name, column in zip(names, arrow.columns, strict=True):
        values = reader.read(name, column)
        if values is not None:
            (text if values.dtype.kind == "U" else numbers)[name] = values
    if not numbers and not text:
        raise DataError("expected columns of numbers or text, got none")
    matrix = np.empty((arrow.num_rows, len(numbers)))
    for j, values in enumerate(numbers.values()):
        matrix[:, j] = values
    notes = (*remarks, *reader.remarks())
    written = reader.written
    gaps = Counter[str]()
    for name, cells in written.items():
        gaps.update(gap_words(cells, text[name]))
    reading = Reading(FileFormat(gap_words=tuple(gaps)), stated, gaps=dict(gaps))
    return Table(matrix, tuple(numbers), text, "Parquet", notes, written=written, reading=reading)
