"""Everybody can use it: seen by axe in both themes, at three widths, and by the keyboard alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE
from tests.browser.test_outside import is_at_rest
from tests.browser.test_path import heading, press

pytestmark = pytest.mark.browser

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text("utf-8")
WIDTHS = (800, 1280, 1920)
RULES = {"runOnly": ["wcag2a", "wcag2aa"], "resultTypes": ["violations"]}


def serious(page: Page) -> list[str]:
    """What axe finds on the page that keeps people from using it."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]
    return [
        f"{finding['id']}: {finding['nodes'][0]['html'][:200]}"
        for finding in found
        if finding["impact"] in ("serious", "critical")
    ]


def clipped(page: Page) -> list[int]:
    """Widths at which the page is wider than the window."""
    wide = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        over = page.evaluate(
            "(() => { const m = document.querySelector('[data-testid=stMain]');"
            " return m.scrollWidth - m.clientWidth })()"
        )
        wide += [width] if over > 1 else []
    page.set_viewport_size({"width": 1280, "height": 900})
    return wide


PAGES = ("Run", "Data", "Rules", "Workbench", "Experiments")


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_keeps_anybody_out(browser: Browser, server: str, theme: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(server)
    expect(heading(page, "HIPAD Workbench")).to_be_visible()
    found = {"first screen": (serious(page), clipped(page))}
    press(page, "show_pima")
    expect(heading(page, "Result")).to_be_visible()
    sidebar = page.get_by_test_id("stSidebarNav")
    for name in PAGES:
        sidebar.get_by_role("link", name=name).click()
        expect(heading(page, name)).to_be_visible()
        if name == "Workbench":  # until then its figures are computed, and marked as old
            crossed = page.locator(".st-key-bench_crosswise").get_by_text("% right")
            expect(crossed).to_be_visible()
        is_at_rest(page)
        found[name] = (serious(page), clipped(page))
    context.close()
    assert {name: bad for name, bad in found.items() if bad != ([], [])} == {}


def test_axe_finds_what_is_wrong(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<html lang=en><title>t</title><p style='color:#999;background:#fff'>faint")
    assert [finding.partition(":")[0] for finding in serious(page)] == ["color-contrast"]
    page.close()


def test_the_keyboard_alone_leads_to_a_result(browser: Browser, server: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(server)
    expect(page.get_by_role("button", name="See it work")).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.st-key-first_example button')"):
            break
    page.keyboard.press("Enter")
    expect(heading(page, "Result")).to_be_visible()
    context.close()
