"""From a key to the meaning of the rule beside its line, in a real browser.

A digit of a number is typed and taken back again, each when the page has come to rest. The clock is
the browser's: it runs from the key until the new meaning stands in the page. The editor waits 0.4
seconds for a further key before it sends the text, and that is part of the figure.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.reporting import Options, progress, table, verdict
from benchmarks.serving import FLAGS, chromium_path, serving, streamlit

PATIENCE = 120_000  # milliseconds
GOAL = 0.6  # seconds, the median
REST = 1_500  # milliseconds between two keys
RULES = {  # sample -> a rule, around the place where digits are typed
    "pima": ("Age >= 1", " => diabetic"),
    "ksvm-s-10k": ("mean(K1) >= 1", " => positive"),
}
# Notes when the next key is pressed and when the last meaning has changed; the editor lies in a
# shadow root of the page.
WATCH = """(content) => {
  const page = content.getRootNode();
  const last = () => [...page.querySelectorAll(".hipad-means")].at(-1)?.textContent;
  const before = last();
  let pressed;
  content.addEventListener("keydown", () => (pressed = performance.now()), { once: true });
  window.answered = new Promise((answer) => {
    const look = () => {
      if (last() === before) requestAnimationFrame(look);
      else answer((performance.now() - pressed) / 1000);
    };
    look();
  });
}"""


def run(options: Options) -> str:
    """One row for each sample."""
    chromium = chromium_path()
    if chromium is None:
        return "No chromium here: nothing was measured."
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(streamlit(), Path(folder) / "log.txt") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        rows = []
        for sample in filter(options.wants, RULES):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(PATIENCE)
            seconds = measure(page, server.address, sample, options.count(21, 2))
            page.close()
            progress(f"{sample}: {' '.join(f'{each:.2f}' for each in seconds)}")
            median = verdict(float(np.median(seconds)), GOAL, at_least=False, digits=2)
            rows.append([sample, len(seconds), median, f"{min(seconds):.2f}"])
        browser.close()
    return table(["rules on", "keys", "median, s", "least, s"], rows)


def measure(page: Page, address: str, sample: str, keys: int) -> list[float]:
    """Seconds from each key to the new meaning."""
    page.goto(address)
    page.locator(f".st-key-sample_{sample} button").first.click()
    page.get_by_role("heading", name="Preparation", exact=True).wait_for()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Rules").click()
    page.locator(".hipad-editor[data-names]").wait_for()
    editor = page.locator(".cm-content")
    left, right = RULES[sample]
    editor.press("Control+a")
    page.keyboard.insert_text(left + right)
    expect(page.locator(".hipad-means")).to_have_count(1, timeout=PATIENCE)
    for _ in right:
        page.keyboard.press("ArrowLeft")
    seconds = []
    for n in range(keys):
        page.wait_for_timeout(REST)
        editor.evaluate(WATCH)
        page.keyboard.press("Backspace" if n % 2 else "5")
        seconds.append(float(page.evaluate("() => window.answered")))
    return seconds
