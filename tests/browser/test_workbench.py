"""The Workbench in a real browser: models follow a slider, and at rest they are exact."""

from __future__ import annotations

import json

import numpy as np
import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.browser.test_path import go, heading, press
from ui.data.samples import synthetic
from ui.state import AppState
from ui.workbench import refit

pytestmark = pytest.mark.browser

# The numbers of the last model that the view shows, in the order of the patients.
SCORES = "view => Array.from(view.view.dots.scores)"
ANSWERED = """(view, states) => new Promise(done => {
  const isThere = () => view.view.states > states
  const look = left => (isThere() || !left ? done() : setTimeout(look, 50, left - 1))
  look(1200)
})"""
CELLS = "view => Array.from(view.view.field.lights.keys())"


def open_workbench(page: Page, sample: str) -> None:
    press(page, f"show_{sample}")
    expect(heading(page, "Result")).to_be_visible()
    go(page, "Workbench")
    expect(page.locator(".view[data-line=open][data-rest]")).to_be_visible()


def cold_model(data: str, draft: str):
    """A model of these rules, fitted without any that went before it."""
    state = AppState()
    state.load(synthetic(data))
    state.keep(state.request().fit().named("first run"))
    state.pinned = "first run"
    refit.follow_rules(state)
    state.tuning.draft = draft
    assert state.pinned_model is not None
    return refit.slider_request(state, state.pinned_model).fit(), state.data


def test_models_follow_a_drag_and_at_rest_equal_a_cold_fit(server, visit):
    page = visit(server)
    page.set_viewport_size({"width": 1280, "height": 800})
    sockets: list[WebSocket] = []
    page.on("websocket", lambda socket: sockets.append(socket))
    open_workbench(page, "ksvm-s-10k")
    view = page.locator(".view")
    before = np.array(view.evaluate(SCORES))
    first_axis = view.locator("canvas").last.bounding_box()

    slider = view.get_by_label("rule 1: mean(K1) at least")
    for name in ("rule 1: mean(K1) at least", "rule 2: mean(K4) at least"):
        expect(view.get_by_label(name)).to_be_in_viewport(ratio=1)
    expect(view.get_by_role("img", name="Field of all features")).to_be_in_viewport(ratio=1)
    expect(view.get_by_role("img", name="training samples as dots")).to_be_in_viewport(ratio=1)

    box = slider.bounding_box()
    assert box is not None
    at = float(slider.input_value())
    low, high = (float(slider.get_attribute(end) or 0) for end in ("min", "max"))
    x = box["x"] + 8 + (box["width"] - 16) * (at - low) / (high - low)
    page.mouse.move(x, box["y"] + box["height"] / 2)
    page.mouse.down()
    shown: set[tuple[float, ...]] = set()
    for step in range(1, 13):  # until the server has answered each of these moves
        states, value = view.evaluate("view => view.view.states"), slider.input_value()
        page.mouse.move(x - 8 * step, box["y"] + box["height"] / 2)
        if slider.input_value() != value:
            view.evaluate(ANSWERED, states)
        shown.add(tuple(np.round(view.evaluate(SCORES), 4)))
    assert len(shown) >= 10, "the picture hardly changes"
    page.mouse.up()
    expect(page.locator(".view[data-rest]")).to_be_visible()
    expect(page.get_by_role("button", name="Apply to the rules")).to_be_enabled()
    assert view.locator("canvas").last.bounding_box() == first_axis

    scores, cells = np.array(view.evaluate(SCORES)), sorted(view.evaluate(CELLS))
    assert np.abs(scores - before).max() > 1e-3
    threshold = slider.input_value()
    press(page, "bench_apply")
    expect(page.get_by_role("button", name="Apply to the rules")).to_be_disabled()
    cold, data = cold_model(
        "10k", f"mean(K1) >= {threshold} => positive\nmean(K4) >= 3 => negative"
    )
    assert scores == pytest.approx(cold.scores(data.X_train), abs=1e-4)
    assert cells == sorted(cold.support)  # blocks come first, so a cell's number is its feature's

    ours = [socket for socket in sockets if socket.url.endswith("/live-refits")]
    assert len(ours) == 1
    assert ours[0].url.startswith("ws://127.0.0.1") or ours[0].url.startswith("ws://localhost")


def test_a_slider_works_from_the_keyboard(server, visit):
    page = visit(server)
    open_workbench(page, "ksvm-s-10k")
    slider = page.locator(".view").get_by_label("rule 1: weight (patients)")
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")
    value = slider.input_value()
    expect(page.get_by_role("button", name="Apply to the rules")).to_be_enabled()
    expect(page.locator(".view[data-rest]")).to_be_visible()
    expect(slider).to_have_value(value)
    expect(slider).to_be_focused()
    press(page, "bench_reset")
    expect(slider).not_to_have_value(value)
    switch = page.locator(".view").get_by_label("Use the rule rule 2")
    switch.press("Space")
    expect(page.get_by_role("button", name="Apply to the rules")).to_be_enabled()
    expect(page.locator(".view").get_by_label("rule 2: mean(K4) at least")).to_be_disabled()


def test_without_the_websocket_a_slider_still_counts_when_it_rests(server, visit):
    page = visit("about:blank")
    page.route_web_socket("**/live-refits", lambda socket: socket.close())
    page.goto(server)
    press(page, "show_ksvm-s-10k")
    expect(heading(page, "Result")).to_be_visible()
    go(page, "Workbench")
    slider = page.locator(".view").get_by_label("rule 1: mean(K1) at least")
    before = page.locator(".view").evaluate(SCORES)
    slider.focus()
    for _ in range(8):
        slider.press("ArrowLeft")
    expect(page.get_by_role("button", name="Apply to the rules")).to_be_enabled()
    expect(page.locator(".view[data-rest]")).to_be_visible()
    assert page.locator(".view").evaluate(SCORES) != before


def test_pages_of_other_sites_and_guesses_get_no_refits(server, visit):
    page = visit(server)
    open_workbench(page, "ksvm-s-10k")
    address = f"{server.replace('http', 'ws', 1)}/live-refits"
    opening = """([address, token]) => new Promise(done => {
      const socket = new WebSocket(address)
      socket.onopen = () => { socket.send(JSON.stringify({token}))
        socket.send(JSON.stringify({n: 1, values: {}})) }
      socket.onmessage = event => done(event.data)
      socket.onclose = event => done(event.code)
    })"""
    token = page.locator(".view").evaluate("view => view.view.data.token")
    assert json.loads(page.evaluate(opening, [address, token]))["n"] == 1
    assert page.evaluate(opening, [address, "guess"]) == 1008
    stranger = visit(server)  # another browser, who has found out the token
    expect(heading(stranger, "HIPAD Workbench")).to_be_visible()
    assert stranger.evaluate(opening, [address, token]) == 1008
    foreign = visit("about:blank")  # a page of another origin
    assert foreign.evaluate(opening, [address, token]) in (1006, 1008)
