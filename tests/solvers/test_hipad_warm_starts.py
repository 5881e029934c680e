"""Fits that are watched, paused and stopped, and refits that reuse what is known."""

from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.solvers import Status
from tests.small import METHODS, RULE, data, fit, same_model


def test_watching_changes_nothing():
    X, y = data()
    watch = HIPADClassifier(RULE, lambda1=0.05).fit_iter(X, y)
    records = list(watch)
    assert watch.finished
    same_model(watch.finish(), fit(X, y), rtol=0, atol=0)
    assert [r.phase for r in records] == sorted(r.phase for r in records)
    assert len(records) == len(watch.history)
    assert sum(record.phase > 0 for record in records) == watch.finish().n_iter_


def test_a_pause_changes_nothing():
    X, y = data()
    watch = HIPADClassifier(RULE, lambda1=0.05).fit_iter(X, y)
    for record in watch:
        if record.iteration % 3 == 0:
            break
    watch.finish()  # a look at the model so far
    watch.stop()
    assert list(watch) == []
    watch.resume()
    for _ in watch:
        pass
    same_model(watch.finish(), fit(X, y), rtol=0, atol=0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lambda1", ["auto", 0.05])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_stopped_fit_is_a_model_that_says_so(method, lambda1, steps):
    X, y = data()
    watch = HIPADClassifier(RULE, lambda1=lambda1, method=method).fit_iter(X, y)
    for _ in range(steps):
        next(watch)
    watch.stop()
    clf = watch.finish()
    assert clf.certificate_.status is Status.STOPPED
    assert np.isfinite(clf.coef_).all()
    assert set(clf.predict(X)) <= {0, 1}
    assert len(clf.rule_report_) == 1
    if lambda1 == "auto" and steps:
        assert clf.score(X, y) > 0.7  # the best lambda1 so far, fitted to the end


def test_the_classifier_stays_as_it_was_until_the_end():
    X, y = data()
    clf = fit(X, y)
    before = clf.decision_function(X)
    watch = clf.set_params(lambda1=0.4).fit_iter(X[:, :4], y)
    next(watch)
    assert np.array_equal(clf.decision_function(X), before)
    for _ in watch:
        pass
    assert watch.finish() is clf
    assert clf.n_features_in_ == 4


@pytest.mark.parametrize("method", METHODS)
def test_a_warm_refit_equals_a_cold_one(method):
    X, y = data(n=40, m=30)
    first = fit(X, y, method=method, solver={"tol": 1e-9})
    changed = HIPADClassifier(
        "x0 >= 1.7 => positive", lambda1=0.05, method=method, solver={"tol": 1e-9}
    )
    watch = changed.fit_iter(X, y, warm_start_from=first)
    for _ in watch:
        pass
    warm = watch.finish()
    cold = fit(X, y, rules="x0 >= 1.7 => positive", method=method, solver={"tol": 1e-9})
    assert warm._data is first._data
    assert np.array_equal(warm.support_, cold.support_)
    objectives = [clf.certificate_.primal_objective for clf in (warm, cold)]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-7)
    same_model(warm, cold, rtol=1e-9, atol=1e-10)


def test_only_the_same_data_are_reused():
    X, y = data()
    first = fit(X, y)

    def refit(X, y, **parameters):
        clf = HIPADClassifier(RULE, **{"lambda1": 0.05, **parameters})
        watch = clf.fit_iter(X, y, warm_start_from=first)
        for _ in watch:
            pass
        return watch.finish()

    assert refit(X, y)._data is first._data
    for other in (
        refit(X.copy(), y),
        refit(X, 1 - y),
        refit(X, y, standardize=False),
        refit(X, y, class_weight=None if y.mean() != 0.5 else {0: 2.0}),
    ):
        assert other._data is not first._data
    X[:, 1] *= 3.0  # in place: the same object, other data
    assert refit(X, y)._data is not first._data
    same_model(refit(X, y), fit(X, y))
