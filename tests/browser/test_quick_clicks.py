"""Clicks faster than their answers: the last one wins, and no page is lost or left white."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from benchmarks.app import PLAYER
from tests.browser.test_path import go, heading, press

pytestmark = pytest.mark.browser

PATIENTS = {"all-bcrabl": "15 patients", "pima": "576 patients", "ksvm-s-10k": "200 patients"}


def click_all(page: Page, *plan: tuple[str, float]) -> list[str]:
    """Click "Load and run" of samples, each so many seconds after the one before.

    By the browser itself: a driver would wait until a button is at rest. Returns the samples that
    were clicked: when a load is done, the page with the buttons is gone.
    """
    expect(page.locator(".st-key-show_pima button").first).to_be_visible()
    clicked = page.evaluate(
        """async (plan) => {
            const here = location.pathname, clicked = []
            for (const [name, seconds] of plan) {
                await new Promise((done) => setTimeout(done, 1000 * seconds))
                const button = document.querySelector(`.st-key-show_${name} button`)
                if (!button || location.pathname !== here) break
                button.click()
                clicked.push(name)
            }
            return clicked
        }""",
        [list(each) for each in plan],
    )
    assert clicked
    return list(clicked)


def at_rest(page: Page) -> None:
    """Wait until nothing runs and nothing more is to come."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    page.wait_for_timeout(1_500)
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()


def belongs(page: Page, name: str) -> None:
    """All that the Run page shows is of these data: sidebar, player and result."""
    expect(heading(page, "Result")).to_be_visible()
    at_rest(page)
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar.get_by_text(f"{name}: {PATIENTS[name]}")).to_be_visible()
    player = page.evaluate(f"() => {{ const player = {PLAYER}; return player.data.label }}")
    assert name in player
    expect(heading(page, "Result")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('hipad-reloaded')") is None  # never was it lost


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.1, 0.3, 1.0])
@pytest.mark.parametrize(
    ("first", "second"), [("all-bcrabl", "ksvm-s-10k"), ("ksvm-s-10k", "all-bcrabl")]
)
def test_the_last_of_two_samples_is_loaded_and_run(server, visit, first, second, seconds):
    page = visit(server)
    clicked = click_all(page, (first, 0), (second, seconds))
    belongs(page, clicked[-1])


@pytest.mark.parametrize("name", ["pima", "ksvm-s-10k"])
def test_a_double_click_runs(server, visit, name):
    page = visit(server)
    button = page.locator(f".st-key-show_{name} button").first
    expect(button).to_be_visible()
    button.dblclick()
    belongs(page, name)


@pytest.mark.long
def test_many_clicks_end_with_the_last(server, visit):
    page = visit(server)
    names = ["all-bcrabl", "pima", "ksvm-s-10k", "pima", "all-bcrabl", "ksvm-s-10k"]
    clicked = click_all(page, *((name, 0.15) for name in names))
    belongs(page, clicked[-1])


def test_a_page_change_in_the_middle_keeps_the_load_and_the_run(server, visit):
    page = visit(server)
    click_all(page, ("all-bcrabl", 0))
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Rules").click()
    expect(page.get_by_test_id("stSidebar").get_by_text("all-bcrabl: 15 patients")).to_be_visible()
    at_rest(page)
    if heading(page, "Rules").count():  # else the run came first, and took the page
        expect(page.locator(".cm-content")).to_contain_text("mean(ABL1)")
    go(page, "Run")
    belongs(page, "all-bcrabl")


def test_other_data_while_a_run_is_shown(server, visit):
    page = visit(server)
    press(page, "show_ksvm-s-10k")
    belongs(page, "ksvm-s-10k")
    go(page, "Data")
    page.get_by_text("Load other data").click()
    clicked = click_all(page, ("all-bcrabl", 0), ("pima", 0.3))
    belongs(page, clicked[-1])


def test_a_page_that_the_browser_lost_comes_back(server, visit):
    page = visit(server)
    expect(page.locator(".st-key-show_pima button").first).to_be_visible()
    page.wait_for_function("() => window.hipadRecovery")
    page.evaluate("document.querySelector('#root').remove()")
    expect(page.locator("[data-testid=stApp]")).not_to_be_attached()
    expect(page.locator(".st-key-show_pima button").first).to_be_visible()
