"""The middle of the best intercepts against a look at every break of the objective."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from hipad.solvers.exact import middle_intercept
from tests.oracles import random_problem
from tests.solvers.problems import rule, to_problem


def loss(problem, scores, u, b):
    """What of F depends on b."""
    slacks = np.maximum(problem.stack.slacks(b, u), 0.0)
    return problem.p @ np.maximum(1 - problem.y * (scores + b), 0.0) + problem.stack.sigma @ slacks


def best_range(problem, scores, u):
    """First and last best intercept: the ends of a piecewise linear function's flat part."""
    stack = problem.stack
    breaks = np.r_[problem.y - scores, stack.of_b * (stack.thresholds @ u + 1.0)]
    values = np.array([loss(problem, scores, u, b) for b in breaks])
    best = breaks[values <= values.min() + 1e-12]
    return best.min(), best.max()


@given(
    seed=st.integers(0, 2**31),
    scores=st.lists(st.integers(-3, 3), min_size=6, max_size=6),
    weighted=st.booleans(),
    conditions=st.sampled_from([(), (1,), (1, 2)]),
)
def test_it_is_the_middle_of_the_best_ones(seed, scores, weighted, conditions):
    raw = random_problem(seed, n=6, m=3, conditions=conditions, weighted=weighted)
    problem, scores = to_problem(raw), np.array(scores, dtype=float)
    u = np.random.default_rng(seed).uniform(0, 1, problem.stack.n_rows)
    low, high = best_range(problem, scores, u)
    assert middle_intercept(problem, scores, u) == pytest.approx((low + high) / 2, abs=1e-9)


def test_without_weights_two_equal_classes_meet_at_zero():
    problem = to_problem(random_problem(0, n=10, conditions=()))
    assert middle_intercept(problem, np.zeros(10), np.zeros(0)) == 0.0


def test_a_rule_that_outweighs_the_data_decides_and_a_centered_one_does_not():
    raw = random_problem(0, n=10, m=2, conditions=())
    strong = rule([[1.0, 0.0]], [-1.0], sigma=5.0)
    free, centered = (
        to_problem(raw._replace(rules=(strong._replace(centered=way),))) for way in (False, True)
    )
    u = np.array([-3.0])  # d'u = 3: the rule asks for b >= 4
    assert middle_intercept(free, np.zeros(10), u) == 4.0
    assert middle_intercept(centered, np.zeros(10), u) == 0.0
