"""The user's path through the app, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import serving
from tests.browser.rule_typing import type_rules

pytestmark = pytest.mark.browser


def press(page: Page, key: str) -> None:
    page.locator(f".st-key-{key} button").first.click()


def go(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
    expect(heading(page, name)).to_be_visible()


def heading(page: Page, name: str):
    return page.get_by_role("heading", name=name, exact=True)


def set_speed(page: Page, presses: int, key: str = "ArrowLeft") -> None:
    """Move the speed slider by the keyboard: everything works without a mouse."""
    page.get_by_role("button", name="Settings").press("Enter")
    thumb = page.locator(".st-key-speed input[type=range]")
    thumb.focus()
    for _ in range(presses):
        thumb.press(key)
    page.wait_for_timeout(500)  # a slider tells its value when it has come to rest
    page.keyboard.press("Escape")
    expect(thumb).to_be_hidden()


def wide_table() -> bytes:
    """40 patients x 10,000 features; the first ten features of the block carry the class."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 10_000)).round(3)
    sick = np.arange(40) % 2 == 0
    X[sick, :10] += 1.5
    names = [*(f"GENE_{j}" for j in range(10)), *(f"p{j}" for j in range(9_990))]
    lines = [",".join([*names, "state"])]
    lines += [
        ",".join([*map(str, row), "sick" if ill else "well"])
        for row, ill in zip(X, sick, strict=True)
    ]
    return "\n".join(lines).encode()


def test_first_visit_to_result(server, visit):
    page = visit(server)
    expect(page.get_by_text("Write what you know")).to_be_visible()
    press(page, "show_ksvm-s-10k")
    expect(heading(page, "Result")).to_be_visible()
    expect(page.get_by_text("it had not seen, the model got")).to_be_visible()
    expect(page.get_by_text("Certified optimal")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.get_by_role("img", name="Image of all features")).to_be_visible()


@pytest.mark.long
def test_a_wide_table_from_upload_to_export(server, visit, tmp_path):
    page = visit(server)
    file = {"name": "wide.csv", "mimeType": "text/csv", "buffer": wide_table()}
    page.locator("[class*=st-key-upload_] input[type=file]").set_input_files(file)
    expect(heading(page, "Preparation")).to_be_visible()
    expect(page.get_by_text("10,000", exact=True).first).to_be_visible()

    page.locator(".st-key-block_name input").fill("genes")
    page.locator(".st-key-block_definition textarea").fill("GENE_*")
    page.get_by_role("button", name="Name this block").click()
    expect(page.get_by_text("No block yet")).not_to_be_visible()

    go(page, "Rules")
    type_rules(page, "mean(genes) >= 1 => sick worth 10 patients")
    expect(page.get_by_text("1 rule on, 0 off")).to_be_visible()

    go(page, "Run")
    expect(page.get_by_text("and 1 rule to learn from")).to_be_visible()
    press(page, "run")
    expect(heading(page, "Result")).to_be_visible()
    expect(page.get_by_text("Compared with the same settings without rules")).to_be_visible()

    with page.expect_download() as caught:
        page.get_by_role("button", name="Weights (CSV)").click()
    weights = Path(caught.value.path()).read_text()
    assert weights.startswith("feature,block,weight")
    assert ",genes," in weights

    go(page, "Workbench")
    slider = page.locator(".view input[type=range]").first
    slider.focus()
    for _ in range(5):
        slider.press("ArrowLeft")
    apply = page.get_by_role("button", name="Apply to the rules")
    expect(apply).to_be_enabled()
    apply.click()
    expect(apply).to_be_disabled()

    page.get_by_text("Session", exact=True).click()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save session").click()
    session = json.loads(Path(caught.value.path()).read_text())
    assert session["blocks"] == {"genes": "GENE_*"}
    assert session["rules"].startswith("mean(genes) >= 0.")
    assert session["rules"].endswith("=> sick worth 10 patients")
    assert session["data_name"] == "wide.csv"


def test_other_data_begin_at_the_top_of_the_page(server, visit):
    page = visit(server)
    press(page, "sample_ksvm-s-10k")
    expect(heading(page, "Preparation")).to_be_visible()
    page.get_by_text("Load other data").click()
    card = page.locator(".st-key-sample_pima button").first
    card.scroll_into_view_if_needed()
    main = page.get_by_test_id("stMain")
    main.evaluate("main => main.scrollTo(0, 600)")
    card.click()
    expect(heading(page, "pima")).to_be_in_viewport()
    assert main.evaluate("main => main.scrollTop") == 0


def test_stop_and_continue(server, visit):
    page = visit(server)
    press(page, "sample_ksvm-s-10k")
    expect(heading(page, "Preparation")).to_be_visible()
    go(page, "Run")
    set_speed(page, 6)
    press(page, "run")
    expect(page.get_by_role("img", name="Features in the model")).to_be_visible()
    press(page, "run_stop")
    expect(page.get_by_text("Stopped before the end").first).to_be_visible()
    expect(heading(page, "Result so far (not final)")).to_be_visible()
    set_speed(page, 6, "ArrowRight")
    press(page, "run_go_on")
    expect(heading(page, "Result")).to_be_visible()


def test_two_browsers_never_see_each_others_data(server, visit):
    first, second = visit(server), visit(server)
    press(first, "sample_pima")
    expect(first.get_by_text("Pregnancies").first).to_be_attached()
    press(second, "sample_ksvm-s-10k")
    expect(heading(second, "Preparation")).to_be_visible()
    for page, own, other in ((first, "pima", "ksvm-s-10k:"), (second, "ksvm-s-10k", "pima:")):
        go(page, "Run")
        press(page, "run")
        expect(heading(page, "Result")).to_be_visible()
        sidebar = page.get_by_test_id("stSidebar")
        expect(sidebar.get_by_text(f"{own}:")).to_be_visible()
        expect(sidebar.get_by_text(other)).not_to_be_attached()


@pytest.mark.long
def test_a_closed_tab_ends_its_job_and_the_next_in_line_runs(visit, tmp_path):
    """One place for all jobs: the second run can only finish when the first one has ended.

    Left alone, the first would take a step in five seconds, and longer than this test waits.
    """
    with serving(tmp_path / "log.txt", HIPAD_JOBS="1", HIPAD_UNSEEN_SECONDS="5") as server:
        first, second = visit(server), visit(server)
        for page in (first, second):
            press(page, "sample_ksvm-s-10k")
            expect(heading(page, "Preparation")).to_be_visible()
            go(page, "Run")
        set_speed(first, 7)
        press(first, "run")
        expect(first.get_by_role("button", name="Stop")).to_be_visible()
        press(second, "run")
        expect(second.get_by_text("Other runs are under way")).to_be_visible()
        first.close()
        expect(heading(second, "Result")).to_be_visible()
