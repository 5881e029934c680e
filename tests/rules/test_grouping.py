from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.rules import block_overlaps, suggest_blocks


def test_overlaps_are_shown():
    blocks = {
        "a": np.array([0, 1, 2]),
        "b": np.array([2, 3]),
        "c": np.array([1, 2]),
        "d": np.array([9]),
    }
    found = [(first, second, shared.tolist()) for first, second, shared in block_overlaps(blocks)]
    assert found == [("a", "c", [1, 2]), ("a", "b", [2]), ("b", "c", [2])]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_correlated_features_are_found(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 300)) * (rng.random((80, 300)) < 0.1)
    for start in (20, 200):
        X[:, start : start + 10] = rng.standard_normal((80, 1)) + 0.3 * rng.standard_normal(
            (80, 10)
        )
    blocks = suggest_blocks(make(X), most_features=100)
    assert [columns.tolist() for columns in blocks.values()] == [
        list(range(20, 30)),
        list(range(200, 210)),
    ]


def test_chance_and_constant_columns_suggest_nothing():
    noise = np.random.default_rng(0).standard_normal((60, 400))
    assert suggest_blocks(noise) == {}
    assert suggest_blocks(np.ones((5, 9))) == {}
    assert suggest_blocks(np.arange(5.0)[:, None]) == {}


def test_a_chain_of_neighbours_is_not_one_block():
    """Each column is like the next, the first is not like the last."""
    rng = np.random.default_rng(1)
    steps = rng.standard_normal((200, 90)).cumsum(axis=1)
    walk = steps[:, 8:] - np.c_[np.zeros(200), steps[:, :-9]]
    assert max(map(len, suggest_blocks(walk).values())) < 30


def test_huge_values_do_not_overflow():
    trend = np.linspace(-1, 1, 20)[:, None] * np.array([1e200, 2e200, 3e200])
    (columns,) = suggest_blocks(trend).values()
    assert columns.tolist() == [0, 1, 2]
