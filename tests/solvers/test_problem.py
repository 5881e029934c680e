"""The problem that all solvers share, against its definition written with dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from hipad.designs import make_design
from hipad.solvers.problem import Problem, RuleBlock
from tests.oracles import objective, random_problem
from tests.solvers.problems import to_problem


@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("conditions", [(), (1,), (2, 3)])
def test_the_objective_is_the_one_of_the_definition(scope, conditions):
    oracle = random_problem(3, conditions=conditions, scope=scope)
    problem, rng = to_problem(oracle), np.random.default_rng(0)
    w, b = rng.standard_normal(problem.n_features), 0.3
    us = [rng.random(rule.B.shape[0]) for rule in oracle.rules]
    # The stack has rows of length one, so that its u is the user's times their lengths.
    u = np.concatenate(us) * problem.stack.row_norms if us else np.zeros(0)
    features = rng.permutation(problem.n_features)
    own = problem.objective(features, w[features], oracle.X @ w, b, u)
    assert own == pytest.approx(objective(*oracle, w, b, us), rel=1e-12)


def test_rule_features_are_found_in_any_order():
    problem = to_problem(random_problem(1, conditions=(2,)))
    named = problem.stack.features
    at, of = problem.rule_positions(named[::-1])
    np.testing.assert_array_equal(named[::-1][at], named[of])
    assert at.size == named.size


def test_a_rule_that_nobody_can_meet_has_no_price():
    rows = sp.csr_array(np.array([[1.0, 0], [-1, 0]]))
    both = [RuleBlock(rows, np.array([high, low]), 1, 0.5, 0.1) for high, low in ((1, 1), (-2, 1))]
    X, y = np.eye(2), np.array([1.0, -1])
    problem = Problem(make_design(X), y, np.full(2, 0.5), 0.1, 0.1, tuple(both))
    np.testing.assert_allclose(problem.stack.ceilings, [0.5, 0.0])
