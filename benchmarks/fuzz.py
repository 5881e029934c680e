"""Damaged files by the ten thousand: each must end in a table, a session or a model, or a sentence.

So must odd rules, which are compiled for the patients of the tests.

The tests read 2,000 of each kind from fixed seeds; here are more, from other seeds. Every kind runs
in a process of its own (`python -m benchmarks.fuzz KIND COUNT SEED`), so that a crash is a row of
the table and not the end of the run.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import ROOT
from benchmarks.reporting import Options, progress, table
from hipad import HIPADClassifier
from hipad.data import Limits, read_table
from hipad.exceptions import DataError, RuleError

USUAL, QUICK = 20_000, 100
LIMITS = Limits(unpacked_bytes=10**7, rows=10**5, columns=10**5, cells=10**6)
KINDS = (
    "csv", "csv.gz", "libsvm", "npz", "parquet", "xlsx", "genes", "geo", "gct", "mtx", "10x",
    "h5ad", "session", "model", "rules",
)  # fmt: skip


def run(options: Options) -> str:
    """Read damaged files of every kind, and count how they ended."""
    n = options.count(USUAL, QUICK)
    rows = []
    for kind in filter(options.wants, KINDS):
        progress(f"{kind}: {n:,} damaged files")
        command = [sys.executable, "-m", "benchmarks.fuzz", kind, str(n), str(options.seed + 1_000)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            read, refused, slowest = json.loads(done.stdout)
            rows.append([kind, f"{read:,}", f"{refused:,}", f"{slowest:.2f}", "none"])
        else:
            rows.append([kind, "-", "-", "-", f"**ended with {done.returncode}**"])
    header = ["file", "read", "refused with a sentence", "slowest, s", "crashes and other errors"]
    return table(header, rows)


def main(kind: str, n: int, seed: int) -> None:
    """Read the files of one kind; prints how many were read and refused, and the slowest."""
    read, refused, slowest = 0, 0, 0.0
    take = reader(kind)
    for content in damaged(kind, n, seed):
        start = time.process_time()
        try:
            take(content)
            read += 1
        except (DataError, RuleError):
            refused += 1
        slowest = max(slowest, time.process_time() - start)
    print(json.dumps([read, refused, slowest]))


def reader(kind: str) -> Callable[[bytes], object]:
    """What reads the files of a kind."""
    if kind == "session":
        from ui.session.session_file import read_session

        return read_session
    if kind == "model":
        return read_model_bytes
    if kind == "rules":
        from tests.rules.natural import compiled

        return lambda content: compiled(content.decode())
    return lambda content: read_table(content, limits=LIMITS)


def read_model_bytes(content: bytes) -> object:
    """A model from the bytes of its file."""
    from hipad.estimator.model_io import read_model

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_bytes(content)
        return read_model(path)


def damaged(kind: str, n: int, seed: int) -> Iterator[bytes]:
    """Damaged copies of a good file, partly in what was packed or written inside it."""
    if kind == "rules":
        from tests.rules.fuzzing import fuzzed

        yield from (text.encode("utf-8", "replace") for text in fuzzed(n, seed))
        return
    from tests.data.archives import repacked
    from tests.data.mutations import mutations
    from tests.ui.sessions import doctored

    whole = good(kind)
    yield from mutations(whole, n // 2, seed)
    if kind == "session":
        yield from doctored(n - n // 2, seed)
    elif kind in ("npz", "xlsx", "10x"):
        yield from repacked(whole, n - n // 2, seed)
    elif kind == "csv.gz":
        for copy in mutations(gzip.decompress(whole), n - n // 2, seed + 1):
            yield gzip.compress(copy, 1, mtime=0)
    else:
        yield from mutations(whole, n - n // 2, seed + 1)


def good(kind: str) -> bytes:
    """An undamaged file."""
    import pyarrow as pa

    from tests.data import archives, gene_files
    from tests.data.test_damaged_files import CSV, LIBSVM
    from tests.ui.sessions import PIMA

    X = np.array([[1.5, 0.0, -3.0], [0.25, 1e-3, 0.0], [0.0, 8.0, 9.5]])
    columns = {"a": [1, 2, 3], "b": [0.5, None, 2.0], "c": ["x", "y", "x"]}
    make: dict[str, Callable[[], bytes]] = {
        "csv": lambda: CSV,
        "csv.gz": lambda: gzip.compress(CSV, mtime=0),
        "libsvm": lambda: LIBSVM,
        "npz": lambda: archives.npz(X=X, y=np.array(["ill", "well", "ill"])),
        "parquet": lambda: archives.parquet(pa.table(columns)),
        "xlsx": lambda: archives.xlsx([["a", "b"], [1, "x"], [3, None]]),
        "genes": lambda: gene_files.GENES_TSV,
        "geo": lambda: gene_files.SERIES,
        "gct": lambda: gene_files.GCT3,
        "mtx": gene_files.mtx,
        "10x": gene_files.tenx_zip,
        "h5ad": gene_files.h5ad,
        "session": lambda: PIMA.to_json().encode(),
        "model": good_model,
    }
    return make[kind]()


def good_model() -> bytes:
    """The file of a small model."""
    X = np.random.default_rng(0).standard_normal((24, 5))
    y = (np.arange(24) % 2).astype(int)
    X[y == 1] += 1.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        HIPADClassifier("x0 >= 1 => 1", lambda1=0.05).fit(X, y).save(path)
        return path.read_bytes()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
