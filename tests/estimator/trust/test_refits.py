"""Refits of a mixture: without one rule, and with the trust that an earlier fit learnt."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from hipad import HIPADClassifier, load_model
from hipad.estimator.heard import fit_without
from tests.estimator.trust.tables import FLIPPED, GIVEN, RIGHT, rows


def drawn(seed, count):
    """A random table and that many rules, some of them wrong or of two conditions."""
    rng = np.random.default_rng(seed)
    X, y = rows(seed, int(rng.integers(10, 31)), int(rng.integers(3, 8)))
    rules = []
    for j in rng.choice(X.shape[1], count, replace=False):
        premise = f"x{j} {rng.choice(['>=', '<='])} {rng.normal():.2f}"
        if rng.random() < 0.3:
            premise += f" and x{rng.integers(X.shape[1])} >= {rng.normal():.2f}"
        rules.append(f"{premise} => {rng.integers(2)}")
    return X, y, rules


def same_as_fresh(clf, i, rules, X, y, **parameters):
    """The model without rule i, from the candidates of the fit and from a fit of its own."""
    found = fit_without(i, clf._data, clf._model, clf._hipad)
    fresh = HIPADClassifier("\n".join(rules[:i] + rules[i + 1 :]), **parameters).fit(X, y)
    coef = np.zeros(X.shape[1])
    coef[found.features] = found.coef
    np.testing.assert_allclose(coef, fresh.coef_[0], atol=1e-6)
    np.testing.assert_allclose(found.intercept, fresh.intercept_[0], atol=1e-6)


@given(seed=st.integers(0, 10_000), count=st.sampled_from([1, 2, 3]), written=st.booleans())
@settings(max_examples=6)
def test_fit_without_is_the_fit_of_the_other_rules(seed, count, written):
    X, y, rules = drawn(seed, count)
    if written:
        rules[-1] += " worth 3 patients"
    parameters = {**GIVEN, "class_weight": [None, "balanced"][seed % 2]}
    clf = HIPADClassifier("\n".join(rules), **parameters).fit(X, y)
    for i in range(count):
        same_as_fresh(clf, i, rules, X, y, **parameters)


def test_fit_without_is_the_fit_of_the_other_rules_with_chosen_values():
    X, y = rows(0, 20)
    clf = HIPADClassifier(RIGHT, lambda2=1.0, cv=3).fit(X, y)
    same_as_fresh(clf, 0, RIGHT.splitlines(), X, y, lambda2=1.0, cv=3)


def test_fit_without_is_the_fit_of_the_other_rules_beside_unlabelled_rows():
    X, y = rows(1, 60)
    gaps = np.where(np.arange(60) < 16, y, np.nan)
    clf = HIPADClassifier(RIGHT, **GIVEN).fit(X, gaps)
    assert any(member.on_rows and member.share for member in clf.members_)
    for i in range(2):
        same_as_fresh(clf, i, RIGHT.splitlines(), X, gaps, **GIVEN)


def test_fit_without_learns_trust_anew_where_it_was_held():
    X, y = rows(2, 24)
    members = HIPADClassifier(RIGHT, **GIVEN).fit(X, y).members_
    clf = HIPADClassifier(RIGHT, rule_trust=members, **GIVEN).fit(X, y)
    for i in range(2):
        same_as_fresh(clf, i, RIGHT.splitlines(), X, y, **GIVEN)


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
