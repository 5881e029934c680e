"""Reading text tables, in processor time as ratios to pandas, and the peak of memory.

`python -m benchmarks.reading FILE` reads one file in this process and prints what it took, as JSON.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.data import ROOT
from benchmarks.memory import megabytes
from benchmarks.reporting import Options, best_of, progress, table, timed, verdict
from hipad.data import read_table

WORDS = np.array(["ill", "well", "unknown", "north side", "x1y", "grade two"])


def run(options: Options) -> str:
    """Tables of several shapes, read by pandas and by us."""
    share = 20 if options.quick else 1
    shapes: dict[str, tuple[Callable[[int, int], list[list[str]]], int, int]] = {
        "numbers": (_numbers, 100_000 // share, 10),
        "numbers and text": (_mixed, 100_000 // share, 10),
        "numbers and quoted text": (_quoted, 100_000 // share, 10),
        "numbers and IDs": (_named, 100_000 // share, 10),
        "text": (_words, 200, 20_000 // share),
        "wide numbers": (_numbers, 500, 50_000 // share),
    }
    rows = []
    for name, (make, n_rows, n_columns) in shapes.items():
        progress(f"{name}, {n_rows:,} x {n_columns:,}")
        rows.append(_measure(name, make(n_rows, n_columns), wide=name == "wide numbers"))
    header = ("table", "rows x columns", "pandas, s", "ours, s", "ours / pandas", "peak, GB")
    return table(header, rows)


def _measure(name: str, cells: list[list[str]], *, wide: bool) -> tuple[str, ...]:
    shape = f"{len(cells):,} x {len(cells[0]):,}"
    header = ",".join(f"x{j}" for j in range(len(cells[0])))
    data = "\n".join([header, *map(",".join, cells)]).encode()
    cells.clear()
    repeats = 1 if wide else 5
    theirs = best_of(lambda: pd.read_csv(io.BytesIO(data)), repeats)
    ours = best_of(lambda: read_table(data), repeats)
    peak = _peak(data)
    ratio = ours / theirs
    return (
        name,
        shape,
        f"{theirs:.3f}",
        f"{ours:.3f}",
        f"{ratio:.2f}" if wide else verdict(ratio, 3, at_least=False, digits=2),
        verdict(peak, 1.2, at_least=False, digits=2) if wide else f"{peak:.2f}",
    )


def _peak(data: bytes) -> float:
    """Gigabytes of a fresh process that reads the file, its libraries included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(data)
        command = [sys.executable, "-m", "benchmarks.reading", str(path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["peak"]) / 1024


def _numbers(n_rows: int, n_columns: int) -> list[list[str]]:
    values = np.random.default_rng(0).standard_normal((n_rows, n_columns))
    return [list(map(repr, row)) for row in map(np.ndarray.tolist, values)]


def _words(n_rows: int, n_columns: int) -> list[list[str]]:
    return WORDS[np.random.default_rng(0).integers(0, len(WORDS), (n_rows, n_columns))].tolist()


def _mixed(n_rows: int, n_columns: int) -> list[list[str]]:
    half = n_columns // 2
    values = np.random.default_rng(1).standard_normal((n_rows, half)).round(3).astype(str)
    words = np.array(_words(n_rows, n_columns - half))
    return np.hstack([values, words]).tolist()


def _quoted(n_rows: int, n_columns: int) -> list[list[str]]:
    """Texts with separators and doubled quotes in quotes."""
    half = n_columns // 2
    return [
        [*row[:half], *(f'"{text}, ""so"" it is"' for text in row[half:])]
        for row in _mixed(n_rows, n_columns)
    ]


def _named(n_rows: int, n_columns: int) -> list[list[str]]:
    """Numbers, and one ID per row."""
    names = np.random.default_rng(2).permutation(n_rows).tolist()
    rows = _numbers(n_rows, n_columns - 1)
    return [[f"ID{name:07d}", *row] for name, row in zip(names, rows, strict=True)]


if __name__ == "__main__":
    _, seconds = timed(lambda: read_table(sys.argv[1]))
    print(json.dumps({"seconds": seconds, "peak": megabytes("VmHWM")}))
