"""The app with 50,000 columns in a real browser: how long a page's rerun and a slider move take.

A rerun is asked for by Streamlit's own key (r) and ends when the page says that its script is done.
A slider move is one key press on a threshold of the workbench; it ends when the refit's figures are
on the page. Seconds are those of the wall, the least of several: what a user waits when the machine
does nothing else.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.reporting import Options, progress, table, verdict
from benchmarks.serving import FLAGS, chromium_path, serving, streamlit

PATIENCE = 120_000  # milliseconds
GOAL = 1.0
STATE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState"


def run(options: Options) -> str:
    """One row per page, and one for the slider."""
    chromium = chromium_path()
    if chromium is None:
        return "No chromium here: nothing was measured."
    sample = "ksvm-s-10k" if options.quick else "ksvm-s-50k"
    repeats = options.count(5, 2)
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(streamlit(), Path(folder) / "log.txt") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE)
        rows = measure(page, server.address, sample, repeats)
        browser.close()
    return table(["with " + sample, "seconds"], rows)


def measure(page: Page, address: str, sample: str, repeats: int) -> list[list[str]]:
    """First visit to result, a rerun of every page, a move of a slider."""
    page.goto(address)
    start = page.locator(f".st-key-show_{sample} button").first
    start.wait_for()
    first = seconds(page, start.click, until_result)
    rows = [["one click on the sample, to the result", f"{first:.2f}"]]
    for name in ("Data", "Rules", "Run", "Workbench"):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name, exact=True).wait_for()
        settle(page)
        least = min(seconds(page, lambda: page.keyboard.press("r")) for _ in range(repeats))
        progress(f"{name}: {least:.2f} s")
        rows.append([f"rerun of {name}", verdict(least, GOAL, at_least=False, digits=2)])
    slider = page.locator("[class*=st-key-bench_threshold] input[type=range]").first
    slider.focus()
    least = min(seconds(page, lambda: slider.press("ArrowRight")) for _ in range(repeats))
    rows.append(["slider move in the workbench", verdict(least, GOAL, at_least=False, digits=2)])
    return rows


def seconds(
    page: Page, act: Callable[[], None], end: Callable[[Page], None] | None = None
) -> float:
    """From an act to the end of the run of the script that it causes."""
    began = time.perf_counter()
    act()
    page.wait_for_function(f"{STATE} === 'running'", polling=5)
    (end or until_done)(page)
    took = time.perf_counter() - began
    settle(page)
    return took


def until_done(page: Page) -> None:
    page.wait_for_function(f"{STATE} === 'notRunning'", polling=5)


def until_result(page: Page) -> None:
    page.get_by_role("heading", name="Result", exact=True).wait_for()
    until_done(page)


def settle(page: Page) -> None:
    """Let charts and late elements come to rest."""
    until_done(page)
    page.wait_for_timeout(1_000)
