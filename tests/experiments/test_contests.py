import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from hipad.exceptions import DataError
from hipad.experiments.methods import METHODS, ExperimentData, _chosen_C, contest, judged
from tests.experiments.small import recipe, table

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
    for material in (named, turned):
        found = contest(material, 0, method="HIPAD", rows={"labelled": 8}, options=FIXED)
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
