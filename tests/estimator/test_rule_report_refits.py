"""The model without a rule, from the candidates of a fit, is the fit of the other rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad import HIPADClassifier
from hipad.estimator.rule_report import fit_without
from tests.estimator.tables import GIVEN, RIGHT, rows


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
@settings(max_examples=3)
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


def test_fit_without_keeps_the_trust_that_was_held():
    X, y = rows(2, 24)
    members = HIPADClassifier(RIGHT, **GIVEN).fit(X, y).members_
    clf = HIPADClassifier(RIGHT, rule_trust=members, **GIVEN).fit(X, y)
    candidates = clf._model.mixture.candidates(left_out=0)
    assert sum(candidates.values()) == pytest.approx(1.0)
    assert {one.shares[0] for one in candidates} == {0.0}
    counted = sum(share for one, share in candidates.items() if one.shares[1])
    assert counted == pytest.approx(sum(m.share for m in members if m.weights[1]))
    without = fit_without(0, clf._data, clf._model, clf._hipad)
    found = [(share, part.model) for share, part in without.parts]
    assert without.intercept == pytest.approx(sum(share * m.intercept for share, m in found))


def test_fit_without_one_of_many_rules_keeps_the_trust_in_the_others():
    X, y = rows(3, 24)
    text = "\n".join(f"x{j} >= 1 => 1" for j in range(6))
    clf = HIPADClassifier(text, **GIVEN).fit(X, y)
    without = fit_without(0, clf._data, clf._model, clf._hipad)
    shares = [share for share, _ in without.parts]
    assert sum(shares) == pytest.approx(1.0)
    assert all(part.candidate.shares[0] == 0.0 for _, part in without.parts)
    held = clf._model.mixture.held_at(clf.members_)
    assert held is clf._model.mixture.held_at(clf.members_)
    assert not any(part.choice.results for _, part in without.parts)
