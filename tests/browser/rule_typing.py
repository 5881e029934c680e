"""Rules typed into the editor: what it then holds is exactly what was typed."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect


def editor_at_rest(page: Page) -> Locator:
    """The editor once it has the names of the data; drawing it with them is its last step."""
    expect(page.locator(".hipad-editor[data-names]")).to_be_visible()
    return page.locator(".cm-content")


def type_rules(page: Page, text: str) -> None:
    """Replace all rules, and send them to the server.

    The editor's own key selects what is to be replaced. Playwright's `fill` selects in the
    document instead, which the editor undoes where it is drawn before it has heard of that.
    """
    editor = editor_at_rest(page)
    editor.press("Control+a")
    page.keyboard.insert_text(text)
    expect(editor.locator(".cm-line")).to_have_text(text.split("\n"))
    editor.press("Control+Enter")
