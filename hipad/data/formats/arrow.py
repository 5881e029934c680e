"""Columns of Arrow as NumPy's numbers or texts, without loss of meaning and within limits."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.formats.text_room import TextRoom, column_remarks
from hipad.data.limits import Limits
from hipad.data.texts import USUAL_GAPS, GapWords, Text, tidy_column
from hipad.data.whole_numbers import KEPT_AS_TEXT, reach_beyond_exact

ArrowColumn = Any  # an Arrow array or chunked array (Arrow has no types)


class ColumnReader:
    """Reads one column after the other and keeps account of what it left out or changed."""

    def __init__(self, n_rows: int, limits: Limits, words: GapWords = USUAL_GAPS) -> None:
        self.words = words
        self.room = TextRoom(n_rows, limits)
        self.left_out: dict[str, list[str]] = defaultdict(list)
        self.changed: dict[str, list[str]] = defaultdict(list)
        self.written: dict[str, Text] = {}  # columns in which words were taken as gaps
        self.open: list[str] = []  # remarks on words that may be gaps

    def remarks(self) -> list[str]:
        """What was left out and changed, as sentences."""
        left = {f"{why} left out": names for why, names in self.left_out.items()}
        return [*column_remarks({**left, **self.changed}), *self.room.remarks(), *self.open]

    def read(self, name: str, column: ArrowColumn) -> npt.NDArray[Any] | None:
        """The column as numbers or text; None where it had to be left out."""
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
        if not self.room.takes(name, max(map(len, levels), default=0)):
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
        """The different texts, and which one each row has; a gap has the last code and no text."""
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
        """Texts of a dictionary; bytes that are not UTF-8 are marked and told."""
        try:
            texts.validate(full=True)
            return ["" if text is None else text for text in texts.to_pylist()]
        except (pa.ArrowInvalid, UnicodeDecodeError):
            if name not in (told := self.changed["not in UTF-8, wrong letters shown as \ufffd"]):
                told.append(name)
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
