"""Damaged binary files end in a table or a sentence. Run apart: a crash must not end the tests."""

from __future__ import annotations

import pytest

from tests.limits import run_limited

FUZZ = """
import gzip, sys
from itertools import chain
import numpy as np, pyarrow as pa, scipy.sparse as sp
from hipad.data import Limits, read_table
from hipad.exceptions import DataError
from tests.data.archives import npz, parquet, repacked, save_npz, xlsx
from tests.data.gene_files import h5ad, tenx_members, tenx_tar, tenx_zip
from tests.data.mutations import mutations
from tests.data.odd_columns import odd_tables

X = np.array([[1.5, 0.0, -3.0], [0.25, 1e-3, 0.0], [0.0, 8.0, 9.5]])
NAMES = dict(y=np.array(["ill", "well", "ill"]), features=np.array(["a", "b", "ü"]))
table = pa.table({"a": [1, 2, 3], "b": [0.5, None, 2.0], "c": ["x", "y", "x"], "d": [True] * 3})

def files(kind):
    if kind == "npz":
        yield from mutations(npz(X=X, **NAMES), 400, 1)
        yield from repacked(npz(X=X, **NAMES), 500, 2)
        for k, matrix in enumerate((sp.csr_array(X), sp.csc_array(X), sp.coo_array(X))):
            yield from repacked(save_npz(matrix), 400, 3 + k)
    elif kind == "parquet":
        yield from mutations(parquet(table), 600, 1)
        yield from mutations(parquet(table, compression="none", use_dictionary=False), 600, 2)
        yield from mutations(parquet(table, store_schema=False, row_group_size=2), 300, 3)
        yield from odd_tables(500, 4)
    elif kind == "h5ad":
        for k, form in enumerate(("csr", "csc", "dense")):
            yield from mutations(h5ad(form), 150, 1 + k)
    elif kind == "10x":
        yield from mutations(tenx_zip(), 150, 1)
        yield from repacked(tenx_zip(), 150, 2)
        yield from mutations(tenx_tar(mode="w"), 200, 3)
        for n, name in enumerate(("matrix", "features", "barcodes")):
            members = tenx_members()
            path = next(path for path in members if name in path)
            whole = gzip.decompress(members.pop(path))
            for damaged in mutations(whole, 120, 4 + n):
                yield tenx_tar({**members, path[:-3]: damaged or b" "}, "w")
    else:
        book = xlsx([["a", "b", "c"], [1, 2.5, "x"], [3, None, "y"], ["=A1", "#DIV/0!", True]])
        yield from mutations(book, 300, 1)
        yield from repacked(book, 1300, 2, only="sheet1")
        yield from repacked(book, 400, 3)

limits = Limits(unpacked_bytes=10**7, rows=10**5, columns=10**5, cells=10**6)
read = refused = 0
for data in files(sys.argv[1]):
    try:
        read_table(data, limits=limits)
        read += 1
    except DataError as error:
        assert chr(10) not in str(error), error
        refused += 1
print(read, refused)
"""


@pytest.mark.parametrize(
    ("kind", "least"),
    [("npz", 2_000), ("parquet", 2_000), ("xlsx", 2_000), ("h5ad", 450), ("10x", 800)],
)
def test_damaged_files_give_a_table_or_a_sentence(kind, least):
    read, refused = map(int, run_limited(FUZZ, kind, gigabytes=3, seconds=60).split())
    assert read + refused >= least
    assert min(read, refused) > 50  # the damage reaches both outcomes
