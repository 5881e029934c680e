"""Members of a fit, given to another one: the trust that the first one learnt."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from hipad import HIPADClassifier, load_model
from hipad.estimator.parameters import MemberRecord
from hipad.estimator.serialization import plain, rebuild
from tests.estimator.tables import FLIPPED, GIVEN, RIGHT, rows


def same_models(one, other, X, risk):
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=risk)


@pytest.mark.parametrize("class_weight", ["balanced", None])
@pytest.mark.parametrize("gaps", [False, True])
def test_members_of_a_fit_give_the_same_model_again(class_weight, gaps):
    X, y = rows(3, 40)
    y = np.where(np.arange(40) % 5 == 0, 1 - y, y)
    labels = np.where(np.arange(40) < 20, y, np.nan) if gaps else y
    settings = {**GIVEN, "class_weight": class_weight}
    clf = HIPADClassifier(RIGHT, **settings).fit(X, labels)
    again = HIPADClassifier(RIGHT, rule_trust=clf.members_, **settings).fit(X, labels)
    same_models(clf, again, X, 1e-9)
    assert again.members_ == clf.members_
    trust = [[record.trust for record in one.rule_report_] for one in (clf, again)]
    assert trust[0] == trust[1]


def test_members_of_a_fit_with_chosen_values_give_the_same_model_again():
    X, y = rows(4, 20)
    settings = {"lambda2": 1.0, "cv": 3, "class_weight": None}
    clf = HIPADClassifier(RIGHT, **settings).fit(X, y)
    again = HIPADClassifier(RIGHT, rule_trust=clf.members_, **settings).fit(X, y)
    same_models(clf, again, X, 0.01)  # folds end within 1e-4 of their optimum
    assert again.members_ == clf.members_
    fixed = {**settings, "lambda1": clf.lambda1_}
    at_its_values = HIPADClassifier(RIGHT, rule_trust=clf.members_, **fixed).fit(X, y)
    np.testing.assert_array_equal(at_its_values.intercept_, again.intercept_)


def test_members_of_a_fit_do_not_hold_for_other_rules():
    X, y = rows(5, 24)
    members = HIPADClassifier(RIGHT, **GIVEN).fit(X, y).members_
    one = RIGHT.splitlines()[0]
    held = HIPADClassifier(one, rule_trust=members, **GIVEN).fit(X, y)
    np.testing.assert_array_equal(held.coef_, HIPADClassifier(one, **GIVEN).fit(X, y).coef_)


def test_members_of_a_fit_are_a_parameter_like_others(tmp_path):
    X, y = rows(6, 24)
    members = HIPADClassifier(FLIPPED, **GIVEN).fit(X, y).members_
    clf = HIPADClassifier(FLIPPED, rule_trust=members, **GIVEN).fit(X, y)
    clf.save(tmp_path / "model.json")
    for other in (clone(clf), pickle.loads(pickle.dumps(clf)), load_model(tmp_path / "model.json")):  # noqa: S301
        assert other.rule_trust == members
        np.testing.assert_array_equal(other.fit(X, y).coef_, clf.coef_)


def test_member_record_is_the_same_after_it_was_written():
    record = MemberRecord((None, 2.5), 0.5, 0.75, 0.75, 0.3, 0.1, 10.0, 3, None, True, -0.125)
    again = rebuild(MemberRecord, json.loads(json.dumps(plain(record))))
    assert again == record
