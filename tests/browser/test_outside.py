"""Nothing leaves this computer: no page asks anybody but its own server."""

from __future__ import annotations

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, expect

from tests.browser.conftest import Visit
from tests.browser.test_path import go, heading, press

pytestmark = pytest.mark.browser


class Ears:
    """Hears what a page asks for, and what its browser complains of."""

    def __init__(self, page: Page, server: str) -> None:
        self.outside: list[str] = []
        self.refused: list[str] = []
        self._own = (server, server.replace("http", "ws"), "data:", "blob:")
        page.on("request", self._asked)
        page.on("websocket", lambda socket: self._note(socket.url))
        page.on("console", self._said)

    def _asked(self, request: Request) -> None:
        self._note(request.url)

    def _note(self, url: str) -> None:
        if not url.startswith(self._own):
            self.outside.append(url)

    def _said(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.refused.append(message.text)


def test_no_page_asks_anybody_else(visit: Visit, server: str) -> None:
    page = visit("about:blank")
    ears = Ears(page, server)
    page.route(
        lambda url: not url.startswith((server, "data:", "blob:")), lambda route: route.abort()
    )
    page.goto(server)
    expect(heading(page, "HIPAD Workbench")).to_be_visible()
    page.get_by_role("button", name="Glossary").click()
    page.keyboard.press("Escape")
    press(page, "show_pima")
    expect(heading(page, "Result")).to_be_visible()
    for name in ("Data", "Rules", "Run", "Workbench", "Experiments"):
        go(page, name)
        is_at_rest(page)
    for name in (
        "rules",
        "run",
        "workbench",
        "experiments",
    ):  # and each as the first page of a visit
        page.goto(f"{server}/{name}")
        expect(page.get_by_text("No data yet")).to_be_visible()
        is_at_rest(page)
    assert ears.outside == []
    assert ears.refused == []


def is_at_rest(page: Page) -> None:
    """Wait until nothing is drawn any more, late charts and fonts included."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    page.wait_for_timeout(1_000)


def test_the_icon_and_the_symbols_are_ours(visit: Visit, server: str) -> None:
    page = visit(server)
    expect(heading(page, "HIPAD Workbench")).to_be_visible()
    page.wait_for_function("document.fonts.check('20px \"Material Symbols Rounded\"')")
    icon = page.locator("link[rel='shortcut icon']").get_attribute("href") or ""
    assert icon.startswith(("data:", "/media/", server, "./media/"))


def test_the_browser_would_not_let_a_page_ask(visit: Visit, server: str) -> None:
    page = visit(server)
    ears = Ears(page, server)
    page.evaluate("fetch('http://127.0.0.2:9/').catch(() => 0)")
    page.wait_for_timeout(500)
    assert ears.refused


def test_the_ears_hear(visit: Visit, server: str) -> None:
    page = visit("about:blank")
    ears = Ears(page, server)
    page.evaluate("fetch('http://127.0.0.2:9/').catch(() => 0)")
    page.wait_for_timeout(500)
    assert ears.outside == ["http://127.0.0.2:9/"]
