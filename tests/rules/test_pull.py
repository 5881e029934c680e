from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import minimize

from hipad.rules import rule_pull

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
