"""A click on a tile or on a bar opens its feature."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from benchmarks.app import PLAYER
from tests.browser.test_path import go, heading, press

pytestmark = pytest.mark.browser


def test_tiles_and_bars_open_their_feature(server, visit):
    page = visit(server)
    press(page, "show_ksvm-s-10k")
    expect(heading(page, "Result")).to_be_visible()
    page.wait_for_function(
        f"() => {{ const p = {PLAYER}; return p && !p.live && p.at === p.last }}"
    )
    expect(page.get_by_text("What the rules did")).to_be_visible()
    named = page.get_by_role("dialog").get_by_text("Rules that use it")
    page.get_by_role("img", name="Image of all features").first.click(position={"x": 15, "y": 30})
    expect(named).to_be_visible()
    expect(page.get_by_role("dialog").get_by_text("Block: K1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(named).to_be_hidden()

    page.locator("[class*=st-key-result_features] .barlayer .point path").first.click(force=True)
    expect(named).to_be_visible()
    page.keyboard.press("Escape")
    expect(named).to_be_hidden()

    go(page, "Workbench")
    expect(page.locator(".view[data-rest]")).to_be_visible()
    page.get_by_role("img", name="Field of all features").click(position={"x": 15, "y": 30})
    expect(named).to_be_visible()
