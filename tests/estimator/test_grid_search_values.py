from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from hipad.estimator.grid_search import chains, combinations, lambda1_values, tried_values
from hipad.estimator.problem_factory import TrainingData, shares
from hipad.exceptions import HipadError
from hipad.solvers import lambda1_max


def test_combinations_come_in_the_order_of_scikit_learn():
    values = {"lambda2": [1.0, 2.0], "lambda1": [3.0, 4.0], "rule_weight": ["auto", 1]}
    assert combinations(values) == list(ParameterGrid(values))


def test_chains_go_down_in_lambda1_and_hold_everybody_once():
    candidates = combinations({"lambda1": [0.1, 0.9, 0.5], "lambda2": [1.0, 2.0]})
    found = chains(candidates)
    assert sorted(i for chain in found for i in chain) == list(range(6))
    for chain in found:
        assert [candidates[i]["lambda1"] for i in chain] == [0.9, 0.5, 0.1]
        assert len({candidates[i]["lambda2"] for i in chain}) == 1


def test_values_become_plain_numbers():
    assert tried_values("lambda1", np.array([0.5, 0.25])) == [0.5, 0.25]
    assert type(tried_values("lambda1", np.array([0.5]))[0]) is float
    with pytest.raises(HipadError, match="at least one"):
        tried_values("lambda2", ())


def training(X):
    y, w = np.where(np.arange(len(X)) % 2, 1.0, -1.0), np.ones(len(X))
    return TrainingData.of(X, y, w, shares(y, w, "balanced"), True)


def test_a_spread_begins_below_the_largest_and_ends_at_a_hundredth():
    data = training(np.random.default_rng(0).standard_normal((20, 6)))
    largest = lambda1_max(data.problem((), 0.0, 1.0, "population"))
    values = lambda1_values(5, data)
    assert values[0] == pytest.approx(0.9 * largest)
    assert values[-1] == pytest.approx(0.01 * largest)
    np.testing.assert_allclose(np.diff(np.log(values)), np.log(0.01 / 0.9) / 4)


def test_columns_that_tell_nothing_still_give_values_above_zero():
    assert all(value > 0 for value in lambda1_values(3, training(np.ones((6, 2)))))
