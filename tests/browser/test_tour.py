"""The tour: eight scenes by the right arrow alone, and everything anew for the next talk."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE
from ui.tour import SCENES, WORTH, WRONG

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_the_tour_runs_from_start_to_end_by_the_keyboard_alone(server, visit):
    page = visit(f"{server}/?tour")
    shown = {
        2: "of 64 test patients right",
        WRONG: "This rule may be the cause: abl_high",
        WORTH: "of 96 fits",
    }
    for at, scene in enumerate(SCENES):
        expect(page.get_by_text(f"{at + 1} of {len(SCENES)}: {scene.title}.")).to_be_visible()
        page.wait_for_function(f"document.documentElement.dataset.tour === '{at}'")
        if at in shown:
            expect(page.get_by_text(shown[at]).first).to_be_visible(timeout=4 * PATIENCE)
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Your own data").first).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text(f"7 of {len(SCENES)}")).to_be_visible()
    expect(page.get_by_text("What each feature adds")).to_be_visible(timeout=4 * PATIENCE)
    page.get_by_role("button", name="Reset for the next talk").click()
    expect(page.get_by_text(f"1 of {len(SCENES)}")).to_be_visible()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar.get_by_text("all-bcrabl: 15 patients")).to_be_visible()
    expect(sidebar.get_by_text("Run:")).not_to_be_attached()
