"""Many people at one server: 25 browsers run ksvm-s-10k at once, and then all leave.

Every session is a browser context of its own, which shares nothing with the others. All ask for the
sample within moments; what is counted is how many end with a result, after how long, what the
server's process holds meanwhile, and what it still holds when all have closed their tabs and the
time to reconnect is over, while nobody visits. The first visit is made and left before, so that
modules which are loaded once count as the server's own.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks.reporting import Options, progress, table
from benchmarks.serving import FLAGS, Server, chromium_path, serving, streamlit

SAMPLE = "ksvm-s-10k"
KEPT_SECONDS = 10  # the usual two minutes to reconnect would only be waited for
PATIENCE = 900.0  # seconds until the last session has its result
LEAVING = KEPT_SECONDS + 20.0  # seconds from the last tab's closing to the last look


@dataclass
class Visitor:
    """One session, and when its result was seen."""

    context: BrowserContext
    page: Page
    seconds: float | None = None


def run(options: Options) -> str:
    """How many finish, the time they take, and the server's memory before, with them and after."""
    chromium = chromium_path()
    if chromium is None:
        return "No chromium here: nothing was measured."
    count = options.count(25, 3)
    command = streamlit(f"--server.disconnectedSessionTTL={KEPT_SECONDS}")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(command, Path(folder) / "log.txt") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        started = server.megabytes()
        work(browser, server, 1)
        alone = server.megabytes()
        busy = server.seconds()
        visitors, most = work(browser, server, count)
        busy = server.seconds() - busy
        left = server.megabytes()
        browser.close()
    megabytes = {"started": started, "alone": alone, "most": most, "left": left}
    return report(visitors, megabytes, busy)


def work(browser: Browser, server: Server, count: int) -> tuple[list[Visitor], float]:
    """Open the sessions, let all run, close them and wait; also the server's most megabytes."""
    visitors = [arrive(browser, server) for _ in range(count)]
    began = time.perf_counter()
    for visitor in visitors:
        visitor.page.locator(f".st-key-show_{SAMPLE} button").first.click(no_wait_after=True)
    most = await_results(visitors, server, began)
    for visitor in visitors:
        visitor.context.close()
    time.sleep(LEAVING)
    return visitors, most


def arrive(browser: Browser, server: Server) -> Visitor:
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.goto(server.address)
    page.locator(f".st-key-show_{SAMPLE} button").first.wait_for()
    return Visitor(context, page)


def await_results(visitors: list[Visitor], server: Server, began: float) -> float:
    """Look around until everybody has a result or an error; the most megabytes on the way."""
    most = server.megabytes()
    while time.perf_counter() - began < PATIENCE:
        waiting = [visitor for visitor in visitors if visitor.seconds is None]
        if not waiting:
            break
        for visitor in waiting:
            if visitor.page.get_by_role("heading", name="Result", exact=True).count():
                visitor.seconds = time.perf_counter() - began
                progress(f"a result after {visitor.seconds:.0f} s")
            most = max(most, server.megabytes())
        waiting[0].page.wait_for_timeout(200)
    return most


def report(visitors: list[Visitor], megabytes: dict[str, float], busy: float) -> str:
    """The table."""
    count = len(visitors)
    times = sorted(visitor.seconds for visitor in visitors if visitor.seconds is not None)
    each = (megabytes["most"] - megabytes["alone"]) / count
    finished = f"{len(times)} of {count} (goal: all, {'met' if len(times) == count else 'missed'})"
    rows = [
        [f"sessions with a result of {SAMPLE}", finished],
        ["first and last result", f"{times[0]:.0f} s and {times[-1]:.0f} s" if times else "none"],
        ["processor time of the server, each session", f"{busy / count:.1f} s"],
        ["server, just started", f"{megabytes['started']:.0f} MB"],
        ["server, one session came and went", f"{megabytes['alone']:.0f} MB"],
        [f"server, most with {count} sessions", f"{megabytes['most']:.0f} MB"],
        ["each session, at that moment", f"{each:.1f} MB"],
        ["server, all closed, nobody visits", f"{megabytes['left']:.0f} MB"],
    ]
    return table([f"{count} sessions at once", "value"], rows)
