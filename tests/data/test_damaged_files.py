from __future__ import annotations

import gzip
import time

import pytest

from hipad.data import Limits, read_table
from hipad.data.table import Table
from hipad.exceptions import DataError
from tests.data.gene_files import GCT, GCT3, GENES_TSV, SERIES, mtx
from tests.data.mutations import DAMAGES, mutations
from tests.limits import run_limited

# --------------------------------------------------------------------------------------------------
# Damaged text files end in a table or in one sentence, soon.


LIMITS = Limits(unpacked_bytes=2**22, rows=20_000, columns=5_000, cells=200_000)
LINES = [
    f'{j},{j / 7:.4f},{-j * 1e5:g},{"NA" if j % 9 == 0 else j % 5},"grade {j % 3}",'
    f"{'ill' if j % 2 else 'well'}"
    for j in range(40)
]
CSV = ("id,age,dose,marker one,grade,outcome\n" + "\n".join(LINES) + "\n").encode()
QUOTED = CSV.replace(b'"grade 1"', b'"grade ""one"", or\ntwo"').replace(b"\n", b"\r\n")
SEMICOLONS = CSV.replace(b",", b";").replace(b".", b",")
LIBSVM = "\n".join(
    f"{'+1' if j % 2 else '-1'} qid:{j // 10} {j % 3 + 1}:{j / 7:.3f} 7:1e-3 {j + 9}:-2 # row {j}"
    for j in range(40)
).encode()
SEEDS = {
    "csv": (CSV, QUOTED, SEMICOLONS),
    "csv.gz": (CSV, QUOTED),
    "libsvm": (LIBSVM,),
    "genes": (GENES_TSV, SERIES, GCT, GCT3, mtx()),
}
MUTATIONS = 600  # benchmarks/fuzz.py makes more


def damaged(kind: str):
    for seed, content in enumerate(SEEDS[kind]):
        whole = gzip.compress(content, mtime=0) if kind == "csv.gz" else content
        yield from mutations(whole, MUTATIONS // len(SEEDS[kind]), seed)
        if kind == "csv.gz":  # damage that the checksum of the packed file does not find
            for copy in mutations(content, 200, seed + 10):
                yield gzip.compress(copy, 1, mtime=0)


@pytest.mark.parametrize("kind", SEEDS)
def test_a_damaged_file_ends_in_a_table_or_a_sentence(kind):
    tables = sentences = 0
    for copy in damaged(kind):
        start = time.process_time()
        try:
            table = read_table(copy, limits=LIMITS)
            assert isinstance(table, Table)
            assert all(len(column) == table.n_rows for column in table.text.values())
            assert table.numbers.shape == (table.n_rows, len(table.number_names))
            assert len(table.ids) in (0, table.n_rows)
            assert len(table.symbols) in (0, len(table.number_names))
            tables += 1
        except DataError:
            sentences += 1
        assert time.process_time() - start < 5
    assert tables > 50
    assert sentences > 50


# --------------------------------------------------------------------------------------------------
# Damaged binary files end in a table or a sentence. Run apart: a crash must not end the tests.


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
    [("npz", 600), ("parquet", 600), ("xlsx", 600), ("h5ad", 450), ("10x", 800)],
)
def test_damaged_files_give_a_table_or_a_sentence(kind, least):
    read, refused = map(int, run_limited(FUZZ, kind, gigabytes=3, seconds=60).split())
    assert read + refused >= least
    assert min(read, refused) > 20  # the damage reaches both outcomes


# --------------------------------------------------------------------------------------------------
# Mutations.


SEED = b"a,b,c\n" + b"".join(b"%d,%d,x\n" % (j, j * j) for j in range(100))


def test_the_same_seed_gives_the_same_damage_and_another_seed_another():
    assert list(mutations(SEED, 50, seed=1)) == list(mutations(SEED, 50, seed=1))
    assert list(mutations(SEED, 50, seed=1)) != list(mutations(SEED, 50, seed=2))


def test_nearly_every_copy_is_damaged_and_all_stay_small():
    copies = list(mutations(SEED, 500, seed=3))
    assert len(copies) == 500
    assert sum(copy != SEED for copy in copies) > 480
    assert max(map(len, copies)) < 100 * len(SEED)
    assert len(DAMAGES) == 8
