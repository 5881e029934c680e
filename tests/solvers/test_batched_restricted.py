"""Features that may be in, and which are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.solvers.problem import SignPenalties
from tests.solvers.newton_systems import all_features, small_problem


def test_what_is_in_is_what_has_a_weight_or_no_price_and_is_not_barred():
    problem = small_problem(np.random.default_rng(0), 10, 4, with_rule=False)
    prices = np.array([[0.1], [0.1], [0.0], [0.1]])
    restricted = replace(all_features(problem, 1), limits=SignPenalties(prices, prices))
    w = np.array([[0.5], [0.0], [0.0], [-1.0]])
    kept, h = restricted.curved(w)
    np.testing.assert_array_equal(kept, [0, 2, 3])
    np.testing.assert_allclose(h, [[1.0], [1.0], [1.0]])
    fixed = replace(restricted, fixed=np.array([[True], [True], [False], [True]]))
    kept, h = fixed.curved(w)
    np.testing.assert_allclose(np.bincount(kept, h[:, 0], minlength=4), [1.0, 0.0, 0.0, 1.0])
    assert not fixed.is_linear
    free = replace(fixed, limits=SignPenalties(0.0 * prices, 0.0 * prices))
    assert free.is_linear
    np.testing.assert_array_equal(free.all_curved()[0], [0, 1, 3])
    np.testing.assert_allclose(restricted.weights(np.array([[0.6], [0.05], [2.0], [-1.1]]))[:, 0],
                               [0.5, 0.0, 2.0, -1.0])  # fmt: skip
