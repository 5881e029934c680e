"""Parquet files with columns of every type and extreme values."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa

from tests.data.archives import parquet

WHOLE = (0, 1, -1, 127, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), None)
FLOATS = (0.0, -0.0, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), float("nan"), None)
BYTES = (b"", b"a", b"\xff\xfe", b"\xed\xa0\x80", b"\0", b"x" * 3_000, "ü".encode(), b"1", None)
TIMES = (
    pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("us"),
    pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("ms", "No/Such"),
    pa.timestamp("us", "+07:30"), pa.timestamp("ns", "Asia/Kolkata"),
)  # fmt: skip


def odd_tables(n: int, seed: int) -> Iterator[bytes]:
    """Yield n files with a few columns each; what Arrow itself cannot write is drawn again."""
    draw = random.Random(seed)
    while n:
        rows = draw.choice((0, 1, 3, 7))
        columns = [_column(draw, rows) for _ in range(draw.randint(0, 4))]
        names = [draw.choice(("a", "b", "a.b", "", "__index_level_0__", "ü\n")) for _ in columns]
        try:
            table = pa.Table.from_arrays(columns, names=names)
            yield parquet(table, compression="none", version=draw.choice(("1.0", "2.6")))
            n -= 1
        except pa.ArrowException:
            continue


def _column(draw: random.Random, rows: int) -> pa.Array:
    kind = draw.choice(("whole", "float", "text", "bytes", "time", "nested", "null", "levels"))
    if kind == "whole":
        return pa.array([draw.choice(WHOLE) for _ in range(rows)], pa.int64())
    if kind == "float":
        return pa.array([draw.choice(FLOATS) for _ in range(rows)], pa.float64())
    if kind == "time":
        width = draw.choice(TIMES)
        whole = pa.int32() if width.bit_width == 32 else pa.int64()
        values = [draw.choice(WHOLE) or 0 for _ in range(rows)]
        return pa.array([v % 2**31 if width.bit_width == 32 else v for v in values], whole).view(
            width
        )
    if kind == "nested":
        return pa.array([[1, 2]] * rows) if draw.random() < 0.5 else pa.array([{"x": 1}] * rows)
    if kind == "null":
        return pa.nulls(rows)
    raw = pa.array([draw.choice(BYTES) for _ in range(rows)], pa.binary())
    if kind == "bytes":
        return raw
    text = pa.Array.from_buffers(pa.string(), rows, raw.buffers())
    return text.dictionary_encode() if kind == "levels" else text
