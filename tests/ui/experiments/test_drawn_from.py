from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.ui.pima import session
from ui.experiments.experiment_panel import everybody, training


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
    n, n_test = len(state.data.y_train), len(state.data.y_test)
    assert training(state).y.size == n
    assert training(state).groups is None
    groups = {"groups": np.arange(n) % 4, "groups_test": np.full(n_test, 4)}
    state.data = replace(state.data, group="who", **groups)
    material = training(state)
    assert np.array_equal(material.groups, np.arange(n) % 4)
    assert set(everybody(state).groups) == {0, 1, 2, 3, 4}
    state.data = replace(state.data, group="", groups=None, groups_test=None)


def test_rules_that_say_positive_get_the_class_they_mean(state):
    state.rules.change("Glucose >= 140 => positive\nInsulin does not matter", "test")
    told = everybody(state).rules
    assert told == f"Glucose >= 140 => {state.data.classes[1]}\nInsulin does not matter"
