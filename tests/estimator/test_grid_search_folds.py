from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import check_scoring, get_scorer

from hipad import HIPADClassifier
from hipad.estimator.grid_search import (
    FoldSearch,
    FoldTask,
    LabelledRows,
    chains,
    combinations,
    takes_weights,
)


def rows(n=30):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1, -1)
    return LabelledRows(rng.standard_normal((n, 12)) + 0.5 * y[:, None], y, None)


def run(error_score, data=None, train=slice(0, 20), scorer=None):
    data, template = data or rows(), HIPADClassifier(lambda1=1.0)
    candidates = combinations({"lambda1": [0.01, 0.1], "lambda2": [1.0, 2.0]})
    scorer = scorer or check_scoring(template, None)
    search = FoldSearch(template, candidates, scorer, None, error_score)
    task = FoldTask(3, np.arange(30)[train], np.arange(20, 30), chains(candidates))
    return task.run(search, data)


def test_one_trial_for_each_candidate():
    trials = run("raise")
    assert sorted(trial.candidate for trial in trials) == [0, 1, 2, 3]
    assert {trial.fold for trial in trials} == {3}
    assert all(0 <= trial.score <= 1 and trial.converged and not trial.failure for trial in trials)


def test_a_fold_of_one_class_fails_in_a_sentence_or_by_its_score():
    one_class = slice(0, 20, 2)
    trials = run(-1.0, train=one_class)
    assert [trial.score for trial in trials] == [-1.0] * 4
    assert all("class" in trial.failure for trial in trials)
    with pytest.raises(ValueError, match="class"):
        run("raise", train=one_class)


def test_a_scorer_that_gives_no_number_is_told():
    with pytest.raises(ValueError, match="one number"):
        run("raise", scorer=lambda clf, X, y: {"a": 1.0})


def test_scorers_that_take_weights_are_known():
    assert takes_weights(check_scoring(HIPADClassifier(), None))
    assert takes_weights(get_scorer("neg_log_loss"))
    assert not takes_weights(lambda clf, X, y: 0.0)
