from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.rules import FeatureIndex
from hipad.rules.names import block_members
from tests.ui.pima import session
from ui.data.features import class_balance, find_features, missing_values, suggestions


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
    assert class_balance(state.data)[1].startswith("35 % of the training patients are")
    chart, text = missing_values(state.loaded, "patients")
    assert "most in Insulin: 374 of 768 (49 %)" in text
    assert max(chart.data[0].x) == 374


def test_groups_get_free_names_and_columns_of_the_whole_table():
    """Column 2 was left out in preparation: the definition must not name it."""
    state = session()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 1)) + 0.1 * rng.standard_normal((50, 5))
    every = FeatureIndex(["B2", "g1", "left", "g3", "g4", "g5"])
    data = replace(state.data, X_train=X, every=every, kept=np.array([0, 1, 3, 4, 5]))
    state.blocks = {"B1": "g1"}
    found = suggestions(state, data)
    assert list(found) == ["B3"]
    assert block_members(found["B3"], every).tolist() == [0, 1, 3, 4, 5]
