"""A server of the app for measurements, and the browser to visit it with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory import megabytes

ROOT = Path(__file__).resolve().parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@dataclass(frozen=True)
class Server:
    """Where it answers, and the process that it is."""

    address: str
    pid: int

    def megabytes(self) -> float:
        """What the process holds in memory now."""
        return megabytes("VmRSS", Path("/proc") / str(self.pid))

    def seconds(self) -> float:
        """Processor time of the process so far."""
        words = (Path("/proc") / str(self.pid) / "stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def chromium_path() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    """A server on a free port, with further options of `streamlit run`."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    command += ["--server.port=0", "--server.fileWatcherType=none", *options]
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=log, stderr=log)
        try:
            yield Server(_address(Path(log.name)), process.pid)
        finally:
            process.terminate()
            process.wait(20)


def _address(log: Path) -> str:
    """Where the server says that it answers."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := re.search(r"URL: (http://\S+)", log.read_text()):
            return found[1]
        time.sleep(0.1)
    raise TimeoutError("the app did not start within a minute")
