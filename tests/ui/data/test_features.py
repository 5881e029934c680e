from __future__ import annotations

import pytest

from tests.ui.pima import session
from ui.data.features import class_balance, find_features, missing_values


@pytest.fixture(scope="module")
def state():
    return session()


def test_a_search_is_text_and_never_a_pattern(state):
    assert list(find_features(state.data, "GLU", "", None)["feature"]) == ["Glucose"]
    assert find_features(state.data, ".*", "", None).empty


def test_features_of_a_block_come_in_the_order_asked_for(state):
    found = find_features(state.data, "", "history", "mean")
    assert set(found["feature"]) == {"Pregnancies", "DiabetesPedigree", "Age"}
    assert found["mean"].is_monotonic_decreasing


def test_the_pictures_are_told_in_words(state):
    assert class_balance(state.data)[1].startswith("35 % of the patients to learn from")
    chart, text = missing_values(state.loaded)
    assert "most in Insulin: 374 of 768 (49 %)" in text
    assert max(chart.data[0].x) == 374
