"""What a report says of its rules is true: every statement is followed by a refit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.rules import parse_rules

DRAWS = range(60)


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
        "scope": str(rng.choice(["population", "typical"])),
        "standardize": bool(rng.random() < 0.7),
        "class_weight": [None, "balanced"][int(rng.random() < 0.6)],
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


def test_a_rule_that_is_called_heard_has_a_feature_in(fits):
    told = [
        np.isin(columns(clf, i), clf.support_).any()
        for *_, clf in fits
        for i, record in enumerate(clf.rule_report_)
        if record.pull.heard
    ]
    assert len(told) > 20
    assert all(told)


def test_a_worth_above_the_one_named_brings_a_feature_in(fits):
    entered = []
    for X, y, rules, settings, clf in fits:
        for i, record in enumerate(clf.rule_report_):
            pull = record.pull
            if pull.heard or pull.limit != "worth" or not np.isfinite(pull.sigma_needed):
                continue
            worth = 1.1 * pull.sigma_needed * len(y)
            assert f"worth more than {pull.sigma_needed * len(y):.3g} patients" in str(record)
            changed = [replace(r, worth=worth) if k == i else r for k, r in enumerate(rules)]
            again = fitted(changed, X, y, settings)
            entered.append(np.isin(columns(clf, i), again.support_).any())
    assert len(entered) > 10
    assert np.mean(entered) >= 0.9


def test_leaving_out_a_silenced_rule_changes_nothing(fits):
    silenced = 0
    for X, y, rules, settings, clf in fits:
        for i, record in enumerate(clf.rule_report_):
            if record.pull.silenced:
                silenced += 1
                again = fitted(rules.without(i), X, y, settings)
                np.testing.assert_array_equal(again.support_, clf.support_)
                size = np.abs(clf.coef_).max(initial=1e-12)
                np.testing.assert_allclose(again.coef_, clf.coef_, atol=1e-4 * size)
    assert silenced


def test_a_rule_that_nobody_can_meet_is_not_heard():
    X, y, _, settings = drawn(3)
    clf = fitted("x0 >= 1 and x0 <= 0 => 1", X, y, {**settings, "lambda1": 0.01})
    (record,) = clf.rule_report_
    assert 0 in clf.support_
    assert not record.pull.heard
