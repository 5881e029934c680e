"""A table that comes again is the one that came last."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_continuing import resume, upload

pytestmark = pytest.mark.browser


def table(prefix: str) -> str:
    """The same patients under IDs with this beginning."""
    rows = (f"{prefix}{i:03d},{i % 7},{i % 5},{'sick' if i % 2 else 'well'}" for i in range(60))
    return "\n".join(["patient_id,a,b,state", *rows])


def has_ids(page: Page, prefix: str) -> None:
    expect(page.locator(".st-key-understanding").first).to_contain_text(f"{prefix}000")


def test_a_table_uploaded_again_with_corrected_ids_comes_back_with_them(
    server: str, visit: Visit
) -> None:
    page = visit(server)
    upload(page, "mine.csv", table("OLD"))
    has_ids(page, "OLD")
    upload(page, "mine.csv", table("NEW"))
    has_ids(page, "NEW")
    page.reload()
    resume(page)
    has_ids(page, "NEW")
    expect(page.locator(".st-key-understanding").first).not_to_contain_text("OLD000")
