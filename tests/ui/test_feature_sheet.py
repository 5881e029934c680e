from __future__ import annotations

import numpy as np
import pytest

from tests.ui.datasets import made
from tests.ui.pima import fitted
from ui import feature_sheet
from ui.state import AppState


def test_a_tile_opens_its_feature_once():
    state = AppState()
    feature_sheet.ask_cell(state, "2", np.array([0, 1, 2, 2]))
    assert feature_sheet.is_asked(state)
    assert feature_sheet.taken(state) == 2
    assert feature_sheet.taken(state) is None


@pytest.mark.parametrize("cell", ["", "-1", "x", "9", "9" * 30, "1e3", "None"])
def test_what_is_no_tile_opens_nothing(cell):
    state = AppState()
    feature_sheet.ask_cell(state, cell, np.arange(4))
    assert not feature_sheet.is_asked(state)


def test_values_that_were_not_measured_are_not_shown():
    data = made()
    column = data.index.position("b")
    values, positive = feature_sheet.measured(data, column)
    gaps = int(data.gaps_seen.rows([column]).sum())
    assert values.size == positive.size == len(data.y_train) - gaps
    chart, text = feature_sheet.histogram(data, values, positive)
    assert sum(int(np.sum(bar.y)) for bar in chart.data) == values.size
    assert text.startswith("On average")
    table = feature_sheet.by_class(data, values, positive)
    assert [str(size) for size in table[data.line_word()]] == [
        str(int(np.sum(positive == own))) for own in (False, True)
    ]


def test_a_feature_is_told_with_its_weight_and_its_rules():
    state, model = fitted()
    data = state.data
    column = data.index.position("Glucose")
    words = feature_sheet.weight_words(data, model, column)
    assert words.startswith("Weight ") or words == "It has no weight in the model."
    rules = "a: Glucose >= 130 => diabetic\nb: BMI >= 30 => diabetic\nbroken >= => x"
    assert feature_sheet.naming(data, rules, column) == ["a: Glucose >= 130 => diabetic"]
    assert feature_sheet.weight_words(data, None, column) == "No model of these data yet."
