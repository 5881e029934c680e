from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from hipad import HIPADClassifier, HIPADClassifierCV
from hipad.exceptions import HipadError
from tests.estimator.grid_data import GRID, RULES, data


def recorder(seen):
    """A scorer that keeps the weights and decision values of every model."""

    def score(clf, X, y):
        seen.append((clf.lambda1, clf.lambda2, clf.coef_.copy(), clf.decision_function(X)))
        return clf.score(X, y)

    return score


@pytest.mark.parametrize("rules", [None, RULES])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_fit_is_that_of_a_plain_loop(rules, standardize, form):
    X, y = data()
    X, seen, splits = form(X), [], StratifiedKFold(3)
    settings = {"rules": rules, "standardize": standardize}
    search = HIPADClassifierCV(**settings, **GRID, cv=splits, scoring=recorder(seen)).fit(X, y)
    assert len(seen) == 3 * 6
    settings["rule_trust"] = None  # a grid compares the optima themselves
    folds = list(splits.split(X, y))
    for k, (lambda1, lambda2, coef, values) in enumerate(seen):
        train, test = folds[k // 6]
        cold = HIPADClassifier(**settings, lambda1=lambda1, lambda2=lambda2).fit(X[train], y[train])
        np.testing.assert_allclose(coef, cold.coef_, atol=1e-6 * np.abs(coef).max())
        np.testing.assert_allclose(values, cold.decision_function(X[test]), atol=1e-6)
    whole = HIPADClassifier(**settings, **search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_results_are_those_of_a_grid_search(scoring):
    X, y = data(m=20)
    own = HIPADClassifierCV(**GRID, cv=3, scoring=scoring).fit(X, y)
    other = GridSearchCV(HIPADClassifier(), GRID, cv=3, scoring=scoring).fit(X, y)
    assert set(other.cv_results_) <= set(own.cv_results_)
    assert own.cv_results_["params"] == other.cv_results_["params"]
    for name, values in other.cv_results_.items():
        if ("score" in name and "time" not in name) or name.startswith("param_"):
            np.testing.assert_allclose(own.cv_results_[name].astype(float), values.astype(float))
    assert (own.best_params_, own.best_index_) == (other.best_params_, other.best_index_)
    assert own.best_score_ == pytest.approx(other.best_score_)
    assert own.score(X, y) == pytest.approx(other.score(X, y))
    np.testing.assert_array_equal(own.predict(X), other.predict(X))
    np.testing.assert_allclose(own.predict_proba(X), other.predict_proba(X))
    assert own.n_splits_ == 3
    assert own.classes_.tolist() == ["fit", "ill"]
    assert np.all(own.cv_results_["mean_support_size"] > 0)


def test_rule_weights_and_rho_can_be_tried_too():
    X, y = data()
    search = HIPADClassifierCV(
        RULES, lambda1=0.05, lambda2=1.0, rule_weight=["auto", 1, 9], rho=(1.0, "auto"), cv=2
    )
    results = search.fit(X, y).cv_results_
    assert len(results["params"]) == 6
    assert {"param_rule_weight", "param_rho"} <= set(results)
    assert search.best_estimator_.rule_weight == search.best_params_["rule_weight"]
    assert results["param_rule_weight"].tolist().count("auto") == 2


def test_a_number_of_values_goes_from_the_first_feature_to_many():
    X, y = data()
    search = HIPADClassifierCV(lambda1=4, lambda2=1.0, cv=2).fit(X, y)
    values = search.cv_results_["param_lambda1"].astype(float)
    assert np.all(np.diff(values) < 0)
    first, last = (HIPADClassifier(lambda1=v, lambda2=1.0).fit(X, y) for v in values[[0, -1]])
    assert 1 <= first.support_.size <= 5 < last.support_.size


def test_groups_reach_the_splitter():
    X, y = data()
    groups, seen = np.arange(48) // 6, []

    def alone(clf, X_out, y_out):
        rows = [np.flatnonzero((row == X).all(axis=1))[0] for row in X_out]
        seen.append(set(groups[rows].tolist()))
        return 0.0

    HIPADClassifierCV(lambda1=0.1, lambda2=1.0, cv=GroupKFold(4), scoring=alone).fit(
        X, y, groups=groups
    )
    assert len(seen) == 4
    assert sorted(group for part in seen for group in part) == list(range(8))


def test_what_is_learnt_from_rows_is_learnt_in_the_fold():
    X, y = data()
    train = np.arange(12, 48)
    far = X.copy()
    far[:12] = far[:12] * 1e3 + 1e4  # rows that nobody trains on
    runs = []
    for given in (X, far):
        seen = []
        split = [(train, train)]
        HIPADClassifierCV(RULES, **GRID, cv=split, refit=False, scoring=recorder(seen)).fit(
            given, y
        )
        runs.append([coef for *_, coef, _ in seen])
    np.testing.assert_array_equal(runs[0], runs[1])


def test_the_number_of_processes_changes_nothing():
    X, y = data()
    one, two = (
        HIPADClassifierCV(**GRID, cv=2, n_jobs=n).fit(X, y).cv_results_["mean_test_score"]
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_weights_count_in_fits_and_scores():
    X, y = data()
    w = np.random.default_rng(0).integers(1, 3, 48)
    split = [(np.arange(0, 24), np.arange(24, 48)), (np.arange(24, 48), np.arange(0, 24))]
    copies = np.repeat(np.arange(48), w)
    twice = [tuple(np.flatnonzero(np.isin(copies, part)) for part in fold) for fold in split]
    one = HIPADClassifierCV(**GRID, cv=split).fit(X, y, sample_weight=w)
    other = HIPADClassifierCV(**GRID, cv=twice).fit(X[copies], y[copies])
    for name in ("mean_test_score", "mean_support_size"):
        np.testing.assert_allclose(one.cv_results_[name], other.cv_results_[name])


def test_folds_are_shuffled_by_the_random_state_alone():
    X, y = data()
    scores = [
        HIPADClassifierCV(lambda1=0.05, lambda2=1.0, random_state=state).fit(X, y).cv_results_
        for state in (0, 0, 1)
    ]
    first, again, other = ([r[f"split{k}_support_size"][0] for k in range(5)] for r in scores)
    assert first == again != other


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"lambda1": 0}, "at least 1 value"),
        ({"lambda1": []}, "got none"),
        ({"lambda1": [0.1, -1.0]}, "lambda1"),
        ({"lambda2": [0.0]}, "lambda2"),
        ({"rule_weight": ["many"]}, "rule_weight"),
        ({"method": "magic"}, "method"),
        ({"prevalence": 2.0}, "prevalence"),
        ({"cv": []}, "split"),
    ],
)
def test_what_cannot_be_tried_is_told(wrong, words):
    with pytest.raises(HipadError, match=words):
        HIPADClassifierCV(**wrong).fit(*data())


