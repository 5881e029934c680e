"""Weights in two parts: which parts there are, and what they lack to their conditions."""

import numpy as np

from hipad.solvers.interior_point import SignedParts, spread
from hipad.solvers.problem import SignPenalties

# any sign, never negative, never positive, free of charge
LIMITS = SignPenalties(np.array([0.3, 0.3, np.inf, 0.0]), np.array([0.3, np.inf, 0.2, 0.0]))
PARTS = SignedParts(LIMITS)


def test_a_forbidden_sign_and_a_free_weight_have_no_part():
    assert PARTS.sides[0].tolist() == [True, True, False, False]
    assert PARTS.sides[1].tolist() == [True, False, True, False]


def test_where_no_weight_pays_there_are_no_parts():
    free = SignedParts(SignPenalties(np.zeros(2), np.zeros(2)))
    w = np.array([1.0, -2.0])
    assert free.sides == ()
    assert free.start(1.0, 1.0) == free.near(w, 0.1, 0.1) == []
    assert free.lacking_weights(w, ()).size == 0
    assert free.lacking_penalties(w, ()) == free.ratios(()) == ()
    assert free.weights(w, (), np.ones(2)) is w


def test_a_start_lies_inside_with_multipliers_at_the_prices():
    plus, minus = PARTS.start(0.5, 7.0)
    assert plus.x.tolist() == [0.5, 0.5]
    assert plus.z.tolist() == [0.3, 0.3]
    assert minus.z.tolist() == [0.3, 0.2]
    costless = SignedParts(SignPenalties(np.array([0.0]), np.array([1.0])))
    assert costless.start(0.5, 7.0)[0].z.tolist() == [7.0]


def test_near_known_weights_each_part_keeps_some_room():
    plus, minus = PARTS.near(np.array([2.0, -1.0, -3.0, 5.0]), least=0.1, level=0.4)
    assert plus.x.tolist() == [2.0, 0.1]
    assert minus.x.tolist() == [0.1, 3.0]
    np.testing.assert_allclose(plus.product, 0.4)


def test_nothing_lacks_where_the_parts_make_up_the_weights_and_multipliers_fit():
    w = np.array([1.9, 0.1, -3.0, 5.0])
    split = PARTS.near(np.array([2.0, -1.0, -3.0, 5.0]), least=0.1, level=0.4)
    np.testing.assert_allclose(PARTS.lacking_weights(w, split), 0.0, atol=1e-15)
    assert PARTS.lacking_weights(w + 1.0, split).tolist()[:3] == [-1.0] * 3
    gradient = np.array([split[0].z[0] - 0.3, split[0].z[1] - 0.3, 0.2 - split[1].z[1], 0.0])
    plus, minus = PARTS.lacking_penalties(gradient, split)
    np.testing.assert_allclose(plus, 0.0, atol=1e-15)
    assert minus[0] != 0.0
    assert minus[1] == 0.0


def test_weights_that_their_price_holds_are_exactly_zero():
    plus, minus = PARTS.start(1.0, 1.0)
    tiny = np.array([1e-9, 1e-9])
    split = [plus._replace(x=np.array([1.0, 1e-9])), minus._replace(x=tiny)]
    w = np.array([1.0, 1e-9, -1e-9, 5.0])
    found = PARTS.weights(w, split, np.ones(4))
    assert found.tolist() == [1.0 - 1e-9, 0.0, 0.0, 5.0]


def test_ratios_stand_at_their_features():
    first, second = PARTS.ratios(PARTS.near(np.array([2.0, 1.0, -2.0, 0.0]), 1.0, 1.0))
    assert first.tolist() == [4.0, 1.0, 0.0, 0.0]
    assert second.tolist() == [1.0, 0.0, 4.0, 0.0]


def test_spread_puts_values_where_they_belong():
    where = np.array([False, True, True])
    assert spread(np.array([2.0, 3.0]), where).tolist() == [0.0, 2.0, 3.0]
