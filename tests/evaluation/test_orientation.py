from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.evaluation.metrics import PositiveClassView, named_outcomes
from hipad.exceptions import DataError, HipadError


def fitted(classes):
    """A model that learnt that large values of the first feature mean `classes[1]`."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = np.where(X[:, 0] > 0, classes[1], classes[0])
    return HIPADClassifier(lambda1=0.01).fit(X, y), X, y


@pytest.mark.parametrize("classes", [("a", "b"), ("b", "a")])
def test_above_zero_is_the_users_positive_class_whatever_the_alphabet_says(classes):
    clf, X, y = fitted(classes)
    model = PositiveClassView(clf, classes)
    assert model.weights[0] > 0
    assert model.support.tolist() == np.flatnonzero(model.weights).tolist()
    assert model.scores(X) == pytest.approx(X @ model.weights + model.intercept)
    assert model.judge(X, y, part="training").area.value > 0.95
    assert (np.where(model.scores(X) > 0, classes[1], classes[0]) == clf.predict(X)).all()


@pytest.mark.parametrize("classes", [("a", "b"), ("b", "a")])
def test_risks_are_of_the_users_positive_class(classes):
    clf, X, _ = fitted(classes)
    model, column = PositiveClassView(clf, classes), clf.classes_.tolist().index(classes[1])
    scores = model.scores(X)
    np.testing.assert_allclose(model.risks(scores), clf.predict_proba(X)[:, column])
    here, there = model.risks(scores), model.risks(scores, 0.02)
    share = clf.risk_curve_.prevalence if column else 1 - clf.risk_curve_.prevalence
    moved = (0.02 / 0.98) / (share / (1 - share))
    np.testing.assert_allclose(there / (1 - there), moved * here / (1 - here), rtol=1e-6)
    with pytest.raises(HipadError, match="prevalence"):
        model.risks(scores, 0.0)


def test_numbers_as_labels_are_known_by_their_text():
    clf, X, _ = fitted((0, 1))
    assert PositiveClassView(clf, ("1", "0")).scores(X) == pytest.approx(-clf.decision_function(X))


def test_a_model_of_other_classes_is_refused():
    clf, _, _ = fitted(("a", "b"))
    with pytest.raises(DataError, match="expected a model of the classes 'a' and 'c'"):
        PositiveClassView(clf, ("a", "c"))


@pytest.mark.parametrize("classes", [("a", "b"), ("b", "a")])
def test_positive_and_negative_in_rules_become_the_users_classes(classes):
    rules = named_outcomes("x0 >= 2 => positive\nx0 < 1 => negative\nx1 > 3 => a", classes)
    assert [rule.outcome for rule in rules] == [classes[1], classes[0], "a"]
