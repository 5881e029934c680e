import numpy as np
import pytest

from hipad.solvers.admm import Residuals, balanced, relative, starting_penalties
from hipad.solvers.weight_blocks import Penalties
from tests.oracles import random_problem
from tests.solvers.problems import to_problem

ONE = Penalties(hinge=1.0, w=1.0, slack=1.0, u=1.0)
EVEN = (1.0, 1.0)


@pytest.mark.parametrize(
    ("pair", "factor"),
    [((1, 1), 1), ((4.9, 1), 1), ((16, 1), 4), ((1, 16), 0.25), ((1e9, 1), 10), ((1, 0), 10)],
)
def test_a_penalty_moves_towards_equal_residuals(pair, factor):
    moved = balanced(ONE, Residuals(hinge=pair, w=EVEN, slack=EVEN, u=EVEN), ONE)
    assert moved.hinge == pytest.approx(factor)
    assert (moved.w, moved.slack, moved.u) == (1, 1, 1)


def test_the_worst_split_counts():
    residuals = Residuals(hinge=(1, 2), w=(3, 1), slack=(0, 0), u=(2, 5))
    assert (residuals.primal, residuals.dual) == (3, 5)


def test_residuals_are_relative_to_the_size_of_both_sides():
    image, copy = np.array([3.0, 4.0]), np.array([3.0, 4.5])
    step, multiplier = np.array([0.0, 0.2]), np.array([2.0, 0.0])
    primal, dual = relative(image, copy, step, multiplier, 10.0)
    assert primal == pytest.approx(0.5 / np.linalg.norm(copy))
    assert dual == pytest.approx(2.0 / max(2.0, 0.1 * 10 * np.linalg.norm(copy)))
    assert relative(*[np.zeros(0)] * 4, 1.0) == (0.0, 0.0)


@pytest.mark.parametrize("conditions", [(), (1,), (2, 3)])
def test_first_guesses_are_positive_and_finite(conditions):
    mu = starting_penalties(to_problem(random_problem(2, conditions=conditions)))
    values = np.array([mu.hinge, mu.w, mu.slack, mu.u])
    assert np.all(np.isfinite(values))
    assert np.all(values > 0)
    assert mu.slack <= 1
