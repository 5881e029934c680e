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
    assert text.startswith("Pinned → now: ")


def test_kept_models_are_told_apart_in_the_table():
    state, model = fitted()
    sides = [Side.of(own, state.data) for own in (model, model.named("second"))]
    table = changes.sides_table(sides, "second")
    assert table["pinned"].tolist() == ["", "pinned"]
    assert table["rules"].tolist() == ["2 rules", "2 rules"]
