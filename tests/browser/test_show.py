"""The run as a show: played by the browser, stepped by keys, large for a projector."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from benchmarks.app import PLAYER
from tests.browser.test_path import heading, press
from ui.run.replay.player import SCRIPTS, source

pytestmark = pytest.mark.browser


def ask(page: Page, what: str):
    """A property of the player."""
    return page.evaluate(f"() => {{ const player = {PLAYER}; return {what} }}")


def until(page: Page, what: str) -> None:
    page.wait_for_function(f"() => {{ const player = {PLAYER}; return player && ({what}) }}")


@pytest.fixture(scope="module")
def shown(server, browser):
    """A finished run of the synthetic sample, which all tests of this module look at."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(60_000)
    page = context.new_page()
    sizes: list[int] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))),
    )
    page.goto(server)
    press(page, "show_ksvm-s-10k")
    expect(heading(page, "Result")).to_be_visible()
    until(page, "player.last > 5 && !player.live && player.playing")  # by itself
    until(page, "!player.playing && player.at === player.last")
    until(page, "player.sides.length === 2")
    expect(page.get_by_text("What the rules did")).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    page.wait_for_timeout(500)
    page.sizes = sizes
    yield page
    context.close()


@pytest.fixture
def page(shown):
    """The page with the player at rest at its first step."""
    ask(shown, "player.seek(0)")
    ask(shown, "{ shown: player.shown = 0, drawn: player.arrange() }.shown")
    yield shown
    if ask(shown, "player.dialog.open"):
        shown.keyboard.press("Escape")


OVERTAKEN = """async (source) => {
  const file = new Blob([source], { type: "text/javascript" });
  const { default: draw } = await import(URL.createObjectURL(file));
  const { data } = PLAYER;
  const host = document.body.appendChild(document.createElement("div"));
  const parentElement = host.attachShadow({ mode: "open" });
  const first = draw({ data, parentElement, setTriggerValue: () => {} });
  const second = draw({ data, parentElement, setTriggerValue: () => {} });
  first();
  const left = parentElement.querySelectorAll("section").length;
  host.remove();
  second();
  return [left, parentElement.querySelectorAll("section").length];
}""".replace("PLAYER", PLAYER)


def test_a_drawing_that_was_overtaken_leaves_the_player(page):
    assert page.evaluate(OVERTAKEN, source(*SCRIPTS)) == [1, 0]


def test_charts_and_buttons_are_in_the_first_screen(page):
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    for name in ("Play (space)", "Present: large, without the rest (P)"):
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    for canvas in page.get_by_role("img", name="Image of all features").all():
        expect(canvas).to_be_in_viewport(ratio=1)
    for name in ("Right answers", "Features in the model"):
        expect(page.get_by_role("img", name=name).first).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("it had not seen, the model got")).to_be_in_viewport(ratio=1)
    for name in ("Right answers with the rules", "Right answers without the rules"):
        expect(page.get_by_test_id("stMetric").filter(has_text=name)).to_be_in_viewport(ratio=1)


def test_curves_of_the_algorithm_stand_behind_a_button_and_in_the_presenter(page):
    objective = page.get_by_role("img", name="Objective of phase 1").first
    expect(objective).to_be_hidden()
    page.get_by_role("button", name="How it was found").click()
    expect(objective).to_be_visible()
    page.get_by_role("button", name="How it was found").click()
    expect(objective).to_be_hidden()
    page.get_by_role("button", name="Present").click()
    expect(objective).to_be_visible()


RECORD = """(shown) => new Promise((done) => {
  const player = PLAYER;
  player.shown = shown;
  player.arrange();
  const side = player.sides[shown];
  const { canvas } = side.grid;
  const sizes = new Set();
  let [last, changes] = [null, 0];
  const look = () => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let hash = 0;
    for (let i = 0; i < data.length; i += 5) hash = (31 * hash + data[i]) | 0;
    const now = `${hash} ${side.charts.map((chart) => chart.window.style.transform)}`;
    if (now !== last) changes += 1;
    last = now;
    sizes.add(side.inside[side.frame]);
    if (player.playing) requestAnimationFrame(look);
    else done([sizes.size, changes, side.inside.at(-1), side.right.at(-1)]);
  };
  player.seek(0);
  player.draw();
  player.toggle();
  requestAnimationFrame(look);
})""".replace("PLAYER", PLAYER)
LIT = "[...player.sides[0].grid.levels].map((l, i) => l ? i : -1).filter((i) => i >= 0)"


@pytest.mark.long
@pytest.mark.parametrize(
    ("sample", "features", "right"),
    [("ksvm-s-10k", (197, 82), (399, 294)), ("ksvm-s-50k", (200, 95), (994, 724))],
)
def test_a_recording_of_the_play_moves_and_ends_on_the_model(
    server, visit, sample, features, right
):
    page = visit(server)
    press(page, f"show_{sample}")
    until(page, "player.last > 5 && !player.live && player.playing")
    until(page, "player.sides.length === 2 && !player.playing")
    for side in (0, 1):
        sizes, changes, last, answers = page.evaluate(RECORD, side)
        assert sizes >= 10
        assert changes >= 60
        assert (last, answers) == (features[side], right[side])


