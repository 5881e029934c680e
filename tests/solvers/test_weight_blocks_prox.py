"""Each proximal step against the minimum that it stands for, found on a grid."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from hipad.solvers.losses import HINGE
from hipad.solvers.problem import SignPenalties
from hipad.solvers.weight_blocks import nonnegative, soft_threshold

NUMBERS = st.floats(-3, 3)
PENALTIES = st.floats(0.2, 5)
BOTH = SignPenalties(np.array([0.7]), np.array([0.7]))
ABOVE, BELOW = BOTH._replace(down=np.array([np.inf])), BOTH._replace(up=np.array([np.inf]))
GRID = np.linspace(-40, 40, 80_001)


def least(cost, h, g, mu):
    """Where cost(z) + g (h - z) + mu/2 (h - z)^2 is smallest."""
    values = cost(GRID) + g * (h - GRID) + 0.5 * mu * (h - GRID) ** 2
    return GRID[np.argmin(values)]


def forbidden_below_zero(z):
    return np.where(z < 0, np.inf, 0.0)


def allowed(z, where):
    return np.where(where, 0.7 * np.abs(z), np.inf)


@pytest.mark.parametrize(
    ("step", "cost"),
    [
        (
            lambda h, g, mu: HINGE.proximal_step(h, g, mu, np.array([0.7])),
            lambda z: 0.7 * np.maximum(z, 0),
        ),
        (lambda h, g, mu: soft_threshold(h, g, mu, BOTH), lambda z: 0.7 * np.abs(z)),
        (lambda h, g, mu: soft_threshold(h, g, mu, ABOVE), lambda z: allowed(z, z >= 0)),
        (lambda h, g, mu: soft_threshold(h, g, mu, BELOW), lambda z: allowed(z, z <= 0)),
        (nonnegative, forbidden_below_zero),
    ],
    ids=["hinge", "l1", "raised", "lowered", "nonnegative"],
)
@given(h=NUMBERS, g=NUMBERS, mu=PENALTIES)
def test_the_copy_is_the_minimum_and_the_multiplier_its_price(step, cost, h, g, mu):
    copy, multiplier = step(np.array([h]), np.array([g]), mu)
    assert copy[0] == pytest.approx(least(cost, h, g, mu), abs=2e-3)
    assert multiplier[0] == pytest.approx(g + mu * (h - copy[0]), abs=1e-9)
