from __future__ import annotations

import asyncio
import base64
import gc
import json
import math

import numpy as np
import pytest
from starlette.applications import Starlette

from tests.ui.pima import fitted, session
from tests.ui.server.event_loops import run_apart
from ui.workbench import live, refit
from ui.workbench.live import LiveRefits, Scene, known, read_move, written
from ui.workbench.pictures import Pictures
from ui.workbench.sliders import Tuning, threshold_sliders, weight_sliders


def sliders_of(state):
    text, data = state.tuning.draft, state.data
    found = [*threshold_sliders(text, data), *weight_sliders(text, data.n_patients, data.read)]
    return {slider.name: slider for slider in found}


def open_refits(browser=""):
    """The refits of a session with a reference model of given sparsity."""
    state, model = session(), fitted()[1]
    state.data = fitted()[0].data
    state.keep(model)
    state.pinned = model.name
    refit.follow_rules(state)
    refits = LiveRefits(browser)
    pictures = Pictures(state.data, model)
    refits.scene = Scene(
        state.data, model, dict(state.blocks), state.tuning.draft, sliders_of(state),
        state.tuning, pictures,
    )  # fmt: skip
    return state, refits


def talk(refits_cookie, messages, path=live.PATH):
    """What the server sends to a browser that opens the WebSocket and says these things."""
    sent = []
    asked = [{"type": "websocket.connect"}]
    asked += [{"type": "websocket.receive", "text": text} for text in messages]
    asked += [{"type": "websocket.disconnect", "code": 1000}]

    async def receive():
        await asyncio.sleep(0)
        return asked.pop(0)

    async def send(message):
        sent.append(message)

    headers = [(b"cookie", f"hipad_browser={refits_cookie}".encode())] if refits_cookie else []
    scope = {
        "type": "websocket",
        "path": path,
        "headers": headers,
        "query_string": b"",
        "subprotocols": [],
    }
    run_apart(Starlette(routes=live.routes())({**scope, "root_path": ""}, receive, send))
    return sent


def move(n, **values):
    return json.dumps({"n": n, "values": values})


def test_answers_are_the_models_that_a_cold_fit_gives():
    state, refits = open_refits()
    for value in (130.0, 140.0, 150.0):
        answer = refits.answer(move(7, threshold_0_0=value, worth_1=40))
        assert answer["n"] == 7
    draft = written(state.tuning.draft, {"threshold_0_0": 150.0, "worth_1": 40.0},
                    refits.scene.sliders, state.data)  # fmt: skip
    assert "Glucose >= 150" in draft
    assert "worth 40 patients" in draft
    state.tuning.draft = draft
    cold = refit.slider_request(state, state.pinned_model).fit()
    scores = np.frombuffer(base64.b64decode(answer["scores"]), "<f4")
    assert scores == pytest.approx(cold.scores(state.data.X_train), abs=1e-5)
    cells = np.frombuffer(base64.b64decode(answer["cells"]), "<u4")
    assert sorted(cells) == sorted(refits.scene.pictures.field[1][cold.support])
    np.testing.assert_allclose(state.tuning.model.weights, cold.weights, atol=1e-9)


def test_the_page_takes_the_model_of_the_last_move_as_it_is():
    state, refits = open_refits()
    refits.answer(move(1, threshold_0_0=140.0))
    model = state.tuning.model
    state.tuning.draft = written(
        state.tuning.draft, {"threshold_0_0": 140.0}, refits.scene.sliders, state.data
    )
    assert refit.refitted(state, state.pinned_model) is model


def test_a_move_that_takes_folds_is_left_to_the_page():
    state, _ = open_refits()
    free = state.pinned_model.own_settings.changed(fewness="automatic")
    request = state.request(settings=free)
    assert Tuning().fit_without_folds(request, state.pinned_model) is None


def test_values_stay_within_the_range_and_both_ends_in_order():
    state = fitted()[0]
    text = "BMI between 20 and 30 => healthy"
    (slider,) = threshold_sliders(text, state.data)
    own = {slider.name: slider}
    assert "BMI between 22 and 28" in written(text, {slider.name: (28.0, 22.0)}, own, state.data)
    far = written(text, {slider.name: (-1e9, 1e9)}, own, state.data)
    assert f"between {slider.low:g} and {slider.high:g}" in far


@pytest.mark.parametrize(
    "message",
    ["", "[]", "{}", '{"n": "1", "values": {}}', '{"n": 1, "values": [1]}', "x" * 30_000,
     '{"n": 1, "values": {"a": NaN}}', '{"n": 1, "values": {"a": true}}',
     '{"n": 1, "values": {"a": [1, 2, 3]}}', '{"n": 1, "values": {"a": "1"}}',
     '{"n": 1, "values": {"a": 1' + "0" * 400 + "}}"],
)  # fmt: skip
def test_what_is_no_move_is_refused(message):
    with pytest.raises(ValueError, match=r"too long|no move|no values|no number|Expecting value"):
        read_move(message)


@pytest.mark.parametrize("values", [{"threshold_9_9": 1.0}, {"threshold_0_0": [1.0, 2.0]}])
def test_unknown_sliders_and_other_forms_get_a_sentence(values):
    _, refits = open_refits()
    answer = refits.answer(json.dumps({"n": 3, "values": values}))
    assert answer["n"] == 3
    assert "expected a value of a slider" in answer["error"]


def test_a_token_opens_the_refits_of_its_own_session_and_browser_only():
    (_, mine), (_, other) = open_refits("a" * 43), open_refits("b" * 43)
    assert mine.token != other.token
    assert len(mine.token) >= 43
    opening = json.dumps({"token": mine.token})
    assert known(opening, "a" * 43) is mine
    assert known(opening, "b" * 43) is None
    assert known(opening, "") is None
    for wrong in ('{"token": "x"}', '{"token": null}', '{"token": [1]}', "[]", '"x"'):
        assert known(wrong, "a" * 43) is None
    mine.stop()
    assert known(opening, "a" * 43) is None
    assert "no longer open" in mine.answer(move(1))["error"]


def test_a_token_dies_with_its_session():
    token = open_refits()[1].token
    gc.collect()
    assert known(json.dumps({"token": token}), "") is None


def test_the_server_answers_moves_after_the_right_token():
    _, refits = open_refits("c" * 43)
    opening = json.dumps({"token": refits.token})
    first, *answers = talk("c" * 43, [opening, move(1, threshold_0_0=130), move(2)])
    assert first["type"] == "websocket.accept"
    assert [json.loads(each["text"])["n"] for each in answers] == [1, 2]
    assert refits.n_open == 0


@pytest.mark.parametrize("opening", ["", "{}", '{"token": "guess"}', "x" * 30_000])
def test_the_server_closes_without_the_right_token(opening):
    _, *rest = talk("d" * 43, [opening, move(1)])
    assert [(each["type"], each["code"]) for each in rest] == [("websocket.close", live.REFUSED)]


def test_one_session_has_a_few_connections_at_most():
    _, refits = open_refits()
    refits.n_open = live.MOST_OPEN
    opening = json.dumps({"token": refits.token})
    assert talk("", [opening, move(1)])[1]["code"] == live.REFUSED
    assert refits.n_open == live.MOST_OPEN


def test_answers_are_json_that_a_browser_reads():
    _, refits = open_refits()
    answer = refits.answer(move(1, threshold_0_0=131.0))
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    assert all(math.isfinite(len(str(value))) for value in answer.values())
