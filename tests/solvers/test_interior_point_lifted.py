"""The lifted SVM: its rows and its Lagrangian against the problem's own objective."""

import numpy as np
import pytest

from hipad.solvers.interior_point import Lifted
from tests.oracles import random_problem
from tests.solvers.problems import to_problem

OPTIONS = [{}, {"scope": "typical"}, {"centered": True}]


@pytest.mark.parametrize("options", OPTIONS)
def test_rows_and_squares_make_up_the_objective_of_the_problem(options):
    problem = to_problem(random_problem(1, n=8, m=6, conditions=(1, 2), **options))
    features, rng = np.array([0, 2, 3, 5]), np.random.default_rng(0)
    lifted = Lifted(problem, features)
    w, b, u = rng.standard_normal(4), 0.3, rng.random(3)
    hinge = lifted.losses.weights @ np.maximum(1.0 - lifted.rows(w, b, u), 0.0)
    squares = lifted.ridge @ w**2 / 2 + u @ lifted.C @ w + u @ lifted.curvature @ u / 2
    scores = problem.design.columns(features) @ w
    wanted = problem.objective(features, w, scores, b, u) - problem.lambda1 * np.abs(w).sum()
    assert hinge + squares == pytest.approx(wanted, rel=1e-12)


def test_the_gradient_is_that_of_the_lagrangian():
    problem = to_problem(random_problem(5, n=8, m=6, conditions=(1, 2)))
    lifted, rng = Lifted(problem, np.arange(5)), np.random.default_rng(0)
    w, u, alpha = rng.standard_normal(5), rng.random(3), rng.random(10)

    def lagrangian(w, u):
        quadratic = 0.5 * lifted.ridge @ w**2 + u @ lifted.C @ w + 0.5 * u @ lifted.curvature @ u
        return quadratic - alpha @ lifted.rows(w, 0.0, u)

    h = 1e-6
    in_w = [(lagrangian(w + h * e, u) - lagrangian(w - h * e, u)) / (2 * h) for e in np.eye(5)]
    in_u = [(lagrangian(w, u + h * e) - lagrangian(w, u - h * e)) / (2 * h) for e in np.eye(3)]
    found = lifted.gradient(w, u, alpha)
    np.testing.assert_allclose(found[0], in_w, atol=1e-7)
    np.testing.assert_allclose(found[1], in_u, atol=1e-7)