def test_every_setting_of_a_fit_can_be_given():
    theirs, own = HIPADClassifier().get_params(), HIPADClassifierCV().get_params()
    assert set(theirs) - set(own) <= {"max_features", "rule_trust"}, "which are automatic"
    shared = (set(theirs) & set(own)) - {"lambda1", "lambda2"}
    assert all(own[name] == theirs[name] for name in shared)


def test_a_scorer_object_and_its_name_are_the_same():
    X, y = data()
    by_name = HIPADClassifierCV(**GRID, cv=2, scoring="balanced_accuracy")
    by_object = clone(by_name).set_params(scoring=get_scorer("balanced_accuracy"))
    one, two = (s.fit(X, y).cv_results_["mean_test_score"] for s in (by_name, by_object))
    np.testing.assert_array_equal(one, two)


def test_columns_can_be_named_where_the_data_have_no_names():
    X, y = data()
    names = [f"gene {j}" for j in range(X.shape[1])]
    rules = "`gene 0` >= 1 => ill"
    search = HIPADClassifierCV(rules, **GRID, cv=2).fit(X, y, feature_names=names)
    assert search.best_estimator_.feature_index_.name(0) == "gene 0"
    with pytest.raises(HipadError, match="gene 0"):
        HIPADClassifierCV(rules, **GRID, cv=2, error_score="raise").fit(X, y)


@pytest.mark.long
@parametrize_with_checks([HIPADClassifierCV(lambda1=2, lambda2=1.0, cv=2)])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_rows_without_a_label_are_refused():
    X, y = data()
    labels = [None, None, None, *y[3:]]
    with pytest.raises(HipadError, match="got 3 rows without one: leave them out here"):
        HIPADClassifierCV(**GRID).fit(X, labels)
