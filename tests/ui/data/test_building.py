from __future__ import annotations

import pytest

from hipad.errors import DataError
from tests.ui.made_data import made


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
