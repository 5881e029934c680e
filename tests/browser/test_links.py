"""An address restores a screen, and the dice throw another one."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.test_path import heading, press

pytestmark = pytest.mark.browser

RULES = "mean(K2) >= 3 => positive"
LINK = f"sample=ksvm-s-10k&seed=7&n_train=60&n_features=600&lambda1=0.1&rules={quote(RULES)}"


@pytest.mark.parametrize("page_name", ["", "run"])
def test_a_link_restores_data_seed_and_rules_and_runs(server, visit, page_name):
    page = visit(f"{server}/{page_name}?{LINK}")
    expect(heading(page, "Result")).to_be_visible()
    expect(page.get_by_role("button", name="Seed 7")).to_be_visible()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar.get_by_text("60 samples, 600 features")).to_be_visible()
    expect(page.get_by_text("Right answers without the rules")).to_be_visible()
    page.get_by_role("button", name="Flip this rule").click()
    expect(page.get_by_text("mean(K2) ≥ 3 => positive").last).to_be_visible()
    page.keyboard.press("Escape")
    if page_name:
        press(page, "dice")
        expect(
            page.get_by_role("button", name=re.compile(r"^(?!.*Seed 7$).*Seed \d+$"))
        ).to_be_visible()
        expect(heading(page, "Result")).to_be_visible()


def test_a_link_that_cannot_be_used_says_what_is_wrong(server, visit):
    page = visit(f"{server}/?sample=ksvm-s-10k&seed=dice")
    expect(page.get_by_text("expected seed from")).to_be_visible()
    expect(page.get_by_text("Write what you know")).to_be_visible()
