"""`risk_threshold_`: answers from a risk on, whichever class it is of, in models and files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad import HIPADClassifier, load_model
from hipad.estimator.serialization import read_sealed, write_sealed
from hipad.evaluation.metrics import PositiveClassView
from hipad.exceptions import DataError, HipadError

CLASSES = ("ill", "well")


def rows(n=40):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0.3, "well", "ill")


@pytest.fixture(scope="module")
def fitted():
    return HIPADClassifier(lambda1=0.05, lambda2=1.0).fit(*rows())


@pytest.fixture
def clf(fitted):
    return copy.deepcopy(fitted)


def test_a_fresh_model_answers_by_the_sign_of_its_decision(clf):
    X, _ = rows()
    assert clf.risk_threshold_ is None
    assert (clf.predict(X) == np.where(clf.decision_function(X) > 0, "well", "ill")).all()


@given(place=st.integers(0, 4), positive=st.sampled_from(CLASSES))
def test_a_class_is_the_answer_from_its_risk_on(fitted, place, positive):
    clf, (X, _) = copy.deepcopy(fitted), rows()
    column = CLASSES.index(positive)
    risks = clf.predict_proba(X)[:, column]
    # exactly at a row's risk, where one side includes it, and at round numbers
    value = [0.2, 0.5, 0.9, float(np.sort(risks)[10]), float(np.sort(risks)[30])][place]
    assert clf.set_risk_threshold(value, positive=positive) is clf
    clear = np.abs(risks - value) > 1e-12
    assert ((clf.predict(X) == positive) == (risks >= value))[clear].all()
    if positive == "well":
        assert ((clf.predict(X) == positive) == (risks >= value)).all()


@pytest.mark.parametrize("classes", [CLASSES, CLASSES[::-1]])
def test_a_view_from_either_class_gives_the_same_answers(clf, classes):
    X, y = rows()
    view, positive = PositiveClassView(clf, classes), classes[1]
    by_sign = view.judge(X, y, part="test")
    assert view.threshold is None
    assert (view.answers(view.scores(X)) == (clf.predict(X) == positive)).all()
    clf.set_risk_threshold(0.8, positive=positive)
    assert view.threshold == pytest.approx(0.8, abs=1e-15)
    said = view.answers(view.scores(X))
    assert (said == (clf.predict(X) == positive)).all()
    assert (said == (view.risks(view.scores(X)) >= 0.8)).all()
    judged = view.judge(X, y, part="test")
    assert judged.confusion[1][1] == (said & (y == positive)).sum() != by_sign.confusion[1][1]
    assert judged.area == by_sign.area


def test_none_takes_it_away_and_so_does_a_new_fit(clf):
    X, y = rows()
    before = clf.predict(X)
    clf.set_risk_threshold(0.95)
    assert (clf.predict(X) != before).any()
    assert (clf.set_risk_threshold(None).predict(X) == before).all()
    clf.set_risk_threshold(0.95).fit(X, y)
    assert clf.risk_threshold_ is None


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, float("nan"), True, "0.3", [0.3]])
def test_what_is_no_risk_is_refused(clf, value):
    with pytest.raises(HipadError, match="expected a risk above 0 and below 1"):
        clf.set_risk_threshold(value)
    assert clf.risk_threshold_ is None


def test_an_unknown_class_and_several_classes_are_refused(clf):
    with pytest.raises(HipadError, match="expected positive to be one of the classes"):
        clf.set_risk_threshold(0.3, positive="diabetic")
    X, _ = rows(60)
    several = HIPADClassifier(lambda1=0.05).fit(X, np.arange(60) % 3)
    with pytest.raises(HipadError, match="expected two classes"):
        several.set_risk_threshold(0.3)
    assert several.predict(X).shape == (60,)


@pytest.mark.parametrize("positive", CLASSES)
def test_files_and_pickles_keep_it(clf, positive, tmp_path):
    X, _ = rows()
    clf.set_risk_threshold(0.7, positive=positive)
    clf.save(tmp_path / "model.json")
    for again in (load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(clf))):  # noqa: S301
        assert again.risk_threshold_ == clf.risk_threshold_
        assert (again.predict(X) == clf.predict(X)).all()


def test_a_file_without_one_opens_and_an_impossible_one_does_not(clf, tmp_path):
    path = tmp_path / "model.json"
    clf.save(path)
    content = read_sealed(path)
    assert content["risk_threshold"] is None
    del content["risk_threshold"]
    write_sealed(path, content)
    assert load_model(path).risk_threshold_ is None
    for wrong in (0.0, 1.5, "0.5", True):
        write_sealed(path, {**content, "risk_threshold": wrong})
        with pytest.raises(DataError, match="threshold"):
            load_model(path)
    write_sealed(path, {**content, "risk_threshold": 0.5, "risks": None})
    with pytest.raises(DataError, match="threshold"):
        load_model(path)
