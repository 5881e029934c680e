"""The editor of rules in a real browser: typing, completing, mending, and never losing a word."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import PATIENCE, Visit
from tests.browser.test_path import go, heading, press

pytestmark = pytest.mark.browser
READABLE = 4.5  # contrast that text needs
TOKENS = ("feature", "function", "number", "outcome", "note", "worth", "word", "sign", "title")
OPEN = ".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)"  # not being made anew
SENT = 450  # milliseconds without a key, after which the editor has sent the text
FOUR = ("BMI", "Age", "Glucose", "BloodPressure")  # features of the sample
SAMPLE = "off mine: mean(metabolic) >= 3 and Glucose > 1 => diabetic worth 5 patients  # why"


def rules_page(page: Page, sample: str = "pima") -> Locator:
    """The editor on the Rules page, with the rules of a sample."""
    press(page, f"sample_{sample}")
    expect(heading(page, "Preparation")).to_be_visible()
    return open_editor(page)


def open_editor(page: Page) -> Locator:
    go(page, "Rules")
    expect(page.locator("[class*=st-key-rules_text] textarea")).to_have_count(0)
    editor = page.locator(".cm-content")
    expect(editor).to_be_visible()
    return editor


def write(editor: Locator, text: str, delay: float = 0) -> None:
    """Type below what is there."""
    editor.click()
    editor.press("Control+End")
    editor.page.keyboard.type(f"\n{text}", delay=delay)


def text_of(editor: Locator) -> str:
    return "\n".join(line.inner_text().strip("\n") for line in editor.locator(".cm-line").all())


def choose(page: Page, name: str, key: str = "Enter") -> None:
    """Take the first completion, which is this; a list that has only just opened takes no key."""
    expect(page.locator(OPEN).get_by_role("option").first).to_contain_text(name)
    page.wait_for_timeout(150)
    page.keyboard.press(key)


def last_line(editor: Locator) -> Locator:
    return editor.locator(".cm-line").last


def test_a_broken_rule_is_gone_to_from_the_run_page(server: str, visit: Visit) -> None:
    page = visit(server)
    editor = rules_page(page)
    write(editor, "Glukose >= 126 => diabetic\nBMI >= 30 => diabetic")  # after four lines
    expect(page.locator(".hipad-mistake")).to_be_visible()
    go(page, "Run")
    page.get_by_role("link", name="Go to line 5").click()
    expect(page.locator(".hipad-said")).to_contain_text("Line 5: ")
    expect(page.locator(".cm-activeLine.cm-line")).to_have_text("Glukose >= 126 => diabetic")
    expect(editor).to_be_focused()
    page.keyboard.press("Alt+Enter")
    expect(editor.locator(".cm-line").nth(4)).to_have_text("Glucose >= 126 => diabetic")
    go(page, "Run")
    expect(page.get_by_text("and 4 rules to learn from")).to_be_visible()


def test_names_are_completed_by_the_keyboard_and_explained(server: str, visit: Visit) -> None:
    page = visit(server)
    editor = rules_page(page)
    expect(page.locator(".hipad-editor[data-names='8']")).to_be_visible()
    write(editor, "gluc")
    choose(page, "Glucose")
    page.keyboard.type(" >= 151 => dia")
    choose(page, "diabetic")
    expect(last_line(editor)).to_have_text("Glucose >= 151 => diabetic")
    expect(page.locator(".hipad-means").last).to_contain_text("Glucose at least 151, says diabetic")
    expect(page.get_by_text("3 rules on, 0 off")).to_be_visible()
    expect(editor.locator(".hipad-feature").last).to_have_text("Glucose")
    expect(editor.locator(".hipad-outcome").last).to_have_text("diabetic")
    editor.press("Tab")  # nobody is caught in the editor
    assert page.evaluate("document.activeElement.shadowRoot?.activeElement?.className") != (
        editor.get_attribute("class")
    )


def test_a_mistake_is_marked_and_mended_by_a_click_or_a_key(server: str, visit: Visit) -> None:
    page = visit(server)
    editor = rules_page(page)
    write(editor, "Glukose >= 126 => diabetic")
    expect(editor.locator(".cm-lintRange-error")).to_have_text("Glukose")
    expect(page.locator(".hipad-mistake")).to_contain_text("did you mean Glucose")
    page.locator(".hipad-mistake").get_by_text("Write Glucose", exact=True).click()
    expect(last_line(editor)).to_have_text("Glucose >= 126 => diabetic")
    expect(page.locator(".hipad-mistake")).to_have_count(0)
    editor.press("Control+z")
    expect(last_line(editor)).to_have_text("Glukose >= 126 => diabetic")
    expect(page.locator(".hipad-mistake")).to_be_visible()
    editor.press("Control+Home")
    editor.press("F8")
    editor.press("Alt+Enter")
    expect(last_line(editor)).to_have_text("Glucose >= 126 => diabetic")
    expect(page.locator(".hipad-mistake")).to_have_count(0)
    for _ in range(3):  # the app's own history has the same steps, fast ones as one
        if last_line(editor).inner_text() == "Glukose >= 126 => diabetic":
            break
        press(page, "rules_undo")
        page.wait_for_timeout(1500)
    expect(last_line(editor)).to_have_text("Glukose >= 126 => diabetic")


@pytest.mark.long
def test_nothing_typed_is_lost_by_whatever_comes_between(server: str, visit: Visit) -> None:
    page = visit(server)
    editor = rules_page(page)
    before = text_of(editor)
    write(editor, "Age >= 61 => ")
    page.evaluate("() => document.querySelector('.st-key-rules_undo button').click()")
    page.keyboard.type("diabetic", delay=90)  # while the server works on something else
    expect(last_line(editor)).to_have_text("Age >= 61 => diabetic")
    expect(page.locator(".hipad-means").last).to_have_text("Age at least 61, says diabetic")

    write(editor, "Age >= 62 => diabetic")
    go(page, "Run")  # at once, before the text is sent
    editor = open_editor(page)
    assert text_of(editor) == f"{before}\nAge >= 61 => diabetic\nAge >= 62 => diabetic"

    write(editor, "Age >= 63 => diabetic")
    page.get_by_text("Plain text", exact=True).click()
    area = page.locator("[class*=st-key-rules_text] textarea")
    expect(area).to_be_visible()
    assert area.input_value().endswith("\nAge >= 62 => diabetic\nAge >= 63 => diabetic")
    area.press("Control+End")
    page.keyboard.type("\nAge >= 64 => diabetic")
    page.get_by_text("Plain text", exact=True).click()
    expect(last_line(editor)).to_have_text("Age >= 64 => diabetic")


def own_table() -> bytes:
    """Names with blanks and quotes, of which one begins another, and a category."""
    lines = ["age,heart,heart rate,resting pulse,smoking,state"]
    for n in range(24):
        level = ("current", "never", "never smoked")[n % 3]
        state = ("high risk", '"5"" stent"')[n % 2]
        lines.append(f"{40 + n},{n % 5},{60 + n},{50 + n},{level},{state}")
    return "\n".join(lines).encode()


TYPED = (  # what is typed, the key after it, and the lines that then stand there
    ("age > 65 => high risk", "Enter", ["age > 65 => high risk", ""]),
    ("age > 65 => high r", "Enter", ['age > 65 => "high risk"']),
    ("age > 65 => not high r", "Tab", ['age > 65 => not "high risk"']),
    ('age > 65 => "high r', "Enter", ['age > 65 => "high risk"']),
    ('age > 65 => "high risk"', "Enter", ['age > 65 => "high risk"', ""]),
    ('age > 65 => 5" s', "Enter", ['age > 65 => "5"" stent"']),
    ('age > 65 => "5"" st', "Tab", ['age > 65 => "5"" stent"']),
    ('age > 65 => "5"" stent"', "Enter", ['age > 65 => "5"" stent"', ""]),
    ("high risk if age > 65 y", "Enter", ["high risk if age > 65 y", ""]),
    ("age > 65 => high risk worth 2", "Enter", ["age > 65 => high risk worth 2", ""]),
    ("heart", "Enter", ["heart", ""]),
    ("heart r", "Enter", ["`heart rate`"]),
    ("age > 1 and heart r", "Tab", ["age > 1 and `heart rate`"]),
    ("mean(age, resting p", "Enter", ["mean(age, `resting pulse`"]),
    ("mean(`heart rate`, rest", "Tab", ["mean(`heart rate`, `resting pulse`"]),
    ("at least 2 of (age > 5, rest", "Tab", ["at least 2 of (age > 5, `resting pulse`"]),
    ("heart rate", "Enter", ["heart rate", ""]),
    ("smoking = cur", "Enter", ["smoking = current"]),
    ("smoking=cur", "Tab", ["smoking=current"]),
    ("smoking = current", "Enter", ["smoking = current", ""]),
    ("smoking = never", "Enter", ["smoking = never", ""]),
    ("smoking = never s", "Enter", ["smoking = `never smoked`"]),
    ("smoking in {current, never s", "Tab", ["smoking in {current, `never smoked`"]),
)


def test_completion_takes_the_whole_name_and_enter_begins_a_line(server: str, visit: Visit) -> None:
    page = visit(server)
    file = {"name": "own.csv", "mimeType": "text/csv", "buffer": own_table()}
    page.locator("[class*=st-key-upload_] input[type=file]").set_input_files(file)
    expect(heading(page, "Preparation")).to_be_visible()
    editor = open_editor(page)
    expect(page.locator(".hipad-editor[data-names]")).to_be_visible()
    for typed, key, lines in TYPED:
        editor.press("Control+a")
        editor.press("Delete")
        page.keyboard.type(typed[:-1])
        page.wait_for_timeout(200)  # a list has opened where there is one
        page.keyboard.type(typed[-1])
        if lines[-1]:
            choose(page, "", key)
        else:
            expect(page.get_by_role("option")).to_have_count(0)
            page.wait_for_timeout(200)
            expect(page.get_by_role("option")).to_have_count(0)
            page.keyboard.press(key)
        expect(editor.locator(".cm-line")).to_have_text(lines)
    expect(editor).to_be_focused()


WATCH = """() => {
  const look = () => {
    const box = document.querySelector("[data-testid=stException]");
    if (box && !window.faults.includes(box.innerText)) window.faults.push(box.innerText);
  };
  window.faults = [];
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""


@pytest.mark.parametrize("count", [6, pytest.param(40, marks=pytest.mark.long)])
def test_rules_are_typed_with_all_that_people_do_meanwhile(
    server: str, visit: Visit, count: int
) -> None:
    page = visit(server)
    editor = rules_page(page)
    page.evaluate(WATCH)  # pages of the app are drawn in the same document
    editor.press("Control+a")
    editor.press("Delete")
    keys = page.keyboard
    rules = [f"{name} > {n} => diabetic" for n in range(30, 40) for name in FOUR][:count]
    for n, rule in enumerate(rules):

        def pause(seldom: bool = n % 8 > 3) -> None:
            if not seldom:
                page.wait_for_timeout(SENT)

        if n % 4 == 0:  # bit by bit
            for part in re.findall(r"\w+|\W+\w+", rule):
                keys.type(part)
                pause()
        elif n % 4 == 1:  # wrong at first
            keys.type(f"{rule}, I thought")
            pause()
            for _ in ", I thought":
                keys.press("Backspace")
        elif n % 4 == 2:  # from elsewhere
            keys.type(rule)
            keys.press("Shift+Home")
            keys.press("Control+x")
            pause()
            keys.press("Control+v")
        else:  # taken back and done again
            keys.type(rule)
            keys.press("Control+z")
            pause()
            keys.press("Control+y")
        expect(last_line(editor)).to_have_text(rule)
        if n % 20 == 5:
            pause(False)
            press(page, "rules_undo")
            expect(last_line(editor)).not_to_have_text(rule)
            press(page, "rules_redo")
            expect(last_line(editor)).to_have_text(rule)
        if n % 20 == 8:
            go(page, "Run")
            editor = open_editor(page)
        editor.press("Control+End")
        if n + 1 < len(rules):
            keys.press("Enter")
            expect(last_line(editor)).to_have_text("")
    expect(page.get_by_text(f"{count} rules on, 0 off")).to_be_visible()
    page.get_by_text("Plain text", exact=True).click()
    area = page.locator("[class*=st-key-rules_text] textarea")
    expect(area).to_have_value("\n".join(rules))
    assert page.evaluate("window.faults") == []


def csv_of(columns: dict[str, list[str]]) -> bytes:
    rows = zip(*columns.values(), strict=True)
    return "\n".join(",".join(row) for row in [tuple(columns), *rows]).encode()


def clinic_table() -> tuple[str, bytes, list[str]]:
    """Classes with blanks, units in names, categories with words of the language, and gaps."""
    rng = np.random.default_rng(5)
    n = 90
    columns = {
        "age": [f"{each}" for each in rng.integers(20, 95, n)],
        "tumor_size_mm": [f"{each:.1f}" for each in rng.uniform(2, 60, n)],
        "lactate (mmol/l)": [f"{each:.2f}" if k % 2 else "" for k, each in
                             enumerate(rng.uniform(0.5, 6, n))],
        "chf": [f"{each}" for each in rng.integers(0, 2, n)],
        "stage": [("I", "II", "III")[k % 3] for k in range(n)],
        "consent": [("not stated", "off", "n/a")[k % 3] for k in range(n)],
        "outcome": [("no event", "high risk")[k % 2] for k in range(n)],
    }  # fmt: skip
    rules = [
        "age >= 75 and chf => high risk",
        "stage II or higher => high risk",
        "consent = not stated => no event",
        "2*(age >= 75) + (chf) + (lactate > 3) >= 3 => high risk",
        "tumor_size_mm exceeds 20 mm => high risk",
        "consent != off => no event",
        "lactate falls below 2 => no event",
        "stage between I and II => no event",
    ]
    return "clinic.csv", csv_of(columns), rules


def credit_table() -> tuple[str, bytes, list[str]]:
    """Categories with blanks and signs, counts, gaps and a class of two words."""
    rng = np.random.default_rng(6)
    n = 80
    columns = {
        "income": [f"{each:.0f}" if k % 7 else "" for k, each in
                   enumerate(rng.uniform(5e3, 9e4, n))],
        "late payments": [f"{each}" for each in rng.integers(0, 9, n)],
        "purpose": [("small business", "car", "none")[k % 3] for k in range(n)],
        "grade": ["ABCD"[k % 4] for k in range(n)],
        "state": [("paid back", "default")[k % 2] for k in range(n)],
    }  # fmt: skip
    rules = [
        "purpose = small business => default",
        "income < 20k and late payments > 2 => default",
        "grade A or B => paid back",
        "late payments 0 or 1 => paid back",
        "income between 20,000 and 40,000 => paid back",
        "purpose = none and income > 50000 => paid back",
        "grade D or worse => default",
        "late payments > 4 (unless income > 60000) => default",
    ]
    return "credit.csv", csv_of(columns), rules


def wide_table() -> tuple[str, bytes, list[str]]:
    """Fifty thousand names with signs."""
    content = io.BytesIO()
    X = np.random.default_rng(0).standard_normal((12, 50_000)).astype(np.float32)
    names = np.array([f"{j}_Probe-{j % 7}_at" for j in range(50_000)])
    labels = np.array(["ill", "well"] * 6)
    np.savez_compressed(content, X=X, y=labels, feature_names=names)
    rules = [
        "`14_Probe-0_at` > 0.5 => ill",
        "49_Probe-0_at > 0.1 and 21_Probe-0_at < 1 => ill",
        "mean(`7_Probe-0_at`, `8_Probe-1_at`) >= 0.2 => well",
        "at least 2 of (`7_Probe-0_at` > 0, `8_Probe-1_at` > 0, `9_Probe-2_at` > 0) => ill",
    ]
    return "wide.npz", content.getvalue(), rules


@pytest.mark.long
@pytest.mark.parametrize("table", [clinic_table, credit_table, wide_table])
def test_forty_rules_are_typed_on_a_table_of_ones_own(server: str, visit: Visit, table) -> None:
    name, content, rules = table()
    page = visit(server)
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator("[class*=st-key-upload_] input[type=file]").set_input_files(file)
    expect(heading(page, "Preparation")).to_be_visible()
    editor = open_editor(page)
    page.evaluate(WATCH)
    editor.click()
    editor.press("Control+a")
    editor.press("Delete")
    typed = [f"r{n}: {rules[n % len(rules)]}" for n in range(40)]
    for n, rule in enumerate(typed):
        page.keyboard.type(rule)
        page.keyboard.press("Escape")  # a list of names that may be open
        expect(last_line(editor)).to_have_text(rule)
        if n % 5 == 0:
            page.wait_for_timeout(SENT)
        if n + 1 < len(typed):
            page.keyboard.press("Enter")
    expect(page.locator(".hipad-means").last).to_contain_text("says")
    expect(page.locator(".hipad-mistake")).to_have_count(0)
    page.get_by_text("Plain text", exact=True).click()
    area = page.locator("[class*=st-key-rules_text] textarea")
    expect(area).to_have_value("\n".join(typed))
    assert page.evaluate("window.faults") == []


OVERTAKEN = """async ([address, data]) => {
  const { default: draw } = await import(address);
  const host = document.body.appendChild(document.createElement("div"));
  const parentElement = host.attachShadow({ mode: "open" });
  const setTriggerValue = () => {};
  const first = draw({ data, parentElement, setTriggerValue });
  const editor = parentElement.querySelector(".cm-content");
  const second = draw({ data, parentElement, setTriggerValue });
  first();
  draw({ data, parentElement, setTriggerValue });
  const stays = parentElement.querySelector(".cm-content") === editor;
  host.remove();
  second();
  return [stays, parentElement.querySelectorAll(".cm-content").length];
}"""


def test_draw_that_was_overtaken_leaves_the_editor_and_its_cursor(
    server: str, visit: Visit
) -> None:
    page = visit(server)
    rules_page(page)
    loaded = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    address = next(name for name in loaded if "editor.js" in name)
    data = {"text": "", "seen": None, "ready": True, "line": None, "label": "", "example": ""}
    data |= {"names": {"key": "none", "address": ""}, "functions": [], "words": []}
    data |= {"meanings": [], "problems": []}
    assert page.evaluate(OVERTAKEN, [address, data]) == [True, 0]


@pytest.mark.long
def test_two_sessions_and_fifty_thousand_names(server: str, visit: Visit) -> None:
    other, page = visit(server), visit(server)
    mine = rules_page(other)
    content = io.BytesIO()
    X = np.random.default_rng(0).standard_normal((12, 50_000)).astype(np.float32)
    names = np.array([f"{j}_Probe-{j % 7}_at" for j in range(50_000)])
    labels = np.array(["ill", "well"] * 6)
    np.savez_compressed(content, X=X, y=labels, feature_names=names)
    file = {
        "name": "wide.npz",
        "mimeType": "application/octet-stream",
        "buffer": content.getvalue(),
    }
    page.locator("[class*=st-key-upload_] input[type=file]").set_input_files(file)
    expect(heading(page, "Preparation")).to_be_visible()
    editor = open_editor(page)
    expect(page.locator(".hipad-editor[data-names='50000']")).to_be_visible()
    editor.click()
    page.keyboard.type("mean(`49_p")
    choose(page, "49_Probe-0_at")
    page.keyboard.type(", 31234_prob")
    choose(page, "31234_Probe-0_at", "Tab")
    page.keyboard.type(") >= 0 => il")
    choose(page, "ill")
    expect(last_line(editor)).to_have_text("mean(`49_Probe-0_at`, `31234_Probe-0_at`) >= 0 => ill")
    expect(page.locator(".hipad-means")).to_contain_text("says ill")
    write(mine, "Age >= 60 => diabetic")
    expect(other.locator(".hipad-means").last).to_have_text("Age at least 60, says diabetic")
    assert "Probe" not in text_of(mine)
    assert "Age" not in text_of(editor)


def test_without_its_script_there_is_the_text_area(server: str, visit: Visit) -> None:
    page = visit(server)
    page.route("**/editor.js", lambda route: route.abort())
    press(page, "sample_pima")
    expect(heading(page, "Preparation")).to_be_visible()
    go(page, "Rules")
    area = page.locator("[class*=st-key-rules_text] textarea")
    area.fill("Glucose >= 150 => diabetic")
    area.press("Control+Enter")
    expect(page.get_by_text("1 rule on, 0 off")).to_be_visible()


CONTRAST = """([text, back]) => {
  const pen = document.createElement("canvas").getContext("2d");
  const shine = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const parts = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c / 255);
    const [r, g, b] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = [shine(text), shine(back)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_can_be_read(server: str, browser: Browser, scheme) -> None:
    context = browser.new_context(color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(server)
    editor = rules_page(page)
    expect(page.locator(".hipad-editor[data-names='8']")).to_be_visible()
    editor.fill(SAMPLE)
    expect(page.locator(".hipad-means")).to_be_visible()
    back = style(page.locator(".hipad-editor"), "backgroundColor")
    for name in (*(f".hipad-{token}" for token in TOKENS), ".hipad-means", ".hipad-keys"):
        colour = style(page.locator(name).first, "color")
        assert page.evaluate(CONTRAST, [colour, back]) >= READABLE, name
    context.close()


def style(place: Locator, name: str) -> str:
    return str(place.evaluate("(element, name) => getComputedStyle(element)[name]", name))
