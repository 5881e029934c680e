"""Saved models predict what they did, and a file that is not a whole model says so."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from hipad import HIPADClassifier, load_model
from hipad.data import prepare, read_table
from hipad.estimator.model_io import Origin, read_model, save_model
from hipad.estimator.serialization import plain, rebuild
from hipad.exceptions import DataError
from hipad.solvers import Certificate, Status

RULES = "high: mean(K) >= 1 => positive worth 5 patients  # a note\nx3 >= 2 => negative"
BLOCKS = {"K": [0, 1, 2], "unused": [4, 5]}


def data(n=40, m=12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.standard_normal((n, m)) + np.outer(y, np.r_[1.0, 0.7, 0.5, np.zeros(m - 3)]), y


def fitted(**parameters):
    X, y = data()
    return HIPADClassifier(RULES, blocks=BLOCKS, **{"lambda1": 0.05, **parameters}).fit(X, y)


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path / "model.json")
    return tmp_path / "model.json"


def test_a_loaded_model_is_the_saved_one(model, saved):
    X, _ = data(seed=1)
    loaded = load_model(saved)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert np.array_equal(loaded.predict(X), model.predict(X))
    for name in ("coef_", "intercept_", "support_", "classes_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
        assert getattr(loaded, name).dtype == getattr(model, name).dtype
    assert loaded.certificate_ == model.certificate_
    assert loaded.selection_certificate_ == model.selection_certificate_
    assert loaded.lambda1_ == model.lambda1_
    assert loaded.data_sha256_ == model.data_sha256_


def test_history_and_rule_report_come_back(model, saved):
    loaded = load_model(saved)
    assert json.dumps(plain(loaded.history_)) == json.dumps(plain(model.history_))
    assert loaded.history_[0].entered.dtype.kind == "i"
    assert [str(r) for r in loaded.rule_report_] == [str(r) for r in model.rule_report_]
    assert [r.as_dict() for r in loaded.rule_report_] == [r.as_dict() for r in model.rule_report_]


def test_settings_and_rules_come_back_and_fit_again_to_the_same(model, saved):
    loaded = load_model(saved)
    ours, theirs = loaded.get_params(), model.get_params()
    assert {k: v for k, v in ours.items() if k != "blocks"} == {
        k: v for k, v in theirs.items() if k != "blocks"
    }
    assert {k: list(v) for k, v in loaded.blocks.items()} == {"K": [0, 1, 2]}
    assert np.array_equal(clone(loaded).fit(*data()).coef_, model.coef_)


def test_a_loaded_model_can_be_saved_again(model, saved, tmp_path):
    load_model(saved).save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(saved.read_text())


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [0, 1],
        [-1, 1],
        [False, True],
        [1.0, 2.0],
        np.array(["a", "Ünï ✓"], dtype=object),
        np.array([3, 7], dtype=np.int8),
    ],
)
def test_labels_keep_their_type(labels, tmp_path):
    X, y = data()
    clf = HIPADClassifier(lambda1=0.1).fit(X, np.array(labels)[(y > 0).astype(int)])
    clf.save(tmp_path / "m.json")
    again = load_model(tmp_path / "m.json").predict(X)
    assert again.dtype == clf.predict(X).dtype
    assert np.array_equal(again, clf.predict(X))


def test_a_dict_of_class_weights_keeps_its_labels(tmp_path):
    clf = fitted(class_weight={-1: 2.0, 1: 0.5})
    clf.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").class_weight == {-1: 2.0, 1: 0.5}


def test_names_of_a_data_frame_are_kept(tmp_path):
    X, y = data(m=3)
    frame = pd.DataFrame(X, columns=["age", "p-36=t", "BMI"])
    clf = HIPADClassifier("`p-36=t` >= 1 => positive", lambda1=0.05).fit(frame, y)
    clf.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    assert np.array_equal(loaded.predict(frame), clf.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["BMI", "age", "p-36=t"]])


def test_an_automatic_lambda1_and_its_path_are_kept(tmp_path):
    clf = HIPADClassifier(lambda1="auto").fit(*data(n=20, m=4))
    clf.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert (loaded.lambda1, loaded.lambda1_) == ("auto", clf.lambda1_)
    assert loaded.path_ == clf.path_
    assert np.isnan(loaded.history_[0].primal_residual)


def test_the_hash_tells_data_apart_and_knows_the_same_again():
    X, y = data()
    first = HIPADClassifier(lambda1=0.1).fit(X, y).data_sha256_
    assert first == HIPADClassifier(lambda1=0.2).fit(np.asfortranarray(X), y).data_sha256_
    X[3, 4] += 1e-9
    assert first != HIPADClassifier(lambda1=0.1).fit(X, y).data_sha256_
    sparse = HIPADClassifier(lambda1=0.1).fit(sp.csr_array(X), y).data_sha256_
    assert sparse == HIPADClassifier(lambda1=0.1).fit(sp.csc_array(X), y).data_sha256_
    assert sparse != HIPADClassifier(lambda1=0.1).fit(sp.csr_array(X), -y).data_sha256_


def test_the_origin_of_a_table_is_kept(tmp_path):
    table = read_table(b"a,b,c\n1,x,no\n2,y,yes\n,x,no\n4,y,yes\n")
    prepared = prepare(table, label="c")
    clf = HIPADClassifier(lambda1=0.01).fit(prepared.X, prepared.y)
    origin = Origin("c", prepared.classes, prepared.recipe)
    save_model(clf, tmp_path / "m.json", origin=origin)
    again = read_model(tmp_path / "m.json").origin
    assert again.classes == ("no", "yes")
    assert again.recipe.feature_names == prepared.recipe.feature_names
    rows = np.arange(table.n_rows)
    assert np.array_equal(again.recipe.matrix(table, rows)[0], prepared.X)


def test_a_model_that_was_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        HIPADClassifier().save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [("not json", "got something else"), ('{"format": "hipad-model"}', "damaged")],
)
def test_a_wrong_file_says_so(text, message, tmp_path):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(DataError, match=f"m.json.*{message}"):
        load_model(tmp_path / "m.json")


def test_a_failed_save_keeps_the_old_file(saved, model, monkeypatch):
    before = saved.read_text()

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="No space left"):
        model.save(saved)
    assert saved.read_text() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


@given(st.lists(st.floats(), min_size=7, max_size=7))
def test_certificates_round_trip_exactly(numbers):
    values = dict(zip(
        ("primal_objective", "dual_objective", "gap", "primal_residual", "dual_residual",
         "complementarity"), numbers, strict=False,
    ))  # fmt: skip
    before = Certificate(Status.LIMIT, **values, covers="all", message="m")
    after = rebuild(Certificate, json.loads(json.dumps(plain(before), allow_nan=False)))
    assert repr(after) == repr(before)
    assert replace(after) == after or any(np.isnan(numbers))


@pytest.mark.parametrize("value", [{}, [], {"status": "solved"}, None])
def test_a_record_with_parts_missing_is_refused(value):
    with pytest.raises((ValueError, KeyError)):
        rebuild(Certificate, value)
