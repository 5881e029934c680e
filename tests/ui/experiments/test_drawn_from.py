from __future__ import annotations

import numpy as np
import pytest

from tests.ui.pima import session
from ui.experiments.drawn_from import everybody, training


@pytest.fixture(scope="module")
def state():
    return session()


def test_everybody_takes_part_in_experiments_about_rules(state):
    material = everybody(state)
    assert material.y.size == len(state.data.y_train) + len(state.data.y_test)
    assert material.labels == state.data.classes
    assert not material.apart
    assert set(np.unique(material.y)) == {-1.0, 1.0}
    positives = state.data.counts("train")[state.data.classes[1]]
    assert np.sum(material.y[: len(state.data.y_train)] > 0) == positives
    assert everybody(state) is material


def test_what_chooses_sees_training_patients_only(state):
    groups = np.repeat(["a", "b", "c", "d"], -(-len(state.data.y_train) // 4))
    material = training(state, groups[: len(state.data.y_train)])
    assert material.y.size == len(state.data.y_train)
    assert material.groups is not None
    assert set(material.groups) == {0, 1, 2, 3}


def test_rules_that_say_positive_get_the_class_they_mean(state):
    state.rules.change("Glucose >= 140 => positive\nInsulin does not matter", "test")
    told = everybody(state).rules
    assert told == f"Glucose >= 140 => {state.data.classes[1]}\nInsulin does not matter"
