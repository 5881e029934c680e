"""Nothing is lost: work goes on after a reload, a closed tab, a restart, in a new browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit, serving
from tests.browser.test_path import go, heading, press

pytestmark = pytest.mark.browser

CSV = "\n".join(
    ["a,b,state", *(f"{i % 7},{i % 5},{'sick' if i % 2 else 'well'}" for i in range(60))]
)
RULE = "a >= 5 => sick worth 3 patients"


AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"


def upload(page: Page, name: str, text: str, key: str = "upload_") -> None:
    """Choose a file in the page as it is drawn to its end: until then boxes that go still stand."""
    expect(page.locator(AT_REST)).to_be_attached()
    box = page.locator(f"[class*=st-key-{key}] input[type=file]")
    expect(box).to_have_count(1)
    file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    box.set_input_files(file)


def sidebar(page: Page, words: str) -> None:
    expect(page.get_by_test_id("stSidebar").get_by_text(words)).to_be_visible()


def resume(page: Page) -> None:
    expect(page.get_by_text("Continue where you were")).to_be_visible()
    page.locator("[class*=st-key-continue_] button").first.click()


def some_work(page: Page) -> None:
    """Data of one's own, a rule in its second version, a run and a kept model."""
    upload(page, "mine.csv", CSV)
    expect(heading(page, "Preparation")).to_be_visible()
    go(page, "Rules")
    page.get_by_role("button", name="Import").click()
    upload(page, "mine.rules", RULE, key="rules_file")
    expect(page.get_by_text("1 rule on, 0 off")).to_be_visible()
    go(page, "Run")
    press(page, "run")
    expect(heading(page, "Result")).to_be_visible()
    page.get_by_role("button", name="Keep as reference").click()
    expect(page.get_by_role("textbox", name="Name of this model")).to_have_value("model 2")


DATA = "mine.csv: 44 rows, 2 features"


def is_all_there(page: Page) -> None:
    sidebar(page, DATA)
    go(page, "Run")
    expect(heading(page, "Result")).to_be_visible()
    go(page, "Workbench")
    expect(page.get_by_text("model 1").first).to_be_visible()
    go(page, "Rules")
    expect(page.get_by_text("1 rule on, 0 off")).to_be_visible()
    expect(page.locator(".st-key-rules_undo button").first).to_be_enabled()


@pytest.mark.long
def test_work_goes_on_after_a_reload_a_restart_and_in_a_new_browser(
    visit: Visit, tmp_path: Path
) -> None:
    log = tmp_path / "log.txt"
    with serving(log) as server:
        page = visit(server)
        some_work(page)
        page.goto(f"{server}/run")
        resume(page)
        expect(heading(page, "Result")).to_be_visible()
        context, other = page.context, visit(server)
        second = context.new_page()  # the first tab stays open
        second.goto(server)
        resume(second)
        sidebar(second, DATA)
        expect(other.get_by_text("Load and run").first).to_be_visible()
        expect(other.get_by_text("Continue where you were")).not_to_be_attached()
        second.close()
        page.close()
        other.reload()
        resume(other)
        sidebar(other, DATA)
        other.close()
    with serving(log) as server:
        page = context.new_page()
        page.goto(server)
        resume(page)
        is_all_there(page)
        page.get_by_text("Session", exact=True).click()
        page.get_by_role("button", name="Delete saved work").click()
        expect(page.get_by_text("Saved work was deleted")).to_be_visible()
        page.goto(server)
        expect(page.get_by_text("Load and run").first).to_be_visible()
        expect(page.get_by_text("Continue where you were")).not_to_be_attached()


@pytest.mark.long
def test_a_changed_seed_and_a_second_file_lose_nothing(server: str, visit: Visit) -> None:
    page = visit(server)
    some_work(page)
    go(page, "Data")
    seed = page.get_by_role("spinbutton", name="Random seed")
    seed.fill("7")
    seed.press("Enter")
    expect(page.get_by_text("You changed the data. Your work on mine.csv is saved")).to_be_visible()
    go(page, "Run")
    expect(heading(page, "Result")).to_be_visible()
    go(page, "Data")
    page.get_by_text("from a second file").first.click()
    upload(page, "test.csv", CSV, key="test_file")
    sidebar(page, "mine.csv: 60 rows, 2 features")
    page.get_by_role("button", name="Switch back").click()
    sidebar(page, DATA)
    expect(page.get_by_role("spinbutton", name="Random seed")).to_have_value("0")
    go(page, "Run")
    expect(heading(page, "Result")).to_be_visible()


LISTEN = """
window.sockets = [];
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) { super(...given); window.sockets.push(this); }
};
"""


@pytest.mark.long
def test_pages_and_downloads_work_after_a_broken_connection(server: str, visit: Visit) -> None:
    page = visit("about:blank")
    page.add_init_script(LISTEN)
    page.goto(server)
    press(page, "show_pima")
    expect(heading(page, "Result")).to_be_visible()
    page.evaluate("window.sockets.at(-1).close()")
    page.wait_for_function("window.sockets.length > 1 && window.sockets.at(-1).readyState === 1")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Weights (CSV)").click()
    assert "(intercept)" in Path(caught.value.path()).read_text()
    go(page, "Data")
    expect(page.get_by_text("Classes").first).to_be_visible()
