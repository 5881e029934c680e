"""A server of the app, and the browser to visit it with: for measurements and for tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.memory import megabytes

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


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


@cache
def chromium_path() -> str | None:
    """An installed browser, else the one that `playwright install chromium` brought, else None."""
    installed = next(filter(None, map(shutil.which, BROWSERS)), None)
    return installed or _playwrights_own()


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright  # here, as it takes a while

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def streamlit(*options: str, script: Path = ROOT / "app.py") -> list[str]:
    """The command that serves a script on any free port, with further options of Streamlit."""
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless=true"]
    return [*command, "--server.port=0", "--server.fileWatcherType=none", *options]


@contextmanager
def serving(
    command: Sequence[str],
    log: Path,
    *,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Start a server in a folder, and end it when it is left; what it prints goes to the log."""
    surroundings = {**os.environ, "HIPAD_KEEP": "off", **(environment or {})}
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=surroundings, stdout=output, stderr=output
        )
    try:
        yield Server(_address(log, process), process.pid)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:  # a frozen server does not hear
            process.kill()
            process.wait(20)


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Where the server says that it answers."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"URL: (http://\S+)", log.read_text()):
            return found[1]
        time.sleep(0.1)
    raise TimeoutError(f"the app did not start: {log.read_text()[-2_000:]}")
