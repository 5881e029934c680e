"""What a report says of its rules is true: every statement is followed by a refit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.estimator.rule_report import rule_effect, same_model
from hipad.rules import parse_rules

DRAWS = range(40)
TRUSTED = range(6)  # each takes several candidates


def drawn(seed):
    """Random data, one to three rules and settings; some rules are weak, wrong or beyond reach."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(10, 60)), int(rng.integers(4, 40))
    y = rng.permutation(np.arange(n) % 2)
    X = rng.standard_normal((n, m)) + np.outer(y, 0.7 * (np.arange(m) < 3))
    rules = []
    for _ in range(int(rng.integers(1, 4))):
        names = [f"x{j}" for j in rng.choice(m, int(rng.integers(1, 4)), replace=False)]
        premise = (
            f"sum({', '.join(names)}) / {len(names)} {rng.choice(['>=', '<='])} {rng.normal():.2f}"
        )
        if rng.random() < 0.3:
            premise += f" and x{rng.integers(m)} >= {rng.normal():.2f}"
        worth = f" worth {10 ** rng.uniform(-1, 1.5):.3g} patients" if rng.random() < 0.7 else ""
        rules.append(f"{premise} => {rng.integers(2)}{worth}")
    settings = {
        "lambda1": float(10 ** rng.uniform(-1.3, 0.0)),
        "lambda2": float(10 ** rng.uniform(-1, 1.3)),
        "rule_settings": {"scope": str(rng.choice(["population", "typical"]))},
        "standardize": bool(rng.random() < 0.7),
        "class_weight": [None, "balanced"][int(rng.random() < 0.6)],
        "rule_trust": None,
    }
    return X, y, "\n".join(rules), settings


def fitted(rules, X, y, settings):
    return HIPADClassifier(rules, **settings).fit(X, y)


@pytest.fixture(scope="module")
def fits():
    found = []
    for seed in DRAWS:
        X, y, text, settings = drawn(seed)
        clf = fitted(text, X, y, settings)
        found.append((X, y, parse_rules(text), settings, clf))
    return found


def columns(clf, i):
    return clf._knowledge.rules[i].columns


def test_a_rule_that_is_said_to_have_a_feature_in_has_one(fits):
    told = [
        np.isin(columns(clf, i), clf.support_).any()
        for *_, clf in fits
        for i, record in enumerate(clf.rule_report_)
        if record.gradient.enters
    ]
    assert len(told) > 20
    assert all(told)


def test_a_worth_above_the_one_named_brings_a_feature_in(fits):
    entered = []
    for X, y, rules, settings, clf in fits:
        for i, record in enumerate(clf.rule_report_):
            gradient = record.gradient
            if (
                gradient.enters
                or gradient.limit != "worth"
                or not np.isfinite(gradient.sigma_needed)
            ):
                continue
            worth = 1.1 * gradient.sigma_needed * len(y)
            assert f"worth more than {gradient.sigma_needed * len(y):.3g} patients" in str(record)
            changed = [replace(r, worth=worth) if k == i else r for k, r in enumerate(rules)]
            again = fitted(changed, X, y, settings)
            entered.append(np.isin(columns(clf, i), again.support_).any())
    assert len(entered) > 5
    assert np.mean(entered) >= 0.9


def test_rule_effect_is_confirmed_by_an_independent_refit(fits):
    words = Counter()
    for X, y, rules, settings, clf in fits:
        for i, record in enumerate(clf.rule_report_):
            effect = record.effect
            words[effect.word] += 1
            again = fitted(rules.without(i), X, y, settings)
            change = np.abs(weights(again) - weights(clf)).max()
            if effect.changes:
                assert change > 5e-7
            else:
                np.testing.assert_array_equal(again.support_, clf.support_)
                assert change < 2e-6
            assert effect.word in str(record)
            assert (effect.word == "outvoted") == opposes(clf, i, X, record)
            assert effect.changes or effect.word != "changes the model"
    assert set(words) == {"changes the model", "adds nothing", "outvoted"}
    assert min(words.values()) > 2


