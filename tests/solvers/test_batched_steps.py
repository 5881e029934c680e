"""How far problems may move."""

from __future__ import annotations

import numpy as np

from hipad.solvers.batched import BatchIterate, ComplementaryPair


def test_the_room_of_each_problem_keeps_every_number_positive():
    here = ComplementaryPair(np.array([[1.0, 2.0]]), np.array([[4.0, 1.0]]))
    by = ComplementaryPair(np.array([[-2.0, 1.0]]), np.array([[-1.0, -4.0]]))
    np.testing.assert_allclose(here.max_step(by), [0.5, 0.25])
    still = ComplementaryPair(np.ones((1, 2)), np.ones((1, 2)))
    stands, goes = (
        BatchIterate(here, still, still, np.zeros(2)),
        BatchIterate(by, still, still, np.ones(2)),
    )
    np.testing.assert_allclose(stands.max_step(goes), [0.5, 0.25])
    moved = stands.moved(goes, np.array([0.5, 0.25]))
    np.testing.assert_allclose(moved.rows.product, [[0.0, 0.0]])
    np.testing.assert_allclose(moved.b, [0.5, 0.25])
