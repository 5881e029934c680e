"""Run a piece of Python in a process of its own that may use only so much memory and time."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run_limited(
    code: str, *arguments: str | Path, gigabytes: float = 1.5, seconds: float = 20
) -> str:
    """What the code prints; it fails if it ends in an error, or needs more memory or time.

    `arguments` are its `sys.argv[1:]`. Memory is address space, of which the libraries alone take
    about half a gigabyte; time is that of the processor.
    """
    most = int(gigabytes * 2**30)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))

    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | one_thread,
        capture_output=True,
        text=True,
        timeout=10 * seconds,  # on the wall, where neighbours count too
        preexec_fn=limit,
    )
    if done.returncode:
        raise AssertionError(f"ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def read_limited(path: Path, *, gigabytes: float = 1.5, seconds: float = 20) -> str:
    """Read a file under limits: `table ROWS COLUMNS`, or the sentence that refuses it."""
    return run_limited(READ, path, gigabytes=gigabytes, seconds=seconds).strip()


READ = """
import sys
from hipad.data import read_table
from hipad.errors import DataError
try:
    table = read_table(sys.argv[1])
    print("table", table.n_rows, len(table.names))
except DataError as error:
    print(error)
"""
