"""What is selected in the editor stays selected when the editor is drawn anew meanwhile."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Visit
from tests.browser.test_path import go, heading, press

pytestmark = pytest.mark.browser

# As a menu's "Select all" or a touch screen does it: the editor hears of it a moment later.
SELECT_ALL = """async (content) => {
  content.focus();
  const selection = content.getRootNode().getSelection?.() ?? document.getSelection();
  selection.selectAllChildren(content);
  await new Promise((heard) => setTimeout(heard, 20));
}"""


@pytest.mark.parametrize("how", ["by the editor's key", "in the document"])
def test_a_selection_outlasts_the_names_that_come_late(server: str, visit: Visit, how: str) -> None:
    page = visit(server)
    held: list[Route] = []
    page.route(re.compile(r"/media/.*\.json"), lambda route: held.append(route))
    press(page, "sample_pima")
    expect(heading(page, "Preparation")).to_be_visible()
    go(page, "Rules")
    editor = page.locator(".cm-content")
    expect(editor.locator(".cm-line").nth(1)).to_contain_text("Glucose >= 126")
    expect(page.locator(".hipad-editor[data-names]")).to_have_count(0)
    if how == "in the document":
        editor.evaluate(SELECT_ALL)
    else:
        editor.press("Control+a")
    assert held
    for route in held:
        route.continue_()
    expect(page.locator(".hipad-editor[data-names]")).to_be_visible()
    page.keyboard.insert_text("Age >= 61 => diabetic")
    expect(editor.locator(".cm-line")).to_have_text(["Age >= 61 => diabetic"])
