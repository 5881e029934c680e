"""A server of the app for measurements, and the browser to visit it with."""

from __future__ import annotations

import os
import shutil
import socket
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


def chromium_path() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    """A server on a free port, with further options of `streamlit run`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    command += [f"--server.port={port}", "--server.fileWatcherType=none", *options]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=log, stderr=log)
        try:
            _wait_for(port)
            yield Server(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.terminate()
            process.wait(20)


def _wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the app did not start within a minute")
