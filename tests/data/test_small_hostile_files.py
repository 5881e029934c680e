"""Files of a few hundred bytes that claim to be large: memory is bounded by what they hold."""

from __future__ import annotations

import contextlib
import io
import tracemalloc
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.data import read_table
from hipad.exceptions import DataError

MOST = 64 * 2**20  # bytes that reading a small file may take
MARKET = b"%%MatrixMarket matrix coordinate real general\n"
SHEET = (
    b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/'
    b'main"><sheetData>%s</sheetData></worksheet>'
)


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def parquet(columns: dict[str, pa.Array]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, compression="zstd", row_group_size=5_000_000)
    return file.getvalue()


def xlsx(rows: bytes) -> bytes:
    book, file, made = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    book.save(file)
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            is_sheet = name == "xl/worksheets/sheet1.xml"
            out.writestr(name, SHEET % rows if is_sheet else source.read(name))
    return made.getvalue()


def far_cells(n: int) -> bytes:
    return b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(1, n))


FILES = {
    "libsvm, a far index": b"1 1:1\n-1 1999999:1\n",
    "matrix market, wide": MARKET + b"2 2000000 1\n1 1 1\n",
    "matrix market, long": MARKET + b"5000000 2 1\n1 1 1\n",
    "csr, wide": npz(
        data=np.ones(1), indices=[5], indptr=[0, 1, 1], shape=np.array([2, 2_000_000])
    ),
    "coo, wide": npz(data=np.ones(1), row=[0], col=[1_999_999], shape=np.array([2, 2_000_000])),
    "coo, long": npz(data=np.ones(1), row=[0], col=[1], shape=np.array([5_000_000, 2])),
    "parquet, one value": parquet({f"a{i}": pa.nulls(5_000_000, pa.bool_()) for i in "xyz"}),
    "workbook, far cells": xlsx(far_cells(2_000)),
    "gct, sizes only": b"#1.2\n2000000\t2\nName\tDescription\ta\tb\n",
    "commas": b"," * 721,
    "lines": b"a,b\n1,2" + b"\n" * 700,
    "an open quote": b'a,b\n"' + b'",' * 300,
    "brackets": b"[" * 700,
    "sep": b"sep=" * 180,
    "units": b"1 mg/l/l/l/l/l/l,2\n" * 35,
}


def peak_of(data: bytes) -> int:
    """The most memory that reading takes, beyond what there was."""
    tracemalloc.start()
    try:
        with contextlib.suppress(DataError):
            read_table(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", FILES)
def test_read_table_memory_of_a_small_file(kind):
    read_table(b"a,b\n1,2\n")  # what is loaded once does not count
    assert peak_of(FILES[kind]) < MOST


def test_read_table_sparse_columns_keep_their_names():
    table = read_table(b"1 1:1 7:2\n-1 1999999:3\n")
    assert table.number_names == ("x1", "x7", "x1999999")
    assert table.numbers.toarray().tolist() == [[1, 2, 0], [0, 0, 3]]
    assert "1,999,996 columns without a value left out" in table.remarks


PIECES = st.sampled_from(
    [b"1", b"-1", b" ", b":", b",", b";", b"\t", b"\n", b'"', b"sep=", b"#", b"%", b"999999",
     b"2000000", b"5000000", b"1e308", b"\xff\xfe", b"\xef\xbb\xbf", b"a", b"mg/l", MARKET,
     b"#1.2\n", b"!Series_", b"1:1", b"<", b"1.234,5", b"\0", b"\r", b"k.A."]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map(b"".join))
@settings(max_examples=60, deadline=None)
def test_read_table_memory_of_any_small_file(data):
    assert peak_of(data) < MOST
