"""Bad data and rules: a clear error and nothing lost, or a right answer with a true status."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from hipad import HIPADClassifier, parse_rules
from hipad.exceptions import RuleError
from hipad.solvers import Status
from tests.small import METHODS, RULE, data, fit, same_model


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_values_that_are_no_numbers(value, form):
    X, y = data()
    X[3, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fit(form(X), y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(30), r"got one class \(0.0\)"),
        (np.linspace(0, 1, 30), "continuous"),
        (np.array(["a", None] * 15, dtype=object), r"got one class \('a'\)"),
        (np.array([None] * 30, dtype=object), "expected labels in y, got none"),
        (np.full(30, np.nan), "expected labels in y, got none"),
        (np.array(["a", 1, None] * 10, dtype=object), "expected labels of one type"),
        (np.array(["a", 1] * 15, dtype=object), "expected labels of one type"),
    ],
)
def test_labels_that_are_no_classes(labels, message):
    with pytest.raises(ValueError, match=message):
        fit(data()[0], labels)


def test_weights_that_leave_one_class():
    X, y = data()
    with pytest.raises(ValueError, match="one class"):
        HIPADClassifier(lambda1=0.1).fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        HIPADClassifier(lambda1=0.1).fit(X, y, sample_weight=y - 0.5)


def test_one_patient():
    with pytest.raises(ValueError, match="one class"):
        fit(np.ones((1, 3)), [1])


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("x99 >= 1 => positive", "x99"),
        ("mean(K9) >= 1 => positive", "K9"),
        ("x0 >= 1 => ill", "ill"),
        ("x0 >= => positive", "line 1|expected"),
    ],
)
def test_rules_that_do_not_fit_the_data(rules, message):
    with pytest.raises(RuleError, match=message):
        fit(rules=rules)


def test_a_refused_fit_leaves_the_old_model():
    X, y = data()
    clf = fit(X, y)
    before = clf.decision_function(X)
    for worse in (X[:, :3] * np.nan, X[:, :2]):
        clf.rules = RULE if np.isnan(worse).any() else "x5 >= 1 => positive"
        with pytest.raises(ValueError, match=r"NaN|x5"):
            clf.fit(worse, y)
        assert clf.n_features_in_ == 6
        assert np.array_equal(clf.decision_function(X), before)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X[:2], y[:2]),
        lambda X, y: (X[:3], y[:3]),
        lambda X, y: (X[:, :1], y),
        lambda X, y: (np.c_[X, np.zeros(30), np.full(30, 7.3)], y),
        lambda X, y: (np.c_[X, X], y),
        lambda X, y: (np.r_[X, X[:5]], np.r_[y, 1 - y[:5]]),
        lambda X, y: (1e-6 * X, y),
        lambda X, y: (1e6 * X, y),
        lambda X, y: (X * np.logspace(-6, 6, 6), y),
    ],
    ids=["N=2", "N=3", "m=1", "constant", "twins", "contradicted", "small", "large", "mixed"],
)
def test_awkward_data_are_solved(method, change):
    X, y = change(*data())
    clf = fit(X, y, rules=None, method=method)
    assert clf.certificate_.status is Status.SOLVED
    assert clf.certificate_.gap < 1e-6
    assert clf.support_.size > 0
    assert clf.score(X, y) > 0.6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lambda1", ["auto", 0.05])
@pytest.mark.parametrize("X", [np.zeros((30, 3)), np.full((30, 3), 7.3), data()[0]])
def test_features_that_tell_nothing_give_a_truthful_empty_model(method, lambda1, X):
    X, y = np.r_[X, X], np.r_[np.zeros(30), np.ones(30)]
    clf = fit(X, y, rules=None, method=method, lambda1=lambda1)
    assert clf.support_.size == 0
    assert clf.certificate_.status is Status.SOLVED
    assert "no feature tells the classes apart" in clf.certificate_.message
    assert len(np.unique(clf.predict(X))) == 1


@pytest.mark.parametrize("method", METHODS)
def test_twins_share_the_weight(method):
    X, y = data()
    clf = fit(np.c_[X, X[:, 0]], y, rules=None, method=method, solver={"tol": 1e-10})
    assert clf.coef_[0, 0] == pytest.approx(clf.coef_[0, 6], rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_without_sparsity_every_feature_stays(method):
    assert fit(lambda1=0.0, method=method).support_.size == 6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rules",
    [
        "x0 >= 3 and x0 <= 1 => positive",
        "x0 >= 2 => positive\nx0 >= 2 => positive",
        "x0 >= 2 and 2*x0 >= 4 and x0 >= 1 and x1 >= 0 => positive",
        "x0 >= 2 => positive\nx0 >= 2 => negative",
        "x0 >= 2 => positive worth 1000000 patients",
        "x0 >= -100 => positive",
    ],
    ids=["empty region", "identical", "redundant", "opposite", "heavy", "always"],
)
def test_awkward_rules_are_solved(method, rules):
    clf = fit(rules=rules, method=method)
    assert clf.certificate_.status is Status.SOLVED
    assert clf.certificate_.gap < 1e-5
    assert len(clf.rule_report_) == len(parse_rules(rules))
    assert all(str(record) for record in clf.rule_report_)


@pytest.mark.parametrize("method", ["hipad", "exact"])
def test_rows_that_repeat_a_condition_change_nothing(method):
    once = fit(rules="x0 >= 2 => positive", method=method)
    often = fit(rules="x0 >= 2 and 3*x0 >= 6 and x0 >= 1 => positive", method=method)
    same_model(once, often, rtol=1e-4, atol=1e-5)


def test_a_limit_of_sweeps_is_told():
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        clf = fit(solver={"max_iter": 2}, method="admm")
    assert clf.certificate_.status is Status.LIMIT
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rules", [None, "x0 >= 0.1 => 1"])
def test_a_column_that_is_constant_but_for_its_last_digits_can_be_fitted(method, rules):
    X = 0.12573022 + np.array([[0.0], [5e-14], [1e-13]])
    clf = HIPADClassifier(rules, method=method, standardize=False).fit(X, [0, 1, 0])
    assert np.isfinite(clf.predict_proba(X)).all()