@pytest.mark.parametrize("seed", TRUSTED)
def test_rule_effect_where_trust_is_learnt_is_confirmed_by_a_refit(seed):
    X, y, text, settings = drawn(seed)
    settings = {**settings, "rule_trust": "auto", "cv": 3}
    rules = parse_rules(text)
    clf = fitted(rules, X, y, settings)
    for i, record in enumerate(clf.rule_report_):
        again = fitted(rules.without(i), X, y, settings)
        change = np.abs(weights(again) - weights(clf)).max()
        assert record.effect.changes == (change > 1e-6)
        assert (record.effect.word == "outvoted") == opposes(clf, i, X, record)


def weights(clf):
    return clf.coef_[0] / max(np.linalg.norm(clf.coef_), 1e-300)


def opposes(clf, i, X, record):
    """Whether the fitted model decides against the rule, asked of its predictions."""
    rule = clf._knowledge.rules[i]
    rows = rule.fires(X)
    typical = record.prototype
    if not typical.feasible or typical.margin >= 0:
        return False
    if rows.any():
        said = clf.classes_[int(rule.sign > 0)]
        return np.mean(clf.predict(X[rows]) != said) > 0.5
    return bool(np.isin(rule.columns, clf.support_).any()) and typical.margin < rule.sign * float(
        clf.decision_function(clf._data.design.mean[None])[0]
        if clf.standardize
        else clf.intercept_[0]
    )


def contradicted(n=56, worth=""):
    """A rule whom all 28 patients that it covers contradict."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 5))
    X[:, 0] = np.where(y, 1.0, -1.0) + 0.1 * rng.standard_normal(n)
    return X, y, f"x0 >= 0 => 0{worth}"


def test_rule_effect_of_a_rule_that_all_patients_contradict_is_outvoted():
    X, y, rule = contradicted()
    clf = HIPADClassifier(rule, lambda1=0.1).fit(X, y)
    without = HIPADClassifier(lambda1=0.1).fit(X, y)
    np.testing.assert_allclose(clf.coef_, without.coef_, atol=0.02)
    (record,) = clf.rule_report_
    assert record.effect.word == "outvoted"
    assert record.trust.posterior < record.trust.prior
    assert "for 28 of the 28 training rows it covers" in str(record)
    assert record.as_dict()["effect"] == "outvoted"


def test_rule_report_of_a_written_weight_is_silent_on_trust():
    for worth, told in (("", True), (" worth 3 patients", False)):
        X, y, rule = contradicted(worth=worth)
        (record,) = HIPADClassifier(rule, lambda1=0.1).fit(X, y).rule_report_
        assert "28 of the 28 training patients it speaks of contradict it" in str(record)
        assert ("lower the trust in it from 50 to" in str(record)) is told
        assert (record.trust is not None) is told
        assert ("posterior_trust" in record.as_dict()) is told


def test_rule_effect_takes_any_two_models():
    X, y, rule = contradicted(worth=" worth 500 patients")
    told = HIPADClassifier(rule, lambda1=0.1).fit(X, y)
    alone = HIPADClassifier(lambda1=0.1).fit(X, y)
    compiled = told._knowledge.rules[0]
    assert rule_effect(compiled, told._model, alone._model, told._data).changes
    assert not rule_effect(compiled, alone._model, alone._model, told._data).changes
    assert rule_effect(compiled, alone._model, alone._model, told._data).word == "outvoted"


def test_same_model_without_calibration_compares_scale_and_intercept():
    X, y, _ = contradicted()
    one, other = (
        HIPADClassifier(lambda1=0.1, lambda2=at, selection={"calibrate": False}).fit(X, y)
        for at in (10.0, 10.01)
    )
    assert same_model(one._model, one._model, one._data)
    assert not same_model(one._model, other._model, one._data)


def test_a_rule_that_nobody_can_meet_is_not_heard():
    X, y, _, settings = drawn(3)
    clf = fitted("x0 >= 1 and x0 <= 0 => 1", X, y, {**settings, "lambda1": 0.01})
    (record,) = clf.rule_report_
    assert 0 in clf.support_
    assert not record.gradient.enters
