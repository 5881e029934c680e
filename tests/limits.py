"""Run a piece of Python in a process of its own that may use only so much memory and time."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESERVED = 2.0  # gigabytes
REPORT = """
import atexit, re, sys
def report():
    status = open("/proc/self/status").read()
    sys.stderr.write("\\n" + re.search(r"VmHWM:\\s+(\\d+)", status)[1])
atexit.register(report)
"""


def run_limited(
    code: str, *arguments: str | Path, gigabytes: float = 1.5, seconds: float = 20
) -> str:
    """What the code prints; it fails if it ends in an error, or needs more memory or time.

    `arguments` are its `sys.argv[1:]`. Memory is the most that the process held at once, its
    libraries (0.2 GB) included; the system stops it when it asks for much more, as libraries
    reserve addresses that they never use. Time is that of the processor.
    """
    most = int((gigabytes + RESERVED) * 2**30)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))

    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", REPORT + code, *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | one_thread,
        capture_output=True,
        text=True,
        timeout=10 * seconds,  # on the wall, where neighbours count too
        preexec_fn=limit,
    )
    if done.returncode:
        raise AssertionError(f"ended with {done.returncode}:\n{done.stderr[-3000:]}")
    peak = int(done.stderr.split()[-1]) / 2**20
    assert peak <= gigabytes, f"expected at most {gigabytes} GB of memory, got {peak:.2f} GB"
    return done.stdout


def read_limited(path: Path, *, gigabytes: float = 1.5, seconds: float = 20) -> str:
    """Read a file under limits: `table ROWS COLUMNS`, or the sentence that refuses it."""
    return run_limited(READ, path, gigabytes=gigabytes, seconds=seconds).strip()


READ = """
import sys
from hipad.data import read_table
from hipad.exceptions import DataError
try:
    table = read_table(sys.argv[1])
    print("table", table.n_rows, len(table.names))
except DataError as error:
    print(error)
"""
