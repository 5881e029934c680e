"""The strip on the Data page: what was found of a file, and one item changed with one click."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_fortress import send
from tests.browser.test_uploads import picture

pytestmark = [pytest.mark.browser, pytest.mark.long]

ROWS = "".join(
    f"{30 + i};{i % 7},{i % 10};{'krank' if i % 3 else 'gesund'};{'m' if i % 2 else 'offen'}\n"
    for i in range(40)
)
FILE = f"Klinik;;;\nAlter;CRP;Status;Sex\n{ROWS}999;k.A.;krank;m\nSumme;1;2;3\n".encode()


def strip(page: Page):
    return page.locator(".st-key-understanding").first


def test_the_strip_tells_how_a_file_was_read_and_changes_it(server, visit):
    page = visit(server)
    send(page, "klinik.csv", FILE)
    for words in ("line 2", "semicolons", "comma (1,5)", "UTF-8", "k.A.", "as in the file",
                  "krank"):  # fmt: skip
        expect(strip(page)).to_contain_text(words)
    expect(strip(page)).to_contain_text("1 cell 999 in column 'Alter'")
    expect(strip(page)).to_contain_text("seems to sum up the others")
    picture(page, "understood")
    strip(page).get_by_role("button", name="Correct as read").first.click()
    expect(strip(page)).not_to_contain_text("seems to sum up the others")
    gaps = page.get_by_test_id("stMetric").filter(has_text="Missing values")
    expect(gaps).to_contain_text("1")
    gap = strip(page).get_by_role("button", name="999: a gap")
    expect(gap).to_have_count(1)  # that of the strip before has gone
    gap.click()
    expect(gaps).to_contain_text("2")
    features = page.get_by_test_id("stMetric").filter(has_text="Features")
    expect(features).to_contain_text("4")
    strip(page).get_by_role("button", name="Missing values:").click()
    words = page.get_by_role("textbox", name="Words for a missing value")
    words.fill("k.A., offen")
    page.get_by_role("button", name="Use these words").click()
    expect(strip(page).get_by_role("button", name="Missing values:").last).to_contain_text("offen")
    expect(features).to_contain_text("3")
    picture(page, "understood_otherwise")
