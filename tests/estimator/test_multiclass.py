"""Three classes and more: one model a class, rules by class, one scale, files and searches."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

from hipad import HIPADClassifier, HIPADClassifierCV, load_model
from hipad.estimator.base import rules_of_class
from hipad.exceptions import HipadError, RuleError
from hipad.rules import parse_rules
from hipad.solvers import Status
from tests.shortening import shorten

NAMES = np.array(["dog", "cat", "owl"])
RULES = (
    "x0 >= 1 => dog\nx1 >= 1 => cat\nx2 <= -1 => not owl\nx3 does not matter\nx2 is raised in owl"
)


def data(n=60, m=8, seed=0, apart=1.5):
    rng = np.random.default_rng(seed)
    k = np.arange(n) % 3
    X = rng.standard_normal((n, m)) + apart * (k[:, None] == np.arange(m))
    return X, NAMES[k]


@pytest.fixture
def short(monkeypatch):
    shorten(monkeypatch)


@pytest.fixture(scope="module")
def fitted():
    X, y = data()
    return X, y, HIPADClassifier(RULES, lambda1=0.02, lambda2=1.0, rule_trust=None).fit(X, y)


def test_what_it_is_to_scikit_learn(fitted):
    X, y, clf = fitted
    assert clf.classes_.tolist() == ["cat", "dog", "owl"]
    assert clf.coef_.shape == (3, 8)
    assert clf.intercept_.shape == (3,)
    scores, risks = clf.decision_function(X), clf.predict_proba(X)
    assert scores.shape == risks.shape == (60, 3)
    np.testing.assert_allclose(risks.sum(axis=1), 1.0)
    assert (clf.predict(X) == clf.classes_[scores.argmax(axis=1)]).all()
    assert clf.score(X, y) > 0.8
    fresh, truth = data(600, seed=1)
    assert clf.score(fresh, truth) > 0.7
    assert (clf.predict_proba(fresh).argmax(axis=1) == clf.decision_function(fresh).argmax(1)).all()


def test_each_class_has_the_model_of_a_fit_to_two_classes(fitted):
    X, y, clf = fitted
    told = {
        "cat": "x0 >= 1 => 0\nx1 >= 1 => 1\nx3 does not matter",
        "dog": "x0 >= 1 => 1\nx1 >= 1 => 0\nx3 does not matter",
        "owl": "x0 >= 1 => 0\nx1 >= 1 => 0\nx2 <= -1 => 0\nx3 does not matter\nx2 is raised in 1",
    }
    assert len({id(one._data.design) for one in clf.class_models_.values()}) == 1
    for label, rules in told.items():
        # each of the three classes has a third of the weight, and of the rows
        alone = HIPADClassifier(
            rules, lambda1=0.02, lambda2=1.0, rule_trust=None, class_weight=None
        )
        alone.fit(X, (y == label).astype(int))
        own = clf.class_models_[label]
        np.testing.assert_allclose(own.coef_, alone.coef_, atol=1e-9)
        np.testing.assert_allclose(own.intercept_, alone.intercept_, atol=1e-9)
        assert own.certificate_.status is Status.SOLVED
        assert own.coef_[0, 3] == 0
        assert len(own.rule_report_) == rules.count("=>")


def test_reports_name_each_rule_once(fitted):
    clf = fitted[2]
    assert [record.label for record in clf.rule_report_] == ["rule 1", "rule 2", "rule 3"]
    assert sorted(record.text for record in clf.knowledge_report_) == [
        "x2 is raised in owl",
        "x3 does not matter",
    ]
    assert clf.certificate_.status is Status.SOLVED
    assert set(clf.support_) == set(np.flatnonzero(np.any(clf.coef_ != 0, axis=0)))


def test_files_and_pickles_keep_everything(fitted, tmp_path):
    X, _, clf = fitted
    clf.save(tmp_path / "m.json")
    for again in (load_model(tmp_path / "m.json"), pickle.loads(pickle.dumps(clf))):  # noqa: S301
        np.testing.assert_array_equal(again.predict(X), clf.predict(X))
        np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
        np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
        assert again.certificate_ == clf.certificate_
        assert [str(r) for r in again.rule_report_] == [str(r) for r in clf.rule_report_]
        assert again.data_sha256_ == clf.data_sha256_
        assert again.lambda1_.tolist() == clf.lambda1_.tolist()
        for label, one in clf.class_models_.items():
            other = again.class_models_[label]
            np.testing.assert_array_equal(other.predict_proba(X), one.predict_proba(X))
            assert len(other.rule_report_) == len(one.rule_report_)
    load_model(tmp_path / "m.json").save(tmp_path / "twice.json")
    first, second = ((tmp_path / name).read_text() for name in ("m.json", "twice.json"))
    assert first == second
    load_model(tmp_path / "m.json").fit(*data())


def test_names_and_order_of_classes_do_not_matter(fitted):
    X, y, clf = fitted
    renamed = {"cat": "z", "dog": "a", "owl": "m"}
    rules = RULES.replace("dog", "a").replace("cat", "z").replace("owl", "m")
    order = np.random.default_rng(0).permutation(60)
    other = clone(clf).set_params(rules=rules)
    other.fit(X[order], np.array([renamed[label] for label in y[order]]))
    assert [renamed[label] for label in clf.predict(X)] == other.predict(X).tolist()
    columns = [other.classes_.tolist().index(renamed[label]) for label in clf.classes_]
    np.testing.assert_allclose(
        other.predict_proba(X)[:, columns], clf.predict_proba(X), rtol=1e-3, atol=1e-6
    )


def test_rules_off_and_rules_of_other_classes():
    rules = parse_rules("off x0 >= 1 => nobody\nx1 >= 2 => not b\nx3 is raised in b")
    classes = np.array(["a", "b", "c"])
    assert str(rules_of_class(rules, classes, 1)).splitlines() == [
        "off x0 >= 1 => nobody",
        'x1 >= 2 => "not b"',
        "x3 is raised in b",
    ]
    assert not [rule for rule in rules_of_class(rules, classes, 0) if rule.enabled]
    assert not rules_of_class(rules, classes, 0).statements


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("x0 >= 1 => positive", "which of the 3 classes is positive is not known"),
        ("x0 >= 1 => negative", "which of the 3 classes is negative is not known"),
        ("x0 raises the risk", "name the class, as in 'is raised in owl'"),
        ("x0 >= 1 => bird", "write cat, dog or owl"),
    ],
)
def test_a_rule_must_name_a_class(rules, message):
    with pytest.raises(RuleError, match=message):
        HIPADClassifier(rules, lambda1=0.1).fit(*data())


def test_what_is_of_two_classes_only_is_refused(fitted):
    X, y, clf = fitted
    with pytest.raises(HipadError, match="expected no prevalence for 3 classes"):
        HIPADClassifier(lambda1=0.1, prevalence=0.2).fit(X, y)
    with pytest.raises(HipadError, match="one of class_models_"):
        _ = clf.risk_curve_


def test_a_run_can_be_watched_stopped_and_taken_up():
    X, y = data()
    run = HIPADClassifier(lambda1=0.02, lambda2=1.0).fit_iter(X, y)
    next(run)
    stopped = run.finish()
    assert stopped.certificate_.status is Status.STOPPED
    assert set(stopped.predict(X)) <= set(NAMES)
    labels = {run.label for _ in run}
    assert labels == {"cat", "dog", "owl"}
    finished = run.finish()
    assert finished.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(
        finished.coef_, HIPADClassifier(lambda1=0.02, lambda2=1.0).fit(X, y).coef_, atol=1e-8
    )


def test_an_earlier_fit_serves_the_next_one():
    X, y = data()
    clf = HIPADClassifier(RULES, lambda1=0.02, lambda2=1.0, rule_trust=None)
    first = clf.fit_iter(X, y).to_end().finish()
    denser = clone(clf).set_params(lambda1=0.01)
    warm = denser.fit_iter(X, y, warm_start_from=first).to_end().finish()
    assert warm._data is first._data
    np.testing.assert_allclose(warm.coef_, clone(denser).fit(X, y).coef_, atol=1e-8)


@pytest.mark.usefixtures("short")
def test_right_rules_help_and_flipped_ones_are_muted():
    X, y = data(21, m=60, seed=3, apart=1.2)
    fresh, truth = data(900, m=60, seed=4, apart=1.2)
    right = "x0 >= 1 => dog\nx1 >= 1 => cat\nx2 >= 1 => owl"
    flipped = "x0 >= 1 => cat\nx1 >= 1 => owl\nx2 >= 1 => dog"
    plain, helped, muted = (
        HIPADClassifier(rules).fit(X, y).score(fresh, truth) for rules in (None, right, flipped)
    )
    assert helped > plain + 0.03
    assert muted > plain - 0.05


@pytest.mark.usefixtures("short")
def test_a_class_of_one_row_and_rows_without_a_label():
    X, y = data(31)
    y = y.astype(object)
    y[-1] = "rare"
    y[:3] = None
    clf = HIPADClassifier("x4 >= 2 => rare").fit(X, y)
    assert clf.classes_.tolist() == ["cat", "dog", "owl", "rare"]
    risks = clf.predict_proba(X)
    assert np.isfinite(risks).all()
    np.testing.assert_allclose(risks.sum(axis=1), 1.0)
    assert np.abs(clf.decision_function(X)).max() < 1e3


@pytest.mark.usefixtures("short")
def test_identical_classes_give_a_constant_model_with_a_remark():
    X = np.ones((9, 3))
    y = np.arange(9) % 3
    clf = HIPADClassifier().fit(X, y)
    assert not clf.support_.size
    assert "everyone gets the same answer" in clf.certificate_.message
    np.testing.assert_allclose(clf.predict_proba(X), 1 / 3, atol=0.01)
    assert len(set(clf.predict(X))) == 1


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (pd.array([0, 1, 2] * 20, dtype="Int64"), [0, 1, 2]),
        (pd.Series(["a", "b", "c"] * 20, dtype="string"), ["a", "b", "c"]),
        (pd.Series(["a", "b", "c"] * 20, dtype="category"), ["a", "b", "c"]),
        (pd.Series([0.0, 1.0, 2.0] * 20, dtype="Float64"), [0.0, 1.0, 2.0]),
        (pd.Series([True, False, None] * 20, dtype="boolean"), [False, True]),
        (pd.Series([5, None, 7] * 20, dtype="Int64"), [5, 7]),
    ],
)
def test_labels_of_data_frames_keep_their_kind(labels, found):
    clf = HIPADClassifier(lambda1=0.05).fit(data()[0], labels)
    assert clf.classes_.tolist() == found
    assert [type(one) for one in clf.classes_.tolist()] == [type(one) for one in found]
    assert set(clf.predict(data()[0]).tolist()) <= set(found)


@pytest.mark.usefixtures("short")
def test_splitters_and_searches_take_several_classes():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    by_splitter = HIPADClassifier(cv=splitter).fit(X, y)
    by_pairs = HIPADClassifier(cv=list(splitter.split(X, y))).fit(X, y)
    np.testing.assert_array_equal(by_splitter.coef_, by_pairs.coef_)
    search = HIPADClassifierCV(lambda1=2, lambda2=1.0, cv=2).fit(X, y)
    assert search.score(X, y) > 0.85
    assert search.predict_proba(X).shape == (50, 3)
