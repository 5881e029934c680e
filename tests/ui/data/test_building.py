from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import DataError
from tests.ui.made_data import made, table
from ui.data.loading import build
from ui.dataset import Loaded, Preparation
from ui.state import AppState


def test_training_and_test_rows_are_apart_and_cover_the_table():
    data = made(test_fraction=0.25)
    train, test = data.patients
    assert sorted([*train, *test]) == list(range(1, 41))
    assert data.X_test.shape == (10, 4)
    assert data.counts("train") == {"well": 15, "ill": 15}
    assert data.judged.part == "test"
    assert data.judged.X is data.X_test


def test_the_summary_counts_the_gaps_of_the_file():
    data = made()
    assert dict(zip(data.feature_names, data.summary["missing"], strict=True)) == {
        "a": 0,
        "b": 1,
        "c": 0,
        "d": 0,
    }


def test_a_test_file_must_be_there():
    with pytest.raises(DataError, match="expected a second file"):
        made(test="file")


def test_patients_without_a_label_are_kept_for_learning_and_never_judge():
    whole = table()
    whole.text["state"][:4] = ""
    chosen = Preparation(label="state", positive="ill")
    data = build(Loaded("made", whole, unlabelled=table(6, labelled=False)), chosen, {})
    assert data.n_unlabelled == 10
    assert data.unlabelled_names[:2] == ("row 1", "row 2")
    assert data.unlabelled_names[-1] == "row 6 of the second file"
    X, y = data.learning_rows
    n = len(data.y_train)
    assert X.shape[0] == n + 10
    assert y[n:].tolist() == [None] * 10
    np.testing.assert_array_equal(X[:n], data.X_train)
    rows = np.concatenate(data.patients)
    assert sorted(rows) == list(range(5, 41))
    part = data.with_training(np.arange(8))
    assert part.learning_rows[0].shape[0] == 18
    without = build(Loaded("made", whole), Preparation("state", "ill", use_unlabelled=False), {})
    assert without.learning_rows[0] is without.X_train


def test_a_fit_takes_the_patients_without_a_label():
    whole = table()
    whole.text["state"][::4] = ""
    state = AppState()
    state.load(Loaded("made", whole, label="state", rules="a >= 0.2 => ill"))
    state.settings = state.settings.changed(fewness="exact", lambda1=0.1)
    model = state.request().fit()
    assert any(member.on_rows for member in model.classifier.members_)
    assert model.judgement.accuracy.n == len(state.data.y_test)
