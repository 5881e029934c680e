"""Clicks faster than their answers: the last one wins, and no page is lost or left white."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from benchmarks.app import PLAYER
from tests.browser.conftest import PATIENCE
from tests.browser.test_path import go, heading

pytestmark = pytest.mark.browser

RESTING = "[data-testid=stApp][data-test-script-state=notRunning]"
ROWS = {"all-bcrabl": "15 patients", "pima": "16 patients", "ksvm-s-10k": "200 samples"}


HOLD = """() => {
  // What the server sends is held back while there is a list for it, as on a slow connection.
  window.held = null
  window.received = ""
  const add = WebSocket.prototype.addEventListener
  WebSocket.prototype.addEventListener = function (type, take, ...more) {
    const late = (event) => {
      if (!window.held) return take.call(this, event)
      window.received += new TextDecoder("latin1").decode(event.data)
      window.held.push(() => take.call(this, event))
    }
    add.call(this, type, type === "message" ? late : take, ...more)
  }
}"""
RELEASE = "() => { const held = window.held; window.held = null; held.forEach((take) => take()) }"


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One browser for all tests here: it has the app's scripts from the second visit on."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    context.add_init_script(f"({HOLD})()")
    yield context
    context.close()


def visit(server: str, context: BrowserContext) -> Page:
    """The first screen, for somebody whom the app does not know."""
    context.clear_cookies()
    page = context.new_page()
    page.goto(server)
    expect(page.locator(".st-key-show_pima button").first).to_be_visible()
    return page


@pytest.fixture(scope="module")
def tab(server: str, context: BrowserContext) -> Iterator[list[Page]]:
    """The page that most tests here use one after the other; another one after a failure."""
    pages = [visit(server, context)]
    yield pages
    pages[0].close()


@pytest.fixture
def page(
    server: str, context: BrowserContext, tab: list[Page], request: pytest.FixtureRequest
) -> Iterator[Page]:
    """The buttons of the samples, on the first screen or above the data of the test before."""
    (page,) = tab
    if not page.locator(".st-key-show_pima button").count():
        go(page, "Data")
        page.get_by_text("Load other data").click()
        expect(page.locator(".st-key-show_pima button").first).to_be_visible()
    failed = request.session.testsfailed
    yield page
    if request.session.testsfailed > failed:
        page.close()
        tab[0] = visit(server, context)


@pytest.fixture
def fresh(server: str, context: BrowserContext) -> Iterator[Page]:
    """A page of its own, at its first screen."""
    page = visit(server, context)
    yield page
    page.close()


def click_all(page: Page, *plan: tuple[str, float]) -> list[str]:
    """Click "Load and run" of samples, each so many seconds after the one before.

    By the browser itself: a driver would wait until a button is at rest. Returns the samples that
    were clicked, which is every one whose button still stood in the page: when a load is done, the
    buttons are gone.
    """
    expect(page.locator(".st-key-show_pima button").first).to_be_visible()
    clicked = page.evaluate(
        """async (plan) => {
            const clicked = []
            for (const [name, seconds] of plan) {
                await new Promise((done) => setTimeout(done, 1000 * seconds))
                const button = document.querySelector(`.st-key-show_${name} button`)
                if (!button) break
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
    """Wait until nothing runs, and an older load that is still at work would have come."""
    expect(page.locator(RESTING)).to_be_visible()
    page.wait_for_timeout(1_000)
    expect(page.locator(RESTING)).to_be_visible()


def belongs(page: Page, name: str) -> None:
    """All that the Run page shows is of these data: sidebar, player and result."""
    expect(heading(page, "Result")).to_be_visible()
    at_rest(page)
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar.get_by_text(f"{name}: {ROWS[name]}")).to_be_visible()
    player = page.evaluate(f"() => {{ const player = {PLAYER}; return player.data.label }}")
    assert player.startswith(f"The run: {name},")
    expect(heading(page, "Result")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('hipad-reloaded')") is None  # never was it lost


@pytest.mark.parametrize("seconds", [pytest.param(0.1, marks=pytest.mark.long), 0.3, 1.0])
@pytest.mark.parametrize(
    ("first", "second"), [("all-bcrabl", "ksvm-s-10k"), ("ksvm-s-10k", "all-bcrabl")]
)
def test_the_last_of_two_samples_is_loaded_and_run(page, first, second, seconds):
    clicked = click_all(page, (first, 0), (second, seconds))
    belongs(page, clicked[-1])


@pytest.mark.parametrize("name", ["pima", "ksvm-s-10k"])
def test_a_double_click_runs(page, name):
    page.locator(f".st-key-show_{name} button").first.dblclick()
    belongs(page, name)


def test_many_clicks_end_with_the_last(page):
    names = ["all-bcrabl", "pima", "ksvm-s-10k", "pima", "all-bcrabl", "ksvm-s-10k"]
    clicked = click_all(page, *((name, 0.15) for name in names))
    belongs(page, clicked[-1])


def test_a_click_on_a_page_that_the_server_has_left_is_heard(fresh):
    page = fresh
    page.evaluate("window.held = []")
    click_all(page, ("pima", 0))
    page.wait_for_function("window.received.includes('run_show')")  # the Run page is drawn
    assert click_all(page, ("all-bcrabl", 0)) == ["all-bcrabl"]
    page.evaluate(RELEASE)
    belongs(page, "all-bcrabl")


def test_a_page_change_in_the_middle_keeps_the_load_and_the_run(fresh):
    page = fresh
    click_all(page, ("all-bcrabl", 0))
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Rules").click()
    expect(page.get_by_test_id("stSidebar").get_by_text("all-bcrabl: 15 patients")).to_be_visible()
    at_rest(page)
    if heading(page, "Rules").count():  # else the run came first, and took the page
        expect(page.locator(".cm-content")).to_contain_text("mean(ABL1)")
    go(page, "Run")
    belongs(page, "all-bcrabl")


def test_a_page_that_the_browser_lost_comes_back(fresh):
    page = fresh
    page.wait_for_function("() => window.hipadRecovery")
    page.evaluate("document.querySelector('#root').remove()")
    expect(page.locator("[data-testid=stApp]")).not_to_be_attached()
    expect(page.locator(".st-key-show_pima button").first).to_be_visible()
