"""Statements about features in a fitted model: signs, weights, and what a fit without them says."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad import HIPADClassifier
from hipad.estimator import rule_report as statement_report
from hipad.estimator.model_io import load_model


def data(seed=0, n=40, m=8):
    """x0 and x1 rise with the class, x2 falls with it; the others tell nothing."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, "ill", "well")
    X = rng.standard_normal((n, m))
    X[:, :3] += 0.9 * np.where(y == "ill", 1.0, -1.0)[:, None] * [1.0, 1.0, -1.0]
    return X, y


def fitted(rules, *, like=None, X=None, y=None, **parameters):
    X, y = data() if X is None else (X, y)
    options = {"lambda1": 0.05, "lambda2": 1.0, **parameters}
    return HIPADClassifier(rules, **options).fit(X, y)


METHODS = [
    {},
    {"method": "exact"},
    {"method": "admm"},
    {"solver": {"phase2_solver": "osqp"}},
    {"selection": {"calibrate": False}},
]


@pytest.mark.parametrize("options", METHODS)
@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
def test_weights_have_the_signs_that_are_known(options, matrix):
    X, y = data()
    # classes in order are ill, well: well is the positive one
    text = "x0 is raised in well\nx2 is raised in ill\nx1 does not matter\nx5 is certain"
    clf = fitted(text, X=matrix(X), y=y, **options)
    w = clf.coef_[0]
    assert w[0] >= 0
    assert w[2] <= 0
    assert w[1] == 0
    assert w[5] != 0
    assert clf.certificate_.is_optimal(1e-6 if "solver" not in options else 1e-3)
    assert 0 not in clf.support_, "the data would have it the other way round"


def test_a_record_says_what_a_fit_without_the_statement_confirms():
    text = "x0 is raised in well\nx2 is raised in well\nx1 does not matter\nx6 is certain"
    wrong, right, ignored, certain = fitted(text, lambda1=0.15).knowledge_report_
    assert (wrong.inside, wrong.contrary, wrong.influential) == (0, 1, True)
    assert "the other class" in str(wrong)
    assert (right.inside, right.contrary) == (1, 0)
    assert right.weights[0] > 0
    assert (ignored.contrary, ignored.influential) == (1, True)
    assert "would have a weight" in str(ignored)
    assert certain.inside == 1
    assert "would have none" in str(certain)
    assert certain.as_dict()["features"] == ("x6",)


def test_a_statement_that_changes_nothing_says_so():
    record = fitted("x3 does not matter", lambda1=0.3).knowledge_report_[0]
    assert record.influential is False
    assert "the model would be the same" in str(record)


def test_more_statements_than_fits_are_told_without_them(monkeypatch):
    monkeypatch.setattr(statement_report, "MOST_PRIOR_FITS", 1)
    first, second = fitted("x0 is raised in ill\nx1 is raised in ill").knowledge_report_
    assert first.influential is not None
    assert second.influential is None
    assert "without it" not in str(second)


def test_no_statement_no_record():
    assert fitted("x0 >= 2 => ill").knowledge_report_ == []


def test_knowledge_is_saved_and_pickled_with_the_model(tmp_path):
    clf = HIPADClassifier(
        ["K is raised in ill", "x0 >= 2 => ill"], blocks={"K": [0, 1]}, lambda1=0.05
    ).fit(*data())
    clf.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded.knowledge_report_ == clf.knowledge_report_
    copied = pickle.loads(pickle.dumps(clf))  # noqa: S301
    assert copied.knowledge_report_ == clf.knowledge_report_
    again = loaded.fit(*data())
    np.testing.assert_array_equal(again.coef_, clf.coef_)


def test_a_warm_fit_with_other_knowledge_is_the_cold_one():
    X, y = data()
    for before, now in (("x0 does not matter", ""), ("", "x0 is raised in well\nx4 is certain")):
        earlier = HIPADClassifier(before or None, lambda1=0.05).fit(X, y)
        model = HIPADClassifier(now or None, lambda1=0.05)
        warm = model.fit_iter(X, y, warm_start_from=earlier).to_end().finish()
        cold = HIPADClassifier(now or None, lambda1=0.05).fit(X, y)
        np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=0, atol=1e-10)


def test_a_choice_of_lambda1_knows_the_statements_in_every_fold():
    X, y = data(n=30, m=40)
    clf = fitted("x0 and x1 are raised in well\nx2 is certain", X=X, y=y, lambda1="auto")
    assert clf.path_
    assert not clf.coef_[0, :2].any()
    assert clf.coef_[0, 2] != 0
    assert min(point.support_size for point in clf.path_) == 1, "the certain feature alone"


@settings(max_examples=8)
@given(st.integers(0, 1000))
def test_ignored_features_are_as_good_as_deleted(seed):
    X, y = data(seed)
    ignored = fitted("x1 and x4 do not matter", X=X, y=y)
    deleted = fitted(None, X=np.delete(X, [1, 4], axis=1), y=y)
    np.testing.assert_allclose(np.delete(ignored.coef_[0], [1, 4]), deleted.coef_[0], atol=1e-7)
    assert ignored.intercept_ == pytest.approx(deleted.intercept_, abs=1e-6)


def test_where_all_features_are_ignored_the_model_says_what_is_the_matter():
    clf = HIPADClassifier("x0:x7 do not matter", lambda1=0.05).fit(*data())
    assert clf.support_.size == 0
    assert "no feature" in clf.certificate_.message
