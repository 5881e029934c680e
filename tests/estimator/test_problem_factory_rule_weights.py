from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad import HIPADClassifier
from hipad.estimator.problem_factory import (
    NEAREST,
    automatic_rho,
    default_weight,
    rule_blocks,
    rule_weights,
)
from hipad.estimator.settings import RULE_SETTINGS
from hipad.rules import compile_rules, rule_gradient


def compiled(text, m=4):
    return compile_rules(text, n_features=m)


def weights(rule, **changes):
    usual = {"total": 100.0, "rule_weight": "auto", "rho": "auto"}
    return rule_weights(rule, **{**usual, **changes})


@pytest.mark.parametrize(("total", "patients"), [(200, 30.0), (40, 6.0), (8, 1.2)])
def test_a_rule_counts_as_a_share_of_the_patients(total, patients):
    assert default_weight("auto", total) == pytest.approx(patients)


@pytest.mark.parametrize(
    ("worth", "patients", "sigma"),
    [
        ("", "auto", 0.15),
        ("worth 20 patients", "auto", 0.2),
        ("", 5, 0.05),
        ("worth 0 patients", 5, 0.0),
        ("worth 3 patients", "equal", 0.03),
        ("", "equal", 7.0),
    ],
)
def test_worth_in_patients_is_a_share_of_the_training_rows(worth, patients, sigma):
    (rule,) = compiled(f"x0 >= 1 => positive {worth}")
    assert weights(rule, rule_weight=patients, rho=7.0).sigma == pytest.approx(sigma)


@given(sigma=st.floats(1e-4, 1.0), threshold=st.floats(0.01, 50.0), size=st.integers(1, 4))
def test_automatic_rho_never_holds_a_rule_back(sigma, threshold, size):
    names = ", ".join(f"x{j}" for j in range(size))
    (rule,) = compiled(f"sum({names}) / {size} >= {threshold!r} => positive")
    rho = automatic_rho(rule.B, rule.d, sigma)
    gradient = rule_gradient(rule.B, rule.d, sigma=sigma, rho=rho, lambda1=0.1)
    assert gradient.limit == "worth"
    assert (
        gradient.strongest
        == rule_gradient(rule.B, rule.d, sigma=sigma, rho=np.inf, lambda1=0).strongest
    )


@pytest.mark.parametrize("text", ["x0 >= -1 => positive", "x0 >= 3 and x0 <= 1 => positive"])
def test_a_rule_that_pulls_on_no_feature_is_soft(text):
    (rule,) = compiled(text)
    assert automatic_rho(rule.B, rule.d, 0.25) == RULE_SETTINGS.rho_factor * 0.25 * NEAREST


def test_a_rule_vanishes_with_its_worth():
    rng = np.random.default_rng(3)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 5)) + np.outer(y, [2.0, 0.5, 0.0, 0.0, 0.0])
    settings = {"lambda1": 0.05, "method": "exact"}
    without = HIPADClassifier(**settings).fit(X, y).coef_
    text = "x0 >= 1 => 1 worth 0.001 patients"
    assert np.allclose(HIPADClassifier(text, **settings).fit(X, y).coef_, without, atol=1e-3)
    stiff = HIPADClassifier(text, rho=10.0, **settings).fit(X, y).coef_
    assert np.allclose(stiff, without, atol=1e-2)  # a stiffness that the worth cannot carry


@pytest.mark.parametrize("rho", ["auto", 10.0])
def test_the_model_changes_continuously_with_the_worth_down_to_nothing(rho):
    rng = np.random.default_rng(4)
    y = np.arange(30) % 2
    X = rng.standard_normal((30, 400)) + np.outer(y, 0.8 * (np.arange(400) < 20))
    without = HIPADClassifier(lambda2=1.0).fit(X, y)
    rules = "x300 >= 1 => 1 worth {} patients"
    fits = [
        HIPADClassifier(rules.format(worth), rho=rho, lambda2=1.0).fit(X, y)
        for worth in ("0", "0.000001", "0.0001")
    ]
    np.testing.assert_array_equal(fits[0].coef_, without.coef_)
    for clf in fits:
        assert clf.lambda1_ == without.lambda1_
        assert len(clf.path_) == len(without.path_)
        np.testing.assert_array_equal(clf.support_, without.support_)
        np.testing.assert_allclose(clf.coef_, without.coef_, atol=1e-3)


def test_a_weight_is_learnt_unless_it_is_written():
    rng = np.random.default_rng(5)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 3)) + np.outer(y, [3.0, 0.0, 0.0])
    text = "x0 >= 2 => 0"  # the wrong way round
    clf = HIPADClassifier(text, lambda1=0.05).fit(X, y)
    assert (
        clf._model.rule_weights[0].sigma == 0.0
    )  # of the leading candidate, the one without rules
    without, literal = (
        HIPADClassifier(rules, lambda1=0.05, rule_trust=None).fit(X, y) for rules in (None, text)
    )
    assert literal._model.rule_weights[0].sigma == pytest.approx(0.15)
    away = [np.abs(one.coef_ - without.coef_).max() for one in (clf, literal)]
    assert away[0] < 0.3 * away[1]
    assert clf.rule_report_[0].evidence.doubtful
    written = HIPADClassifier(text + " worth 8 patients", lambda1=0.05).fit(X, y)
    assert written._model.rule_weights[0].sigma == pytest.approx(8 / 40)
    assert "training patients it speaks of contradict it" in str(written.rule_report_[0])
    given = HIPADClassifier(text, lambda1=0.05, rule_weight=8).fit(X, y)
    assert given._model.rule_weights[0].sigma == pytest.approx(8 / 40)


def test_a_single_rule_moves_weights_and_not_only_the_intercept():
    rng = np.random.default_rng(6)
    y = np.arange(12) % 2
    X = rng.standard_normal((12, 6))
    rule, settings = "x4 >= 0.5 => 1 worth 12 patients", {"lambda1": 0.2}
    anchored = HIPADClassifier(rule, **settings).fit(X, y)
    free = HIPADClassifier(rule, rule_settings={"centered": False}, **settings).fit(X, y)
    assert anchored.coef_[0, 4] > 1.5 * max(free.coef_[0, 4], 0.0)
    assert anchored.coef_[0, 4] > 0


def test_a_stiffness_of_ones_own_is_taken_as_it_is():
    (rule,) = compiled("x0 >= 1 => positive")
    assert weights(rule, rho=0.25).rho == 0.25


def test_a_rule_worth_nothing_is_left_out_of_the_problem():
    rules = compiled("x0 >= 1 => positive worth 0 patients\nx1 >= 1 => negative")
    blocks = rule_blocks(rules, [weights(rule) for rule in rules])
    assert [block.sign for block in blocks] == [-1.0]


def test_sigma_is_what_a_patient_weighs():
    """A rule worth n patients pulls with sigma = n/N, as n rows of weight 1/N do."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    y = np.arange(20) % 2
    clf = HIPADClassifier("x0 >= 1 => 1 worth 5 patients", lambda1=0.1).fit(X, y)
    (own,) = clf._model.rule_weights
    assert own.sigma == pytest.approx(5 / 20)
    assert clf.fit(X, y, sample_weight=np.full(20, 2.0))._model.rule_weights[0].sigma == 5 / 40
