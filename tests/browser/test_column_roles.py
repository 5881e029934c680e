"""Roles of columns in a real browser: rows of one patient, and a click that changes a role."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_rows_of_one_patient_are_told_and_a_click_changes_the_role(server, visit, tmp_path):
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(18), np.r_[np.full(17, 6), 5])
    values = rng.normal(size=(18, 2))[groups] + 0.1 * rng.normal(size=(107, 2))
    ill = (np.arange(18) % 4 > 0)[groups]
    rows = [
        f"S{g + 1:02d},{a:.3f},{b:.3f},{'yes' if sick else 'no'}"
        for g, (a, b), sick in zip(groups, values, ill, strict=True)
    ]
    file = tmp_path / "visits.csv"
    file.write_text("\n".join(["subject,m0,m1,disease", *rows]))
    page = visit(server)
    page.locator("[class*=st-key-upload_] input[type=file]").set_input_files(file)
    expect(page.get_by_text("Rows with the same subject belong to one patient")).to_be_visible()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar.get_by_text("patients, 2 features")).to_contain_text("rows of")
    place = page.locator("[class*=st-key-role_][class*=subject]")
    place.get_by_text("ID", exact=True).click()
    expect(page.get_by_text("Every row")).to_be_visible()
    expect(sidebar.get_by_text("patients, 2 features")).not_to_contain_text("rows of")
    page.locator("[class*=st-key-role_][class*=subject]").get_by_text("group", exact=True).click()
    expect(page.get_by_text("Rows with the same subject belong to one patient")).to_be_visible()
