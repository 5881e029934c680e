"""What a search that has chosen answers, and when it refuses to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hipad import HIPADClassifierCV
from hipad.exceptions import HipadError
from tests.estimator.grid_data import GRID, data

ASKED = ("decision_function", "predict", "predict_proba", "predict_log_proba")


def test_the_answers_are_those_of_the_best_model():
    X, y = data()
    search = HIPADClassifierCV(**GRID, cv=2).fit(X, y)
    best = search.best_estimator_
    for asked in ASKED:
        np.testing.assert_array_equal(getattr(search, asked)(X), getattr(best, asked)(X))
    assert search.n_iter_ == best.n_iter_
    assert best.get_params()["lambda1"] == search.best_params_["lambda1"]


def test_the_score_is_that_by_which_settings_were_chosen_and_may_be_weighted():
    X, y = data()
    search = HIPADClassifierCV(lambda1=0.05, lambda2=1.0, cv=2, scoring="accuracy").fit(X, y)
    right = search.predict(X) == y
    weights = np.where(right, 1.0, 3.0)
    assert search.score(X, y) == pytest.approx(right.mean())
    wanted = np.average(right, weights=weights)
    assert search.score(X, y, sample_weight=weights) == pytest.approx(wanted)


def test_another_fit_without_refit_forgets_the_model_before():
    X, y = data()
    search = HIPADClassifierCV(lambda1=0.05, lambda2=1.0, cv=2).fit(X, y)
    search.set_params(refit=False).fit(X, y)
    assert not hasattr(search, "best_estimator_")


def test_before_the_fit_there_is_nothing_to_ask():
    with pytest.raises(NotFittedError):
        HIPADClassifierCV().predict(data()[0])


def test_a_function_may_choose():
    X, y = data()
    sparsest = HIPADClassifierCV(
        **GRID, cv=2, refit=lambda results: int(results["mean_support_size"].argmin())
    ).fit(X, y)
    assert sparsest.best_params_["lambda1"] == 0.2
    with pytest.raises(HipadError, match="index below 6"):
        HIPADClassifierCV(**GRID, cv=2, refit=lambda results: 6).fit(X, y)


def test_without_a_refit_there_is_nothing_to_predict_with():
    X, y = data()
    search = HIPADClassifierCV(**GRID, cv=2, refit=False).fit(X, y)
    assert search.best_params_["lambda2"] in GRID["lambda2"]
    with pytest.raises(NotFittedError, match="refit=True"):
        search.predict(X)
