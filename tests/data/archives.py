"""Small files of every binary format, and damaged copies of what is packed inside them."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from tests.data.mutations import mutations


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def save_npz(matrix) -> bytes:
    file = io.BytesIO()
    sp.save_npz(file, matrix)
    return file.getvalue()


def parquet(table: pa.Table, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def xlsx(rows) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def repacked(data: bytes, n: int, seed: int, only: str = "") -> Iterator[bytes]:
    """Yield archives in which one member is damaged and packed again, with a sound checksum."""
    parts, draw = members(data), random.Random(seed)
    names = [name for name in parts if only in name]
    for k in range(n):
        name = draw.choice(names)
        yield zipped({**parts, name: next(mutations(parts[name], 1, seed + k))})
