from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.errors import HipadError
from hipad.rules import Budget
from tests.ui.pima import fitted
from ui.bench.crosswise import crossed, folds, request_of


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=60))
def test_no_group_is_split_and_everybody_is_judged_once(patients):
    y = np.array(["ill" if ill else "well" for ill, _ in patients])
    groups = np.array([group for _, group in patients])
    parts = folds(y, groups)
    for learnt, held in parts:
        assert not set(groups[learnt]) & set(groups[held])
        assert len(set(y[learnt])) == 2
    if parts:
        assert sorted(np.concatenate([held for _, held in parts])) == list(range(len(y)))


def test_without_groups_there_are_five_folds():
    assert len(folds(np.array(["ill", "well"] * 20), None)) == 5
    assert folds(np.array(["ill"] * 5), None) == []
    assert folds(np.array(["ill", "well", "well"]), None) == []


def test_training_patients_are_judged_by_models_that_have_not_seen_them():
    state, model = fitted()
    request = request_of(model, state.data)
    *on_the_way, last = crossed(request, Budget(60))
    assert [found.done for found in on_the_way] == [0, 1, 2, 3, 4]
    right = last.judgement.accuracy
    assert right.n == len(state.data.y_train)
    own = model.oriented.judge(state.data.X_train, state.data.y_train, part="training").accuracy
    assert right.k <= own.k + 0.05 * own.n
    assert last == list(crossed(request, Budget(60)))[-1]


def test_a_spent_budget_ends_it():
    state, model = fitted()
    found = list(crossed(request_of(model, state.data), Budget(0)))
    assert all(part.judgement is None for part in found)


def test_rows_of_one_patient_are_judged_together():
    state, model = fitted()
    n = len(state.data.y_train)
    grouped = replace(state.data, group="who", groups=np.arange(n) // 3)
    *_, last = crossed(request_of(model, grouped), Budget(60))
    right = last.judgement.accuracy
    assert (right.n, right.patients) == (n, -(-n // 3))


def test_too_few_patients_are_told():
    state, model = fitted()
    request = request_of(model, state.data)
    few = replace(request.data, X_train=request.data.X_train[:1], y_train=request.data.y_train[:1])
    with pytest.raises(HipadError, match="two patients or groups"):
        list(crossed(replace(request, data=few), Budget(1)))
