from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad import HIPADClassifier
from hipad.knobs import automatic_stiffness, default_patients, knobs_of, rule_blocks, rule_weight
from hipad.rules import compile_rules, rule_pull


def compiled(text, m=4):
    return compile_rules(text, n_features=m)


def knobs(rule, **changes):
    usual = {"total": 100.0, "patients": "auto", "stiffness": "auto", "lambda1": 0.1, "lambda2": 1}
    return knobs_of(rule, **{**usual, **changes})


@pytest.mark.parametrize(("total", "patients"), [(200, 50.0), (40, 10.0), (16, 8.0), (4, 4.0)])
def test_a_rule_counts_as_a_quarter_of_the_patients_but_not_as_too_few(total, patients):
    assert default_patients("auto", total) == patients


@pytest.mark.parametrize(
    ("worth", "patients", "sigma"),
    [
        (None, "auto", 0.25),
        (20.0, "auto", 0.2),
        (None, 5, 0.05),
        (0.0, 5, 0.0),
        (3.0, "equal", 0.03),
        (None, "equal", 7.0),
    ],
)
def test_worth_in_patients_is_a_share_of_the_training_rows(worth, patients, sigma):
    assert rule_weight(worth, patients, 100.0, rho=7.0) == pytest.approx(sigma)


@given(lambda1=st.floats(1e-4, 10.0), threshold=st.floats(0.1, 50.0), size=st.integers(1, 4))
def test_automatic_stiffness_lets_a_rule_speak(lambda1, threshold, size):
    names = ", ".join(f"x{j}" for j in range(size))
    (rule,) = compiled(f"mean({names}) >= {threshold!r} => positive")
    rho = automatic_stiffness(rule.B, rule.d, lambda1, lambda2=1e-6)
    pull = rule_pull(rule.B, rule.d, sigma=np.inf, rho=rho, lambda1=lambda1)
    assert not pull.silenced
    assert pull.strongest > 2 * lambda1


@pytest.mark.parametrize("text", ["x0 >= -1 => positive", "x0 >= 3 and x0 <= 1 => positive"])
def test_a_rule_that_stiffness_cannot_help_gets_the_ridge(text):
    (rule,) = compiled(text)
    assert automatic_stiffness(rule.B, rule.d, lambda1=0.5, lambda2=0.7) == 0.7


def test_stiffness_is_not_below_the_ridge():
    (rule,) = compiled("x0 >= 1 => positive")
    assert automatic_stiffness(rule.B, rule.d, lambda1=1e-9, lambda2=3.0) == 3.0


def test_a_stiffness_of_ones_own_is_taken_as_it_is():
    (rule,) = compiled("x0 >= 1 => positive")
    assert knobs(rule, stiffness=0.25).rho == 0.25


def test_a_rule_worth_nothing_is_left_out_of_the_problem():
    rules = compiled("x0 >= 1 => positive worth 0 patients\nx1 >= 1 => negative")
    blocks = rule_blocks(rules, [knobs(rule) for rule in rules])
    assert [block.sign for block in blocks] == [-1.0]


def test_sigma_is_what_a_patient_weighs():
    """A rule worth n patients pulls with sigma = n/N, as n rows of weight 1/N do."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    y = np.arange(20) % 2
    clf = HIPADClassifier("x0 >= 1 => 1 worth 5 patients", lambda1=0.1).fit(X, y)
    (own,) = clf._model.knobs
    assert own.sigma == pytest.approx(5 / 20)
    assert clf.fit(X, y, sample_weight=np.full(20, 2.0))._model.knobs[0].sigma == 5 / 40
