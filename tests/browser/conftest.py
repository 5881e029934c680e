"""A server of the app and a real browser to visit it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.serving import FLAGS, streamlit
from benchmarks.serving import serving as start
from hipad.utils import APP

PATIENCE = 60_000  # milliseconds: nothing is timed here, a busy machine may be slow

expect.set_options(timeout=PATIENCE)


@contextmanager
def serving(log: Path, *, script: Path = APP, **environment: str) -> Iterator[str]:
    """A server of its own; yields its address, and notes its process beside the log.

    What it keeps of people's work lies beside the log too, never in the tester's own place.
    """
    environment = {
        "HIPAD_KEEP": "on",
        "HIPAD_KEEP_FOLDER": str(log.with_name("kept")),
        **environment,
    }
    with start(streamlit(script=script), log, environment=environment) as server:
        log.with_name("pid.txt").write_text(str(server.pid))
        yield server.address


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server that all tests share."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with serving(log) as address:
        yield address
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="session")
def browser(browser_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
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
