"""The conditions for known sets against one dense system that eliminates nothing."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from hipad.solvers.exact import KktSystem


def random_system(seed, rows=4, features=6, multipliers=2, size=1.0):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((multipliers, multipliers))
    system = KktSystem(
        Z=size * rng.standard_normal((rows, features)),
        C=0.1 * rng.standard_normal((multipliers, features)),
        d=rng.standard_normal((rows, multipliers)),
        labels=np.where(np.arange(rows) % 2 == 0, 1.0, -1.0),
        ridge=rng.uniform(0.5, 2.0, features),
        curvature=root @ root.T + np.eye(multipliers),
    )
    return system, (rng.standard_normal(features), 0.3, rng.standard_normal(multipliers))


def dense(system, forced, balance, linear):
    """All conditions as the module states them, for (w, alpha, b, u) at once."""
    r, k, K = system.labels.size, system.ridge.size, len(linear)
    label = system.labels[:, None]
    matrix = np.block(
        [
            [np.diag(system.ridge), -system.Z.T, np.zeros((k, 1)), system.C.T],
            [system.Z, np.zeros((r, r)), label, -system.d],
            [np.zeros((1, k)), label.T, np.zeros((1, 1 + K))],
            [system.C, system.d.T, np.zeros((K, 1)), system.curvature],
        ]
    )
    return matrix, np.r_[forced, np.ones(r), balance, -linear]


@given(
    seed=st.integers(0, 2**31),
    rows=st.integers(1, 5),
    features=st.integers(5, 9),
    multipliers=st.integers(0, 3),
)
def test_the_solution_is_that_of_the_whole_system(seed, rows, features, multipliers):
    system, right = random_system(seed, rows, features, multipliers)
    matrix, wanted = dense(system, *right)
    if np.linalg.cond(matrix) > 1e6:
        return
    expected = np.linalg.solve(matrix, wanted)
    np.testing.assert_allclose(np.hstack(system.solve(*right)), expected, rtol=1e-7, atol=1e-8)


def test_equal_rows_share_their_price():
    system, right = random_system(1, rows=3)
    again = [0, 1, 2, 2]
    twice = KktSystem(
        system.Z[again], system.C, system.d[again], system.labels[again],
        system.ridge, system.curvature,
    )  # fmt: skip
    once, found = system.solve(*right), twice.solve(*right)
    np.testing.assert_allclose(found[0], once[0], atol=1e-8)
    assert found[1][2] + found[1][3] == pytest.approx(once[1][2], abs=1e-7)


def test_margins_are_met_with_data_of_large_numbers():
    system, right = random_system(2, size=1e3)
    w, alpha, b, u = system.solve(*right)
    np.testing.assert_allclose(system.Z @ w + system.labels * b - system.d @ u, 1.0, atol=1e-9)
    assert system.labels @ alpha == pytest.approx(right[1], abs=1e-9)


def test_demands_that_exclude_each_other_have_no_solution():
    none = np.zeros((2, 0))
    system = KktSystem(none, none[:0], none, np.array([1.0, -1.0]), np.zeros(0), none[:0])
    assert system.solve(np.zeros(0), 0.0, np.zeros(0)) is None  # b = 1 and -b = 1


def test_a_row_that_nothing_can_move_has_no_solution():
    none = np.zeros((1, 0))
    system = KktSystem(none, none[:0], none, np.zeros(1), np.zeros(0), none[:0])
    assert system.solve(np.zeros(0), 0.0, np.zeros(0)) is None


def test_without_a_row_that_meets_the_intercept_the_weights_follow_from_the_forces():
    none = np.zeros((0, 2))
    system = KktSystem(none, none, none[:, :0], np.zeros(0), np.array([2.0, 4.0]), none[:, :0])
    w, alpha, b, u = system.solve(np.array([1.0, -1.0]), 0.7, np.zeros(0))
    assert w.tolist() == [0.5, -0.25]
    assert (alpha.size, b, u.size) == (0, 0.0, 0)
