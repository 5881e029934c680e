"""Experiments in a real browser: start, watch, stop, go on, take away."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.rule_typing import type_rules
from tests.browser.test_path import go, heading, press
from tests.pages.test_experiments_page import small_table

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_a_rule_is_doubted_from_the_workbench(server, visit):
    page = visit(server)
    file = {"name": "small.csv", "mimeType": "text/csv", "buffer": small_table()}
    page.locator("[class*=st-key-upload_] input[type=file]").set_input_files(file)
    expect(heading(page, "Preparation")).to_be_visible()
    go(page, "Rules")
    type_rules(page, "f0 >= 1 => ill\nf1 <= -1 => well")
    expect(page.get_by_text("2 rules on, 0 off")).to_be_visible()
    go(page, "Workbench")
    press(page, "bench_first")
    page.get_by_text("Each rule: plain sliders").click()
    press(page, "bench_doubt_1")
    expect(heading(page, "Experiments")).to_be_visible()
    rule = page.get_by_role("combobox", name="Rule")
    expect(rule).to_have_value("rule 2: f1 <= -1 => well")

    press(page, "lab_start_doubt")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    press(page, "lab_stop_doubt")
    go_on = page.get_by_role("button", name="Continue")
    expect(go_on).to_be_visible()
    with page.expect_download() as caught:
        page.get_by_role("button", name="All results (CSV)").click()
    assert Path(caught.value.path()).read_text().startswith("data,seed,")
    go_on.click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
