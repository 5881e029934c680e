from __future__ import annotations

from tests.ui.pima import compared, fitted
from ui.bench import changes
from ui.bench.sides import Comparison, Side


def test_the_picture_of_the_weights_has_words():
    chart, text = changes.weights(compared(""))
    assert len(chart.data) == 2
    assert text.startswith(r"first \(pinned\) → first: ")


def test_rows_of_the_picture_keep_their_order_while_a_slider_moves():
    pairs = [compared(f"Age >= {age} => diabetic worth 90 patients") for age in (30, 50, 60)]
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
