"""Points and pairs of the interior method: how far they may move, and the active sets they show."""

from dataclasses import replace

import numpy as np
import pytest

from hipad.solvers.interior_point import ComplementaryPair, InteriorIterate, InteriorPoint
from hipad.solvers.losses import LOSSES
from tests.oracles import random_problem
from tests.solvers.problems import to_problem


def point(*pairs):
    return InteriorIterate(
        np.array([1.0]), 0.5, tuple(ComplementaryPair(np.array(x), np.array(z)) for x, z in pairs)
    )


AT = point(([2.0, 4.0], [1.0, 1.0]), ([1.0, 1.0], [1.0, 2.0]), ([3.0], [1.0]))
BY = point(([-1.0, -1.0], [0.0, 0.0]), ([1.0, 1.0], [0.0, -4.0]), ([0.0], [0.0]))


def test_the_longest_step_ends_where_the_first_entry_is_zero():
    room = AT.max_step(BY, 9.0)
    assert room == 0.5
    smallest = min(part.min() for pair in AT.moved(BY, room).pairs for part in pair)
    assert smallest == 0.0


def test_a_step_is_no_longer_than_allowed():
    assert AT.max_step(BY, 0.25) == 0.25
    growing = point(*[([1.0, 1.0], [1.0, 1.0])] * 2, ([1.0], [1.0]))
    assert AT.max_step(growing, 9.0) == 9.0


def test_moving_moves_weights_intercept_and_pairs():
    there = AT.moved(BY, 0.5)
    assert (there.w.tolist(), there.b) == ([1.5], 0.75)
    assert there.alpha.tolist() == [1.5, 3.5]
    assert there.u.tolist() == [3.0]


def test_complementarity_is_the_mean_of_all_products():
    assert AT.complementarity == pytest.approx((2 + 4 + 1 + 2 + 3) / 5)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_the_active_sets_put_each_dual_on_the_bound_that_it_goes_to(loss):
    problem = replace(to_problem(random_problem(0, n=40)), loss=loss)
    ipm = InteriorPoint(problem, np.arange(12), tolerance=1e-9)
    ipm.run()
    alpha, u = ipm.active_sets()
    near = ipm.point.alpha
    assert alpha == pytest.approx(near, abs=1e-7)
    inside = (alpha > 0) & (alpha < problem.rows.upper)
    assert alpha[inside].tolist() == near[inside].tolist()
    assert 0 < inside.sum() < alpha.size
    assert u == pytest.approx(ipm.point.u, abs=1e-7)


def test_split_weights_have_pairs_of_their_own():
    assert AT.split == ()
    both = InteriorIterate(AT.w, AT.b, (*AT.pairs, AT.pairs[0], AT.pairs[1]))
    assert both.split == AT.pairs[:2]
