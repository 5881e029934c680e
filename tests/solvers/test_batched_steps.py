"""How far problems may move."""

from __future__ import annotations

import numpy as np

from hipad.solvers.batched import BatchIterate


def test_the_room_of_each_problem_keeps_every_number_positive():
    here = BatchIterate(np.array([[1.0, 2.0]]), np.array([[4.0, 1.0]]), np.zeros(2))
    by = BatchIterate(np.array([[-2.0, 1.0]]), np.array([[-1.0, -4.0]]), np.ones(2))
    np.testing.assert_allclose(here.max_step(by), [0.5, 0.25])
    moved = here.moved(by, np.array([0.5, 0.25]))
    np.testing.assert_allclose(moved.x * moved.z, [[0.0, 0.0]])
    np.testing.assert_allclose(moved.b, [0.5, 0.25])


def test_some_problems_move_and_the_others_stay():
    here = BatchIterate(np.ones((2, 3)), np.ones((2, 3)), np.zeros(3))
    some = np.array([0, 2])
    moved = here.part(some).moved(BatchIterate(*(np.ones(s) for s in [(2, 2), (2, 2), 2])), 1.0)
    found = here.with_part(some, moved)
    np.testing.assert_array_equal(found.x, [[2.0, 1.0, 2.0]] * 2)
    np.testing.assert_array_equal(found.b, [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(here.x, np.ones((2, 3)))
