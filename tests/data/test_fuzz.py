"""Damaged text files end in a table or in one sentence, soon."""

from __future__ import annotations

import gzip
import time

import pytest

from hipad.data import Limits, read_table
from hipad.data.table import Table
from hipad.exceptions import DataError
from tests.data.gene_files import GCT, GCT3, GENES_TSV, SERIES, mtx
from tests.data.mutations import mutations

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
MUTATIONS = 2_000


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
