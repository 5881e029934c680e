from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.data import Table
from hipad.errors import DataError
from ui.dataset import NO_BLOCK, Loaded, Preparation, build

BLOCKS = {"first": "a, b", "second": "b, c", "constant": "same", "lost": "zzz"}


def table(n=40, *, labelled=True):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((n, 4)), np.ones(n)])
    X[3, 1] = np.nan
    text = {"state": np.where(np.arange(n) % 2, "ill", "well")} if labelled else {}
    return Table(X, ("a", "b", "c", "d", "same"), text, "made", sha256="s")


def made(blocks=BLOCKS, **preparation):
    chosen = Preparation(label="state", positive="ill", **preparation)
    return build(Loaded("made", table()), chosen, blocks)


def test_training_and_test_rows_are_apart_and_cover_the_table():
    data = made(test_fraction=0.25)
    train, test = data.patients
    assert sorted([*train, *test]) == list(range(1, 41))
    assert data.X_test.shape == (10, 4)
    assert data.counts("train") == {"well": 15, "ill": 15}
    assert data.judged.part == "test"
    assert data.judged.X is data.X_test


def test_models_are_judged_by_the_training_patients_where_there_are_no_others():
    alone = made(test="none")
    assert alone.judged.part == "training"
    assert alone.judged.y is alone.y_train


def test_a_test_file_without_classes_is_not_judged_by():
    loaded = Loaded("made", table(), test=table(6, labelled=False))
    data = build(loaded, Preparation(label="state", positive="ill", test="file"), {})
    assert data.X_test.shape == (6, 4)
    assert data.judged.part == "training"


def test_a_feature_is_in_the_first_block_that_names_it():
    data = made()
    assert data.block_of(np.arange(4)) == ["first", "first", "second", NO_BLOCK]
    assert {name: columns.tolist() for name, columns in data.blocks.items()} == {
        "first": [0, 1],
        "second": [1, 2],
    }


def test_blocks_that_cannot_be_used_are_told():
    failed = made().blocks_failed
    assert failed["constant"] == "all its features were left out in preparation"
    assert "zzz" in failed["lost"]


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


def test_patients_are_called_by_their_ids_where_the_file_has_them():
    whole = table()
    ids = np.array([f"patient {i}" for i in range(40)])
    for named in (
        replace(whole, ids=tuple(ids)),
        replace(whole, text={**whole.text, "patient_id": ids}),
    ):
        data = build(Loaded("made", named), Preparation(label="state"), {})
        for which in (0, 1):
            assert data.called(which).tolist() == [ids[i - 1] for i in data.patients[which]]
        assert data.called(0, np.array([2])).tolist() == [ids[data.patients[0][2] - 1]]
    assert made().called(1).tolist() == made().patients[1].tolist()
