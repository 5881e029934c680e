"""Our reading of delimited text against Arrow's, in processor time on one thread, on four shapes.

Run it by itself: `python -m benchmarks.csv_reading`. "Text" is Arrow's reader with every cell kept
as text and columns cast to numbers afterwards, which keeps what cells mean; it looks for no gaps
and settles no dialect. "Typed" lets Arrow find the types, which loses leading zeros, words for
gaps and thousands.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from hipad.data.delimited import read_delimited
from hipad.data.file_format import LIMITS

REPEATS = 3
WORDS = ("red, dark", "green", "blue")
SHAPES = {  # rows, columns of numbers, columns of quoted text, separator, decimal sign
    "tall": (300_000, 9, 0, ",", "."),
    "wide": (80, 12_625, 0, ",", "."),
    "decimal commas": (20_000, 100, 0, ";", ","),
    "quoted texts": (100_000, 6, 4, ",", "."),
}


def table(rows: int, numbers: int, texts: int, separator: str, decimal: str) -> bytes:
    """Return a table of normal numbers, texts and a label, as a file has it."""
    rng = np.random.default_rng(0)
    values = rng.normal(scale=10.0, size=(rows, numbers)).round(3)
    kinds = rng.integers(len(WORDS), size=(rows, texts))
    lines = [separator.join([*(f"c{j}" for j in range(numbers + texts)), "label"])]
    for i in range(rows):
        cells = [f"{value:g}".replace(".", decimal) for value in values[i]]
        cells += [f'"{WORDS[kind]}"' for kind in kinds[i]]
        lines.append(separator.join([*cells, "well" if i % 3 else "ill"]))
    return "\n".join([*lines, ""]).encode()


def arrow(data: bytes, options: csv.ConvertOptions, separator: str) -> pa.Table:
    """Return the table as Arrow reads it."""
    return csv.read_csv(
        pa.py_buffer(data),
        csv.ReadOptions(use_threads=False, block_size=2**24),
        csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        options,
    )


def read_text(data: bytes, separator: str, decimal: str) -> None:
    """Read every cell as text, then cast columns of numbers."""
    names = data.split(b"\n", 1)[0].decode().split(separator)
    types = dict.fromkeys(names, pa.string())
    for column in arrow(data, csv.ConvertOptions(column_types=types), separator).columns:
        cells = pc.replace_substring(column, decimal, ".") if decimal != "." else column
        try:
            cells.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:  # a column of texts
            continue


def read_typed(data: bytes, separator: str, decimal: str) -> None:
    """Let Arrow find the types."""
    found = arrow(data, csv.ConvertOptions(decimal_point=decimal), separator)
    for column in found.columns:
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            column.to_numpy()


def seconds(read: Callable[[], object]) -> float:
    """Return the least processor time of a few readings."""
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        read()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """Print the times, and Arrow's as multiples of ours."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    print("| shape | MB | ours, s | Arrow, text / ours | Arrow, typed / ours |")
    print("|---|---|---|---|---|")
    for name, (rows, numbers, texts, separator, decimal) in SHAPES.items():
        data = table(rows, numbers, texts, separator, decimal)
        own = seconds(lambda data=data: read_delimited(data, LIMITS))
        style = (data, separator, decimal)
        kept = seconds(lambda style=style: read_text(*style))
        typed = seconds(lambda style=style: read_typed(*style))
        size = len(data) / 2**20
        print(f"| {name} | {size:.0f} | {own:.2f} | {kept / own:.2f} | {typed / own:.2f} |")


if __name__ == "__main__":
    main()
