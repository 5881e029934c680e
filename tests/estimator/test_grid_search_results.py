from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from hipad.estimator.grid_search import Trial, best_of, ranks, results_of, warn_of_failures
from hipad.exceptions import HipadError

CANDIDATES = [{"lambda1": 0.1, "rule_weight": "auto"}, {"lambda1": 0.2, "rule_weight": 3}]


def trials(scores):
    return [
        Trial(i, k, score, 4 + i + k, 0.5, 0.25)
        for i, row in enumerate(scores)
        for k, score in enumerate(row)
    ]


def test_figures_are_those_of_the_trials():
    results = results_of(CANDIDATES, trials([[0.5, 0.7], [0.9, 0.7]]), 2)
    np.testing.assert_allclose(results["mean_test_score"], [0.6, 0.8])
    np.testing.assert_allclose(results["std_test_score"], [0.1, 0.1])
    assert results["rank_test_score"].tolist() == [2, 1]
    assert results["split1_test_score"].tolist() == [0.7, 0.7]
    assert results["mean_support_size"].tolist() == [4.5, 5.5]
    assert results["mean_fit_time"].tolist() == [0.5, 0.5]
    assert results["param_rule_weight"].tolist() == ["auto", 3]
    assert results["param_lambda1"].dtype == float
    assert best_of(results, True) == 1
    assert best_of(results, lambda r: 0) == 0


def test_a_candidate_that_failed_comes_last():
    assert ranks(np.array([np.nan, -3.0, -2.0])).tolist() == [3, 2, 1]
    assert ranks(np.array([np.nan, np.nan])).tolist() == [1, 1]


@pytest.mark.parametrize("index", [2, -1, 0.5, None])
def test_a_choice_outside_is_told(index):
    results = results_of(CANDIDATES, trials([[0.5], [0.9]]), 1)
    with pytest.raises(HipadError, match="index below 2"):
        best_of(results, lambda r: index)


def test_failures_are_told_once():
    failed = Trial(0, 0, np.nan, np.nan, 0.0, 0.0, failure="DataError: one class")
    slow = Trial(0, 1, 0.5, 3, 0.0, 0.0, converged=False)
    with pytest.warns(FitFailedWarning, match="1 of 2 fits failed.*one class"):
        warn_of_failures([failed, Trial(0, 1, 0.5, 3, 0.0, 0.0)])
    with pytest.warns(ConvergenceWarning, match="1 of 1 fits"):
        warn_of_failures([slow])
    with pytest.raises(HipadError, match="2 of 2 fits failed"):
        warn_of_failures([failed, failed])
