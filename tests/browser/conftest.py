"""A server of the app and a real browser to visit it with."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000  # milliseconds: nothing is timed here, a busy machine may be slow

expect.set_options(timeout=PATIENCE)


@contextmanager
def serving(log: Path, *, script: Path = ROOT / "app.py", **environment: str) -> Iterator[str]:
    """A server of its own; yields its address, and notes its process beside the log."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += ["--server.headless", "true"]
    command += ["--server.port", str(port), "--server.fileWatcherType", "none"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **environment}, stdout=output, stderr=output
        )
    log.with_name("pid.txt").write_text(str(process.pid))
    try:
        _wait_for(port, process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:  # a frozen server does not hear
            process.kill()
            process.wait(20)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail(f"the app did not start: {log.read_text()[-2_000:]}", pytrace=False)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server that all tests share."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with serving(log) as address:
        yield address
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield browser
        browser.close()


Visit = Callable[[str], Page]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open an address in a browser that shares nothing with the others."""
    contexts = []

    def open_page(address: str) -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
