from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from hipad.exceptions import DataError
from hipad.experiments.methods import (
    METHODS,
    ExperimentData,
    _chosen_C,
    at_prevalence,
    contest,
    judged,
)
from tests.experiments.small import recipe, table

# --------------------------------------------------------------------------------------------------
# Contests.


FIXED = {"lambda1": 0.1, "lambda2": 1.0}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_judged_on_the_rows_it_did_not_see(method):
    options = FIXED if method not in ("LIBSVM", "rules alone") else {}
    found = contest(table(), 0, method=method, rows={"labelled": 8}, options=options)
    assert 0.6 < found["accuracy"] <= 1
    assert 0.6 < found["area"] <= 1
    assert found["support"] <= 8


def test_rules_replace_those_of_the_data():
    rows = {"labelled": 8}
    flipped = contest(table(), 0, method="rules alone", rows=rows, rules="f0 >= 0 => -1")
    assert flipped["area"] < 0.4


def test_class_names_of_the_rules_keep_their_direction():
    own = table()
    named = ExperimentData(
        "n", own.X, own.y, own.feature_names, rules="f0 >= 1 => ill", labels=("well", "ill")
    )
    turned = ExperimentData(
        "n", own.X, own.y, own.feature_names, rules="f0 >= 1 => a", labels=("b", "a")
    )
    for data in (named, turned):
        found = contest(data, 0, method="HIPAD", rows={"labelled": 8}, options=FIXED)
        assert found["area"] > 0.8


def test_found_and_false_features_are_counted_where_the_truth_is_known():
    found = contest(recipe(), 0, method="HIPAD", options={**FIXED, "standardize": False})
    assert found["found"] + found["false"] == found["support"]


def test_contest_with_the_wrong_sign_finds_nothing():
    """A rule that says the opposite of the truth brings its block in with the wrong sign."""
    wrong, right = (
        contest(recipe(), 0, method="HIPAD", rules=f"mean(K1) >= 4 => {outcome} worth 200 patients",
                options={**FIXED, "standardize": False})
        for outcome in ("negative", "positive")
    )  # fmt: skip
    assert wrong["support"] >= 5
    assert wrong["false"] >= right["false"] + 5
    assert wrong["found"] <= right["found"] - 5


def test_a_score_of_zero_is_judged_as_predict_answers_it():
    found = judged(np.array([0.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, -1.0, -1.0]))
    assert found["accuracy"] == found["balanced"] == 0.75


def test_an_unknown_method_is_named():
    with pytest.raises(DataError, match="got 'magic'"):
        contest(table(), 0, method="magic", rows={"labelled": 8})


def test_libsvm_takes_sparse_rows_whatever_their_indices():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    X = sparse.csr_array(
        (rng.standard_normal((60, 20)) + y[:, None]) * (rng.random((60, 20)) < 0.5)
    )
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    found = contest(ExperimentData("wide", X, y), 0, method="LIBSVM", rows={"labelled": 10})
    assert found["accuracy"] > 0.7


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_shared_products_of_rows_choose_the_same_C(kind):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    X = kind(rng.standard_normal((60, 8)) + 0.4 * y[:, None])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    plain = Pipeline([("scale", "passthrough"), ("svc", SVC(kernel="linear"))])
    assert _chosen_C(None, X, y, folds) == _chosen_C(plain, X, y, folds)


# --------------------------------------------------------------------------------------------------
# Material.


def test_a_draw_holds_out_all_other_rows():
    draw = table().draw(1, labelled=6)
    assert (draw.y_train > 0).sum() == (draw.y_train < 0).sum() == 6
    assert len(draw.y_test) == 60 - 12
    rows = {row.tobytes() for row in draw.X_train}
    assert not rows & {row.tobytes() for row in draw.X_test}


def test_a_seed_is_a_draw():
    first, again, other = (table().draw(seed, labelled=6) for seed in (1, 1, 2))
    assert np.array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)


