"""The app with 50,000 columns in a real browser: how long reruns and slider moves take; a replay.

A rerun is asked for by Streamlit's own key (r) and ends when the page says that its script is done.
A slider move is one key press on a threshold of the workbench; it ends when the refit's figures are
on the page. Seconds are those of the wall, the least of several: what a user waits when the machine
does nothing else. The replay of the run is watched at three speeds: frames that it drew a second,
and the processor time of the browser's process for the page, as a share of one core.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.reporting import Options, progress, table, verdict
from benchmarks.serving import FLAGS, chromium_path, serving, streamlit

PATIENCE = 120_000  # milliseconds
GOAL = 1.0
SPEEDS = (0.5, 1, 4)
FRAMES = 30.0  # a second, at least
WATCHED = 6_000  # milliseconds
# The player lies in a shadow root of the page.
PLAYER = (
    "[...document.querySelectorAll('.st-key-run_show *')].map((e) => e.shadowRoot)"
    ".find((root) => root)?.querySelector('section')?.player"
)
STATE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState"


class Runs:
    """Counts the runs of the whole script that the server calls over: some are too short to see."""

    def __init__(self, page: Page) -> None:
        self.page, self.over = page, 0
        page.on("websocket", lambda socket: socket.on("framereceived", self.hear))

    def hear(self, frame: str | bytes) -> None:
        message = ForwardMsg()
        message.ParseFromString(frame if isinstance(frame, bytes) else frame.encode())
        is_end = message.WhichOneof("type") == "script_finished"
        self.over += is_end and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY

    def seconds(self, act: Callable[[], None], end: Callable[[Page], None] | None = None) -> float:
        """From an act to the end of the run of the script that it causes."""
        began, before = time.perf_counter(), self.over
        act()
        while self.over == before:
            self.page.wait_for_timeout(5)
        (end or until_done)(self.page)
        took = time.perf_counter() - began
        settle(self.page)
        return took


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
    runs = Runs(page)
    page.goto(address)
    start = page.locator(f".st-key-show_{sample} button").first
    start.wait_for()
    first = runs.seconds(start.click, until_result)
    rows = [["one click on the sample, to the result", f"{first:.2f}"]]
    rows += [replay(page, speed) for speed in SPEEDS]
    for name in ("Data", "Rules", "Run", "Experiments", "Workbench"):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name, exact=True).wait_for()
        settle(page)
        least = min(runs.seconds(lambda: page.keyboard.press("r")) for _ in range(repeats))
        progress(f"{name}: {least:.2f} s")
        rows.append([f"rerun of {name}", verdict(least, GOAL, at_least=False, digits=2)])
    slider = page.locator("[class*=st-key-bench_threshold] input[type=range]").first
    slider.focus()
    least = min(runs.seconds(lambda: slider.press("ArrowRight")) for _ in range(repeats))
    rows.append(["slider move in the workbench", verdict(least, GOAL, at_least=False, digits=2)])
    return rows


def replay(page: Page, speed: float) -> list[str]:
    """Watch the replay of the run for some seconds."""
    settle(page)
    page.evaluate(
        f"() => {{ const player = {PLAYER}; player.looping = true; player.setSpeed({speed}); "
        "player.seek(0); player.toggle() }"
    )
    frames, share = watched(page)
    page.evaluate(f"() => {PLAYER}.pause()")
    progress(f"replay at speed {speed}: {frames:.0f} frames a second, {share:.0%} of a core")
    drawn = verdict(frames, FRAMES, digits=0)
    return [f"replay at speed {speed}", f"{drawn} frames a second, {share:.0%} of a core"]


def watched(page: Page) -> tuple[float, float]:
    """Frames that the player draws a second, and the page's share of a core."""
    counted = f"() => [{PLAYER}.frames, performance.now()]"
    busy = renderer_seconds()
    begin, began = page.evaluate(counted)
    page.wait_for_timeout(WATCHED)
    end, ended = page.evaluate(counted)
    took = (ended - began) / 1000
    return (end - begin) / took, (renderer_seconds() - busy) / took


def renderer_seconds() -> float:
    """Processor time of all pages of browsers that this process started."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"--type=renderer" in (folder / "cmdline").read_bytes() and is_own(folder):
                total += sum(map(int, words(folder)[11:13]))
        except OSError:
            continue  # it has ended meanwhile
    return total / os.sysconf("SC_CLK_TCK")


def is_own(folder: Path) -> bool:
    """Whether a process descends from this one."""
    while (parent := int(words(folder)[1])) > 1:
        if parent == os.getpid():
            return True
        folder = folder.parent / str(parent)
    return False


def words(folder: Path) -> list[str]:
    """What the system tells of a process, from its state on."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def until_done(page: Page) -> None:
    page.wait_for_function(f"{STATE} === 'notRunning'", polling=5)


def until_result(page: Page) -> None:
    page.get_by_role("heading", name="Result", exact=True).wait_for()
    until_done(page)


def settle(page: Page) -> None:
    """Let charts and late elements come to rest."""
    until_done(page)
    page.wait_for_timeout(1_000)
