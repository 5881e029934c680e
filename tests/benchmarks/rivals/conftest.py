"""Two classes that a line can part, far from the origin."""

import numpy as np
import pytest


@pytest.fixture
def parted():
    y = np.repeat([-1, 1], 20)
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 5)) + np.outer(y, [2, 1, 0, 0, 0]) + 7, y
