"""A fitted model: its answers, and what it holds when it is kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hipad import HIPADClassifier
from hipad.estimator.base import CACHES
from tests.small import data, fit

REPORTS = ("risk_curve_", "risk_source_", "rule_report_", "knowledge_report_", "data_sha256_")


def test_decision_values_are_the_weights_times_the_row():
    X, _ = data()
    clf = fit()
    wanted = X @ clf.coef_[0] + clf.intercept_[0]
    np.testing.assert_allclose(clf.decision_function(X), wanted, rtol=1e-12)
    assert clf.support_.tolist() == np.flatnonzero(clf.coef_[0]).tolist()


def test_the_second_class_is_that_of_values_above_zero():
    X, _ = data()
    clf = fit()
    np.testing.assert_array_equal(clf.predict(X) == 1, clf.decision_function(X) > 0)


def test_risks_of_both_classes_add_up_and_rise_with_the_decision_value():
    X, _ = data()
    clf = fit()
    risks = clf.predict_proba(X)
    np.testing.assert_allclose(risks.sum(axis=1), 1.0)
    order = np.argsort(clf.decision_function(X))
    assert (np.diff(risks[order, 1]) >= 0).all()
    np.testing.assert_array_equal(clf.predict_log_proba(X), np.log(risks))


@pytest.mark.parametrize("name", REPORTS)
def test_before_the_fit_there_is_nothing_to_report(name):
    with pytest.raises(NotFittedError):
        getattr(HIPADClassifier(), name)


def test_a_report_is_made_once():
    clf = fit()
    assert clf.rule_report_ is clf.rule_report_
    assert clf.knowledge_report_ is clf.knowledge_report_


def test_a_pickled_model_reports_the_same_without_training_data():
    clf = fit()
    again = pickle.loads(pickle.dumps(clf))  # noqa: S301
    assert not set(CACHES) & set(vars(again))
    assert [record.lines for record in again.rule_report_] == [
        record.lines for record in clf.rule_report_
    ]
    assert again.data_sha256_ == clf.data_sha256_
    np.testing.assert_array_equal(again.predict_proba(data()[0]), clf.predict_proba(data()[0]))


def test_another_fit_leaves_nothing_of_the_one_before():
    X, y = data()
    clf = fit(X, y)
    before = clf.rule_report_
    names = [f"g{j}" for j in range(3)]
    clf.set_params(rules="g0 >= 2 => 1")
    clf.fit_iter(X[:, :3], y, feature_names=names).to_end().finish()
    assert clf.n_features_in_ == 3
    assert clf.coef_.shape == (1, 3)
    assert clf.rule_report_ is not before
    assert clf.feature_index_.name(0) == "g0"
    assert clf.lambda1 == 0.05, "parameters stay"
