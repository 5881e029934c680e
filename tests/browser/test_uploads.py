"""Files that are uploaded: a question or a message stands where the file was dropped, in view."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_fortress import send
from tests.data.gene_files import GENES_TSV, SERIES

pytestmark = pytest.mark.browser
PICTURES = os.environ.get("HIPAD_PICTURES", "")


def picture(page: Page, name: str) -> None:
    """Keep a picture where somebody wants to look at it."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def in_view(place: Locator) -> None:
    expect(place).to_be_visible()
    expect(place).to_be_in_viewport()


@pytest.mark.long
def test_what_is_wrong_is_told_where_the_file_was_dropped(server, visit):
    page = visit(server)
    place = page.locator(".st-key-upload_table").first
    place.scroll_into_view_if_needed()
    send(page, "GSE1.txt", SERIES[:-40])
    in_view(page.get_by_test_id("stAlert").filter(has_text="download it again"))
    picture(page, "refused")
    page.locator(".st-key-dismiss_upload_table button").first.click()
    expect(page.get_by_test_id("stAlert").filter(has_text="download it again")).to_have_count(0)


@pytest.mark.long
def test_a_file_of_genes_is_turned_after_a_question_and_can_be_removed(server, visit):
    page = visit(server)
    page.locator(".st-key-upload_table").first.scroll_into_view_if_needed()
    send(page, "genes.tsv", GENES_TSV)
    in_view(page.get_by_text("one row per gene", exact=False).last)
    picture(page, "question")
    page.locator(".st-key-pending_use button").first.click()
    expect(page.get_by_test_id("stMetric").filter(has_text="Features")).to_contain_text("30")
    picture(page, "used")
    page.get_by_text("Load other data").click()
    expect(page.locator(".st-key-upload_remove button").first).to_be_visible()
    picture(page, "in_use")
    page.locator(".st-key-upload_remove button").first.click()
    expect(page.locator(".st-key-first_example button").first).to_be_visible()
