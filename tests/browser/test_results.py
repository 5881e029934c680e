"""Results and patients in a real browser: the seal, the cut-off, one patient, a new file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_continuing import resume, sidebar, upload
from tests.browser.test_path import go, heading, press
from tests.pages.own_table import table

pytestmark = pytest.mark.browser
WHY = "the rules are final"


def own_results(page: Page) -> None:
    """A table of one's own, and the results of a model without rules."""
    upload(page, "own.csv", table().decode())
    expect(heading(page, "Preparation")).to_be_visible()
    go(page, "Results")
    press(page, "results_fit")
    expect(page.get_by_text("Cross-validated on 72 rows")).to_be_visible()


def metric(page: Page, label: str) -> str:
    found = page.get_by_test_id("stMetric").filter(has_text=label).last
    return found.get_by_test_id("stMetricValue").inner_text()


def choose_first_patient(page: Page) -> None:
    """Tick the first row of the list, which is drawn on a canvas."""
    expect(page.get_by_test_id("stDataFrame").first.locator("canvas").first).to_be_visible()
    page.get_by_test_id("stDataFrame").first.click(position={"x": 18, "y": 52})
    expect(page.get_by_text("The least that changes the answer")).to_be_visible()


def test_the_test_set_is_opened_with_a_reason_which_survives_a_reload(
    server: str, visit: Visit
) -> None:
    page = visit(server)
    own_results(page)
    expect(page.get_by_text("The test set is sealed")).to_be_visible()
    expect(page.get_by_text("of the test set, which")).not_to_be_attached()
    press(page, "results_open")
    why = page.get_by_role("textbox", name="Why now?")
    why.fill(WHY)
    why.press("Enter")
    page.get_by_role("button", name="Open it").click()
    expect(page.get_by_text("of the test set, which the model has not seen")).to_be_visible()
    expect(page.get_by_text(f"judged once, after 1 edit. Reason: {WHY}")).to_be_visible()
    page.goto(f"{server}/results")
    resume(page)
    sidebar(page, "own.csv: 72")
    expect(page.get_by_text(f"judged once, after 1 edit. Reason: {WHY}")).to_be_visible()
    expect(page.get_by_text("of the test set, which the model has not seen")).to_be_visible()


def test_the_cutoff_moves_the_figures(server: str, visit: Visit) -> None:
    page = visit(server)
    own_results(page)
    before = metric(page, "Sensitivity")
    page.get_by_role("radio", name="by hand").or_(
        page.get_by_role("button", name="by hand")
    ).first.click()
    thumb = page.locator(".st-key-results_hand input[type=range]")
    thumb.focus()
    thumb.press("Home")
    found = page.get_by_test_id("stMetric").filter(has_text="Sensitivity")
    expect(found.get_by_test_id("stMetricValue")).to_have_text("100.0 %")
    assert before != "100.0 %"


def test_a_patient_is_opened_and_a_new_file_is_answered(server: str, visit: Visit) -> None:
    page = visit(server)
    own_results(page)
    go(page, "Patients")
    expect(page.get_by_text("Training rows, each answered by a model")).to_be_visible()
    choose_first_patient(page)
    expect(page.get_by_text("What if", exact=True)).to_be_visible()
    upload(page, "new.csv", table(60, seed=5).decode(), key="new_patients")
    expect(page.get_by_text("60 rows with a known class")).to_be_visible()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Answers (CSV)").click()
    lines = Path(caught.value.path()).read_text().splitlines()
    assert lines[0] == "patient,answer,risk of ill,score,cut-off,actual"
    assert lines[1].startswith("P000,")
    assert len(lines) == 61
    go(page, "Data")
    go(page, "Patients")
    expect(page.get_by_text("60 rows with a known class")).to_be_visible()
    expect(page.get_by_text("The least that changes the answer")).to_be_visible()
