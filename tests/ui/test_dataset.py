from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.ui.datasets import made, table
from ui.data.loading import build
from ui.dataset import NO_BLOCK, Loaded, Preparation


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


def test_a_row_has_the_word_of_the_data():
    data = made(row_word="customer")
    assert [data.row_word(n) for n in (0, 1, 2)] == ["customers", "customer", "customers"]
    assert data.whom("train") == f"{len(data.y_train)} customers"
    assert made().row_word() == "rows"


def test_groups_without_a_name_are_groups():
    data = made()
    many = replace(data, groups=np.arange(len(data.y_train)) // 2)
    assert many.whom("train") == f"{len(data.y_train)} rows of {len(data.y_train) // 2} groups"
    assert "patient" in replace(many, unit="patient").whom("train")


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
