from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import minimize

from hipad import HIPADClassifier
from hipad.estimator.problem_factory import rule_weights
from hipad.rules import compile_rules, rule_pull, rule_pulls

NUMBERS = st.integers(-8, 8).map(lambda n: n / 4)
POSITIVE = st.floats(0.05, 20)


def pull_by_descent(B: np.ndarray, d: np.ndarray, sigma: float, rho: float) -> np.ndarray:
    """The gradient of the rule's penalty at w = 0, b = 0, with the best multiplier found by search.

    The hinge is written as a variable q >= d'u + 1, q >= 0, so that the search is smooth.
    """
    k = len(d)
    answer = minimize(
        lambda v: rho / 2 * np.sum((B.T @ v[:k]) ** 2) + sigma * v[k],
        np.append(np.zeros(k), 1.0),
        jac=lambda v: np.append(rho * (B @ (B.T @ v[:k])), sigma),
        bounds=[(0, None)] * (k + 1),
        constraints={
            "type": "ineq",
            "fun": lambda v: v[k] - d @ v[:k] - 1,
            "jac": lambda v: np.append(-d, 1.0),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assume(answer.success)
    return rho * np.abs(B.T @ answer.x[:k])


@given(hnp.arrays(np.float64, (2, 3), elements=NUMBERS), POSITIVE, POSITIVE)
def test_the_pull_is_the_gradient_at_zero(B: np.ndarray, sigma: float, rho: float):
    assume((np.linalg.norm(B, axis=1) > 0.2).all())
    d = np.array([-1.0, -0.5])
    pull = rule_pull(sparse.csr_array(B), d, sigma=sigma, rho=rho, lambda1=0.1)
    assume(pull.limit != "never")
    expected = pull_by_descent(B, d, sigma, rho).max()
    assert pull.strongest == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_one_condition_has_the_known_formula():
    L, d, sigma, rho = 50, -4.0, 0.25, 300.0
    B = sparse.csr_array(np.full((1, L), -1 / L))
    pull = rule_pull(B, np.array([d]), sigma=sigma, rho=rho, lambda1=0.08)
    assert pull.strongest == pytest.approx(min(sigma * abs(d), rho / (L * abs(d))))
    exact = rule_pull(B, np.array([d]), sigma=pull.sigma_needed, rho=1e9, lambda1=0.08)
    assert exact.strongest == pytest.approx(0.08)
    exact = rule_pull(B, np.array([d]), sigma=1e9, rho=pull.rho_needed, lambda1=0.08)
    assert exact.strongest == pytest.approx(0.08)


def test_what_the_average_meets_or_nobody_meets_has_no_pull():
    B = sparse.csr_array([[1.0], [-1.0]])
    settings = {"sigma": 1.0, "rho": 1.0, "lambda1": 0.1}
    assert rule_pull(B, np.array([1.0, 1.0]), **settings).limit == "premise"
    assert rule_pull(B, np.array([-1.0, -1.0]), **settings).limit == "never"


def patients(signal):
    """40 patients, both classes alike in all but feature 0, whose means are `signal` apart."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 3))
    X = np.r_[X, X] - X.mean(axis=0)
    y = np.repeat([-1.0, 1.0], 20)
    X[:, 0] += 0.5 * signal * y
    return X, y


@pytest.mark.parametrize(("share", "enters"), [(0.99, True), (1.01, False)])
def test_a_feature_enters_when_patients_and_rules_together_exceed_lambda1(share, enters):
    X, y = patients(signal=0.6)
    text = "x0 >= 2 => positive worth 4 patients\nx0 <= -1 => negative worth 4 patients"
    rules = compile_rules(text, n_features=3)
    knobs = [rule_weights(rule, total=40, rule_weight="auto", rho="auto") for rule in rules]
    first, second = rule_pulls(rules, knobs, 0.0, lambda columns: X[:, columns].T @ (y / 40))
    assert first.strongest == pytest.approx(0.2)
    assert second.strongest == pytest.approx(0.1)
    assert first.together == second.together == pytest.approx(0.3 + 0.2 + 0.1)
    lambda1 = share * first.together
    clf = HIPADClassifier(
        text, lambda1=lambda1, standardize=False, method="exact", rule_settings={"centered": False}
    )
    clf.fit(X, np.where(y > 0, "positive", "negative"))
    assert (clf.support_.tolist() == [0]) is enters
    pulls = [record.pull for record in clf.rule_report_]
    assert [pull.enters for pull in pulls] == [enters] * 2
    assert not any(pull.alone for pull in pulls)


def test_patients_who_pull_the_other_way_do_not_help_a_rule():
    X, y = patients(signal=-0.6)
    rules = compile_rules("x0 >= 2 => positive worth 4 patients", n_features=3)
    knobs = [rule_weights(rule, total=40, rule_weight="auto", rho="auto") for rule in rules]
    (pull,) = rule_pulls(rules, knobs, 0.1, lambda columns: X[:, columns].T @ (y / 40))
    assert pull.together == 0.0
    assert pull.strongest == pytest.approx(0.2)
    assert not pull.enters
    assert pull.sigma_needed == pytest.approx((0.1 + 0.3) / 2)