def test_play_and_pause_without_the_server(page):
    received = len(page.sizes)
    page.get_by_role("button", name="Play (space)").first.click()
    until(page, "player.at > 1 && player.sides[0].frame >= 1")
    page.get_by_role("button", name="Pause (space)").click()
    at = ask(page, "player.at")
    page.wait_for_timeout(300)
    assert ask(page, "player.at") == at
    assert len(page.sizes) == received
    drawn = ask(page, "player.frames")
    page.wait_for_timeout(1_500)  # what was lighting up has come to rest
    rested = ask(page, "player.frames")
    page.wait_for_timeout(500)
    assert ask(page, "player.frames") == rested >= drawn


@pytest.mark.long
def test_the_image_shows_the_features_of_the_step(page):
    page.get_by_role("slider", name="Step of the story").press("End")
    until(page, "player.sides[0].frame === player.last")  # the next picture of the screen
    lit = "player.sides[0].grid.levels.filter((level) => level > 0).length"
    assert ask(page, lit) == ask(page, "player.sides[0].inside.at(-1)") > 0
    expect(page.get_by_text("197 of 200", exact=True)).to_be_visible()
    page.get_by_role("button", name="First step (Home)").click()
    until(page, "player.sides[0].frame === 0")
    assert ask(page, lit) == ask(page, "player.sides[0].inside[0]")


@pytest.mark.long
def test_steps_speed_and_loop(page):
    page.get_by_role("button", name="One step on (right arrow)").click()
    page.get_by_role("button", name="One step on (right arrow)").click()
    page.get_by_role("button", name="One step back (left arrow)").click()
    assert ask(page, "player.at") == 1
    page.get_by_role("combobox", name="Speed").select_option("4")
    assert ask(page, "player.speed") == 4
    page.get_by_role("button", name="Play again and again (L)").click()
    page.get_by_role("button", name="Play (space)").click()
    until(page, "player.at >= player.last")
    until(page, "player.at < player.last && player.playing")
    page.get_by_role("button", name="Play again and again (L)").click()
    page.get_by_role("combobox", name="Speed").select_option("1")


def test_the_presenter_has_the_screen_and_the_keys(page):
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_text("Esc: leave")).to_be_visible()
    covering = "document.elementFromPoint(40, 300).closest('[data-testid=stSidebar]')"
    assert page.evaluate(f"{covering} === null")
    page.keyboard.press("ArrowRight")
    assert ask(page, "player.at") == 1
    page.keyboard.press(" ")
    assert ask(page, "player.playing")
    page.keyboard.press(" ")
    assert not ask(page, "player.playing")
    assert ask(page, "player.look.size") >= 16
    page.keyboard.press("Escape")
    assert not ask(page, "player.dialog.open")
    expect(page.get_by_text("Esc: leave")).to_be_hidden()


def test_the_presenter_shows_both_sides_by_a_key(page):
    page.get_by_role("button", name="Present").click()
    titles = "player.sides.map((side) => side.root.hidden ? '' : side.story.title)"
    assert ask(page, titles) == ["With the rules", ""]
    page.keyboard.press("c")
    assert ask(page, titles) == ["With the rules", "Without the rules"]
    assert ask(page, "player.dialog.open")
    spans = "player.sides.map((side) => [side.story.begin, side.story.end])"
    assert ask(page, spans)[0] == ask(page, spans)[1]
    page.keyboard.press("c")
    assert ask(page, titles) == ["", "Without the rules"]
    assert ask(page, "player.sides[1].inside.at(-1)") == 82
    page.keyboard.press("c")


@pytest.mark.long
def test_nothing_sent_is_large(page):
    assert 0 < max(page.sizes) < 2**20


@pytest.mark.long
def test_the_presenter_flips_a_rule_heals_it_and_runs_by_keys(server, visit):
    page = visit(server)
    page.set_viewport_size({"width": 1280, "height": 800})
    press(page, "show_ksvm-s-10k")
    expect(page.get_by_text("What the rules did")).to_be_visible()
    page.keyboard.press("p")
    until(page, "player.dialog.open && player.offers('flip 0')")
    page.keyboard.press("f")
    told = page.locator(".presenter .alarm")
    expect(told).to_contain_text("may be the cause: rule 1: mean(K1) >= 4 => negative")
    expect(told).to_be_in_viewport(ratio=1)
    colour = "getComputedStyle(player.alarm).color"
    assert ask(page, colour) != ask(page, "getComputedStyle(player.root).color")
    page.keyboard.press("End")
    until(page, "player.sides[0].frame === player.sides[0].story.frames - 1")
    cells = "[0, 49].map((cell) => player.sides[0].grid.resting(cell))"
    assert ask(page, cells) == [6, 6]  # the block that the rule speaks of, in red
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    named = page.get_by_test_id("stAlert").filter(has_text="This rule may be the cause")
    expect(named).to_contain_text("rule 1: mean(K1)")
    expect(named).to_be_in_viewport(ratio=1)
    page.keyboard.press("h")
    expect(named).to_be_hidden()
    until(page, "player.offers('flip 0')")
    expect(page.get_by_text("399 right")).to_be_visible()
    page.keyboard.press("r")
    until(page, "player.playing")
