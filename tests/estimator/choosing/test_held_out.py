from __future__ import annotations

import numpy as np

from hipad import HIPADClassifier
from hipad.estimator.choosing.held_out import held_out_scores


def data(n=40, m=30, seed=0, shift=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.standard_normal((n, m)) + np.outer(y, np.r_[shift, np.zeros(m - 1)]), y


def test_a_chosen_model_keeps_one_honest_score_a_patient():
    X, y = data()
    clf = HIPADClassifier().fit(X, y)
    scores = clf._model.held_out
    assert scores.shape == (40,)
    honest, flattering = (np.mean(y * s) for s in (scores, clf.decision_function(X)))
    assert 0.3 < honest < 1.05 * flattering


def test_given_values_keep_none_but_have_them_on_demand():
    X, y = data(shift=1.5)
    clf = HIPADClassifier(lambda1=0.05, lambda2=1.0).fit(X, y)
    assert clf._model.held_out is None
    scores = held_out_scores(clf._data, clf._model.plan, 0.05, 1.0)
    assert np.mean((scores > 0) == (y > 0)) > 0.65


def test_patients_without_a_signal_get_scores_without_one():
    X, y = data(n=60, m=200, shift=0.0)
    clf = HIPADClassifier(lambda1=0.01, lambda2=1.0).fit(X, y)
    scores = held_out_scores(clf._data, clf._model.plan, 0.01, 1.0)
    assert np.mean(np.sign(clf.decision_function(X)) == y) > 0.95, "on its own patients"
    assert np.mean(np.sign(scores) == y) < 0.7, "on others"


def test_the_order_of_rows_moves_the_scores_with_them():
    X, y = data()
    order = np.random.default_rng(1).permutation(40)
    one, other = (HIPADClassifier(lambda1=0.05).fit(X[o], y[o]) for o in (slice(None), order))
    scores = [held_out_scores(clf._data, clf._model.plan, 0.05, 1.0) for clf in (one, other)]
    np.testing.assert_allclose(scores[0][order], scores[1], atol=1e-6)


def test_too_few_patients_for_folds_get_no_score():
    clf = HIPADClassifier(lambda1=0.05).fit(*data(n=2))
    assert np.isnan(held_out_scores(clf._data, clf._model.plan, 0.05, 1.0)).all()
