"""Names that are markup, addresses or formulas are shown as they are and do nothing."""

from __future__ import annotations

import csv
import io

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_path import go, heading, press

pytestmark = pytest.mark.browser

HOSTILE = (
    "https://evil.example",
    "www.evil.example",
    "me@evil.example",
    "[x](javascript:1)",
    "<img src=x>",
    '<a href="https://evil.example">y</a>',
    "$x$",
    ":material/delete:",
    '=HYPERLINK("https://evil.example")',
    "long" * 60,
    "\u202egnp.exe",
    "two\nlines",
)
OUTSIDE = "a[href*=evil]:not([href^='#'])"  # headings have anchors within the page
YES, NO = "https://evil.example/yes", "[no](https://evil.example)"


def hostile_table() -> bytes:
    """24 patients whose columns and classes have such names; all columns carry the class."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*HOSTILE, "www.evil.example/class"])
    for i in range(24):
        values = [(i % 2) + 0.1 * ((i * (j + 3)) % 7) for j in range(len(HOSTILE))]
        writer.writerow([*values, YES if i % 2 else NO])
    return text.getvalue().encode()


def look(page: Page) -> None:
    """Nothing on this page leads elsewhere, shows a picture or a formula, or exports a table."""
    page.wait_for_timeout(1_500)  # charts and tables draw themselves after the text
    for active in (OUTSIDE, "a[href^=mailto]", "a[href^=javascript]", "svg a", "img[src=x]"):
        found = [
            each.evaluate("e => e.parentElement.outerHTML") for each in page.locator(active).all()
        ]
        assert not found, found
    assert page.locator(".katex").count() == 0
    for table in page.get_by_test_id("stDataFrame").filter(visible=True).all():
        table.scroll_into_view_if_needed()
        table.hover()
        page.wait_for_timeout(200)
        toolbar = table.locator("xpath=ancestor::*[@data-testid='stFullScreenFrame'][1]")
        names = toolbar.get_by_role("button").all()
        labels = [name.get_attribute("aria-label") or "" for name in names]
        assert any("ullscreen" in label for label in labels), labels  # the toolbar is there
        assert not any("ownload" in label for label in labels), labels


@pytest.mark.long
def test_hostile_names_are_names(server, visit):
    page = visit(server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    file = {"name": "www.evil.example.csv", "mimeType": "text/csv", "buffer": hostile_table()}
    page.locator("[class*=st-key-upload_] input[type=file]").set_input_files(file)
    expect(heading(page, "Preparation")).to_be_visible()
    look(page)
    go(page, "Rules")
    rules = page.locator("textarea").first
    rules.fill(f'`{HOSTILE[0]}` >= 1 => "{YES}"\n`{HOSTILE[5]}` <= 1 => "{NO}"')
    rules.press("Control+Enter")
    look(page)
    go(page, "Run")
    press(page, "run")
    expect(heading(page, "Result")).to_be_visible()
    look(page)
    assert not [url for url in asked if "evil" in url or url.endswith("/x")]
