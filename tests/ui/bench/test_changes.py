from __future__ import annotations

import pytest

from tests.ui.pima import fitted
from ui.bench import changes
from ui.bench.sides import Comparison, Side


def pair(rules: str) -> Comparison:
    state, model = fitted()
    other = model if not rules else state.request(rules=rules).fit(like=model)
    return Comparison(*(Side.of(own, state.data) for own in (model, other)))


def test_a_model_does_not_differ_from_itself():
    found = pair("")
    assert "get the answer they had" in changes.verdict(found)
    assert [abs(figure.change) for figure in changes.headline(found)] == [0, 0, 0, 0]


def test_the_verdict_counts_better_and_worse():
    found = pair("Age >= 50 => diabetic worth 200 patients")
    better, worse = len(found.flips.better), len(found.flips.worse)
    text = changes.verdict(found, expert=True)
    assert f"{better:,} became right and {worse:,} wrong" in text
    assert ("more than chance" in text) == (found.flips.p_value < changes.CLEAR)
    gain = changes.headline(found)[0].change
    assert gain == pytest.approx(100 * (better - worse) / found.new.model.judgement.accuracy.n)


def test_the_picture_of_the_weights_has_words():
    chart, text = changes.weights(pair(""))
    assert len(chart.data) == 2
    assert text.startswith(r"first \(pinned\) → first: ")


def test_rows_of_the_picture_keep_their_order_while_a_slider_moves():
    pairs = [pair(f"Age >= {age} => diabetic worth 90 patients") for age in (30, 50, 60)]
    orders = [list(changes.weights(found)[0].layout.yaxis.ticktext) for found in pairs]
    places = {name: k for k, name in enumerate(orders[0])}
    for order in orders[1:]:
        known = [places[name] for name in order if name in places]
        assert known == sorted(known)
    assert any(len(order) > 1 for order in orders)


def test_a_kept_model_is_called_by_its_name_and_never_now():
    state, model = fitted()
    other = state.request(rules="Age >= 50 => diabetic worth 200 patients").fit().named("row")
    found = Comparison(*(Side.of(own, state.data) for own in (model.named("first"), other)))
    chart, text = changes.weights(found)
    assert [trace.name for trace in chart.data] == ["first (pinned)", "row"]
    for table in (found.patients, found.largest):
        assert {"by first (pinned)", "by row"} <= set(table.columns)
    assert "now" not in " ".join([text, *found.patients.columns, *found.patients["change"]])


def test_a_kept_model_shows_its_thresholds_and_worths():
    state, _ = fitted()
    rules = "Age >= 50 => diabetic worth 20 patients\nBMI <= 20 => healthy"
    told = changes.thresholds(state.request(rules=rules).fit())
    assert told == "Age >= 50 ⇒ diabetic, worth 20; BMI <= 20 ⇒ healthy, worth left open"


def test_kept_models_are_told_apart_in_the_table():
    state, model = fitted()
    sides = [Side.of(own, state.data) for own in (model, model.named("second"))]
    table = changes.sides_table(sides, "second")
    assert table["pinned"].tolist() == ["", "pinned"]
    assert all("worth" in words for words in table["rules"])