def test_folds_cover_every_row_once():
    draws = [table().draw(0, fold=(k, 5)) for k in range(5)]
    tested = np.concatenate([draw.X_test for draw in draws])
    assert len(np.unique(tested, axis=0)) == len(tested) == 60


def test_the_split_of_the_data_is_used():
    split = np.arange(40), np.arange(50, 60)
    own = ExperimentData("own", table().X, table().y, split=split)
    draw = own.draw(0)
    assert np.array_equal(draw.X_train, own.X[:40])
    assert np.array_equal(draw.X_test, own.X[50:])


def test_without_a_split_the_rows_must_be_named():
    with pytest.raises(DataError, match="no split of its own"):
        table().draw(0)


def test_too_many_labelled_rows_are_refused():
    with pytest.raises(DataError, match="leave none to test"):
        table().draw(0, labelled=20)


def test_fingerprints_tell_data_apart():
    one, other = table(), table(seed=1)
    assert one.fingerprint == table().fingerprint != other.fingerprint
    dense, thin = (
        ExperimentData("a", one.X, one.y),
        ExperimentData("a", sparse.csr_array(one.X), one.y),
    )
    assert dense.fingerprint != thin.fingerprint
    assert recipe().fingerprint == recipe().fingerprint


def test_synthetic_rows_know_what_matters():
    draw = recipe().draw(0, labelled=12)
    assert draw.X_train.shape == (24, 60)
    assert draw.truth[draw.truth != 0].tolist() == [1] * 10 + [-1] * 10


def test_shares_of_the_classes_are_kept():
    assert at_prevalence(table().y, 30) == (20, 10)
    draw = table().draw(0, train=30)
    assert (draw.y_train > 0).sum() == 10


def test_outcomes_are_called_as_the_rules_call_them():
    own = ExperimentData("own", table().X, table().y, labels=("well", "ill"))
    draw = own.draw(0, labelled=3)
    assert sorted(set(draw.outcomes)) == ["ill", "well"]
    assert np.array_equal(draw.outcomes == "ill", draw.y_train > 0)


def test_test_rows_from_elsewhere_are_never_learnt_from():
    own = table()
    split = (np.arange(40), np.arange(40, 60))
    data = replace(own, split=split, apart=True)
    assert data.fingerprint != own.fingerprint
    for rows in ({"labelled": 5}, {"train": 12}, {"fold": (0, 3)}):
        draw = data.draw(1, **rows)
        np.testing.assert_array_equal(draw.X_test, own.X[40:])
        assert all((own.X[:40] == row).all(axis=1).any() for row in draw.X_train)
    for learnt, held in data.folds(0, 3):
        assert max(learnt.max(), held.max()) < 40


def test_a_part_has_its_own_rows_and_groups():
    data = replace(table(), groups=np.arange(60) // 2)
    part = data.part(np.arange(10, 20))
    np.testing.assert_array_equal(part.groups, np.arange(10, 20) // 2)
    np.testing.assert_array_equal(part.y, data.y[10:20])


def test_draws_and_folds_never_split_a_group():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 5)
    y = np.where(np.arange(30) % 2, 1.0, -1.0)[groups]
    y[::7] *= -1  # some rows differ from their patient's others
    data = ExperimentData("visits", np.c_[np.arange(150.0), rng.normal(size=150)], y, groups=groups)
    for rows in ({"labelled": 4}, {"train": 12}, {"fold": (1, 5)}):
        draw = data.draw(3, **rows)
        trained = set(groups[draw.X_train[:, 0].astype(int)])
        tested = set(groups[draw.X_test[:, 0].astype(int)])
        assert not trained & tested
        assert len(trained | tested) == 30
        assert draw.groups is not None
        assert np.array_equal(draw.groups, groups[draw.X_train[:, 0].astype(int)])
    assert len(set(groups[data.draw(0, labelled=4).X_train[:, 0].astype(int)])) == 8
