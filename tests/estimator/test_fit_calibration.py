from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

from hipad import HIPADClassifier
from hipad.estimator.fit import LazyCalibration
from hipad.estimator.path import PathSelector
from hipad.exceptions import HipadError


def data(n=120, m=12, seed=0, share=0.25):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.standard_normal((n, m)) + np.outer(2 * y - 1, np.r_[[0.6] * 3, [0.0] * (m - 3)]), y


@pytest.fixture
def counted(monkeypatch):
    """How often folds were fitted for the risks."""
    calls = []
    own = PathSelector.steps
    monkeypatch.setattr(PathSelector, "steps", lambda self: (calls.append(1), own(self))[1])
    return calls


def test_a_chosen_model_has_its_folds_and_a_given_one_fits_them_once(counted):
    X, y = data()
    HIPADClassifier().fit(X, y).predict_proba(X)
    assert counted == [1], "by the fit itself"
    counted.clear()
    clf = HIPADClassifier(lambda1=0.05).fit(X, y)
    assert counted == [], "a fit stays fast"
    clf.predict_proba(X), clf.predict_proba(X[:3]), pickle.dumps(clf)
    assert counted == [1]


def test_pickled_models_tell_the_same_risks_and_hold_no_rows():
    X, y = data()
    clf = HIPADClassifier(lambda1=0.05).fit(X, y)
    stored = pickle.dumps(clf)
    assert X[:1].tobytes() not in stored
    again = pickle.loads(stored)  # noqa: S301
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize(
    "settings",
    [
        {"selection": {"calibrate": False}},
        {"class_weight": None},
        {"class_weight": {0: 1.0, 1: 7.0}},
        {"class_weight": None, "selection": {"calibrate": False}},
        {"method": "exact"},
    ],
)
def test_class_weights_and_scales_are_undone(settings):
    X, y = data(600)
    fresh, truth = data(4000, seed=1)
    risks = HIPADClassifier(lambda1=0.02, **settings).fit(X, y).predict_proba(fresh)[:, 1]
    assert risks.mean() == pytest.approx(truth.mean(), rel=0.15)
    assert log_loss(truth, risks) < 0.93 * log_loss(truth, np.full(4000, truth.mean()))


def test_a_model_without_features_gives_everybody_the_prevalence():
    X, y = data()
    risks = HIPADClassifier(lambda1=1e3).fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(risks, y.mean())


@pytest.mark.parametrize("positives", [1, 2])
def test_a_class_of_one_or_two_patients_has_risks(positives):
    X, y = data()
    y[:] = 0
    y[:positives] = 1
    risks = HIPADClassifier(lambda1=0.05).fit(X, y).predict_proba(X)[:, 1]
    assert np.all((risks > 0) & (risks < 0.9))
    assert risks.mean() < 0.2


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("lambda1", ["auto", 0.0, 0.1])
@pytest.mark.parametrize("class_weight", ["balanced", None, {0: 3.0}])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 0.5]])
def test_a_handful_of_rows_can_be_fitted_asked_and_pickled(n, lambda1, class_weight, weights):
    X = np.random.default_rng(n).standard_normal((n, 3))
    y = np.array([0, 1, 1, 0])[:n]
    weights = weights and weights[:n]
    clf = HIPADClassifier(lambda1=lambda1, class_weight=class_weight).fit(X, y, weights)
    copies = [pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)]  # noqa: S301
    risks = clf.predict_proba(X)
    assert ((risks > 0) & (risks < 1)).all()
    for one in copies:
        np.testing.assert_array_equal(one.predict_proba(X), risks)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("rules", [None, "x1 >= 0.1 => 1"])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(
    "solver",
    [
        {"method": "hipad"},
        {"solver": {"phase2_solver": "osqp"}},
        {"method": "admm"},
        {"method": "exact"},
    ],
)
def test_every_method_takes_a_handful_of_rows(n, rules, standardize, solver):
    X = np.random.default_rng(n).standard_normal((n, 3))
    y = np.array([0, 1, 1, 0])[:n]
    clf = HIPADClassifier(rules, lambda1=0.05, standardize=standardize, **solver).fit(X, y)
    assert np.abs(clf.decision_function(X)).max() < 1e3
    assert np.isfinite(clf.predict_proba(X)).all()
    again = pickle.loads(pickle.dumps(clf))  # noqa: S301
    assert again.predict(X).tolist() == clf.predict(X).tolist()


def test_another_prevalence_moves_risks_and_no_decision():
    X, y = data()
    clf = HIPADClassifier(lambda1=0.05).fit(X, y)
    here, answers = clf.predict_proba(X)[:, 1], clf.predict(X)
    there = clf.set_params(prevalence=0.01).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(clf.predict(X), answers)
    odds = (there / (1 - there)) / (here / (1 - here))
    np.testing.assert_allclose(odds, (0.01 / 0.99) / (y.mean() / (1 - y.mean())), rtol=1e-6)
    with pytest.raises(HipadError, match="prevalence"):
        clf.set_params(prevalence=1.0).predict_proba(X)


def test_scikit_learn_works_with_the_risks():
    X, y = data()
    clf = HIPADClassifier(lambda1=0.05)
    assert cross_val_score(clf, X, y, cv=2, scoring="neg_log_loss").mean() > -0.62
    soft = VotingClassifier([("a", clf), ("b", LogisticRegression())], voting="soft").fit(X, y)
    assert soft.predict_proba(X).shape == (120, 2)
    again = CalibratedClassifierCV(clf, cv=2).fit(X, y)
    assert log_loss(y, again.predict_proba(X)) < 0.6
    np.testing.assert_allclose(
        np.exp(clf.fit(X, y).predict_log_proba(X)), clf.predict_proba(X), rtol=1e-12
    )


def test_a_source_that_knows_nothing_says_so():
    with pytest.raises(HipadError, match="fit it again"):
        _ = LazyCalibration().curve
    assert LazyCalibration().__getstate__() == {"_origin": None, "_curve": None}
