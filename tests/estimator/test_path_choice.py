from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.estimator import path as choice
from hipad.estimator.cross_validation import CVResult
from hipad.estimator.parameters import FitSettings
from hipad.estimator.path import PathSelector
from hipad.estimator.problem_factory import ProblemFactory, TrainingData, shares
from hipad.estimator.settings import SELECTION
from hipad.rules.compiler import ExpertKnowledge


def data(n=40, m=8, seed=0, signal=1.5):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.standard_normal((n, m)) + np.outer(y, np.r_[signal, np.zeros(m - 1)]), y


def choice_of(X, y, **parameters):
    ones = np.ones(len(y))
    standardize = parameters.get("standardize", True)
    training = TrainingData.of(X, y, ones, shares(y, ones, "balanced"), standardize)
    return PathSelector(
        ProblemFactory(training, FitSettings.of(HIPADClassifier(**parameters), ExpertKnowledge()))
    )


def told(*losses, lambda2=1.0):
    """A choice among values of which these losses are known, the largest lambda1 first."""
    choice = choice_of(*data())
    n = len(losses[0])
    choice.results = [
        CVResult(
            0.5**k, lambda2, np.array(own), np.full(n, 1 / n), np.ones(n), np.zeros(n), 0.0, k + 1
        )
        for k, own in enumerate(losses)
    ]
    return choice


def test_losses_that_speak_clearly_choose_their_best_value():
    rng = np.random.default_rng(0)
    clear = [0.9 + 0.01 * rng.random(20), 0.5 + 0.01 * rng.random(20), 0.1 * np.ones(20)]
    assert told(*clear).taken.lambda1 == pytest.approx(0.25)


def test_losses_that_say_nothing_choose_the_middle():
    rng = np.random.default_rng(0)
    flat = [0.69 + 0.1 * rng.permutation(np.linspace(-1, 1, 20)) for _ in range(5)]
    assert told(*flat).taken.lambda1 == pytest.approx(0.25, rel=0.3)


def test_of_models_that_are_as_good_the_sparsest_is_taken():
    rng = np.random.default_rng(0)
    flat = [0.3 + 0.1 * rng.permutation(np.linspace(-1, 1, 20)) for _ in range(5)]
    assert told(*flat).taken.lambda1 == pytest.approx(1.0)
    worse = [0.5 + 0.01 * rng.random(20), *flat]
    assert told(*worse).taken.lambda1 == pytest.approx(0.5)


def test_a_wish_for_few_features_is_met_along_the_path():
    rng = np.random.default_rng(0)
    choice = told(*[loss + 0.01 * rng.random(20) for loss in (0.9, 0.7, 0.5, 0.1)])
    assert choice.taken.support_size == 4
    choice.plan = FitSettings(**{**vars(choice.plan), "max_features": 2})
    assert choice.taken.support_size == 2
    X, y = data(n=60, m=60)
    for most in (1, 3):
        clf = HIPADClassifier(max_features=most).fit(X, y)
        assert 1 <= clf.support_.size <= most


def test_the_path_marks_the_best_and_the_chosen_point():
    clf = HIPADClassifier().fit(*data())
    (best,), (chosen,) = ([p for p in clf.path_ if getattr(p, key)] for key in ("best", "chosen"))
    assert best.loss == min(p.loss for p in clf.path_)
    assert (clf.lambda1_, clf.lambda2_) == (chosen.lambda1, chosen.lambda2)
    assert {p.lambda2 for p in clf.path_} == set(SELECTION.ridges)
    assert all(0 <= p.accuracy <= 1 for p in clf.path_)
    assert all(p.excess_loss >= -1e-12 for p in clf.path_ if p.support_size)
    assert [r.phase for r in clf.history_].count(0) == len(clf.path_)


def test_the_path_goes_down_to_a_hundredth_while_large_models_gain():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    X = rng.standard_normal((30, 300)) + np.outer(y, 0.15 * rng.standard_normal(300))
    clf = HIPADClassifier(lambda2=0.1).fit(X, y)
    assert len(clf.path_) == SELECTION.n_lambda1
    assert clf.path_[0].lambda1 / clf.path_[-1].lambda1 == pytest.approx(70, rel=0.15)
    assert clf.path_[-1].support_size > 3 * len(y)


def test_between_sparse_and_dense_models_as_good_nothing_in_between_is_taken():
    """A mean of both would be a model that nobody found good."""
    rng = np.random.default_rng(0)
    bad = 0.68 + 0.01 * rng.random((3, 20))
    sparse, dense = (0.3 + 0.05 * rng.permutation(np.linspace(-1, 1, 20)) for _ in range(2))
    assert told(sparse, *bad, dense)._middle.support_size in (1, 5)


def test_a_given_lambda2_is_kept_and_a_given_lambda1_asks_for_no_path():
    X, y = data()
    one, other = HIPADClassifier(lambda1=0.07).fit(X, y), HIPADClassifier(lambda2=0.3).fit(X, y)
    assert (one.lambda1_, one.lambda2_, one.path_) == (0.07, 10.0, ())
    assert other.lambda2_ == 0.3
    assert {p.lambda2 for p in other.path_} == {0.3}


def permuted(seed):
    X, y = data(n=50, m=30, seed=seed)
    rng = np.random.default_rng(seed)
    return X, y, rng.permutation(50), rng.permutation(30)


@pytest.mark.parametrize("most", [0, choice.TOGETHER])
@pytest.mark.parametrize("seed", range(2))
def test_orders_copies_and_threads_change_nothing(seed, most, monkeypatch):
    monkeypatch.setattr(choice, "TOGETHER", most)  # 0: each path on its own, and on threads
    X, y, rows, columns = permuted(seed)
    plain = HIPADClassifier().fit(X, y)
    same = [
        HIPADClassifier().fit(X[rows], y[rows]),
        HIPADClassifier().fit(np.r_[X, X[:3]], np.r_[y, y[:3]]),
        HIPADClassifier(n_jobs=2).fit(X, y),
        HIPADClassifier().fit(X[:, columns], y),
    ]
    weighted = HIPADClassifier().fit(X, y, sample_weight=np.r_[2, 2, 2, np.ones(47)])
    for clf, like in zip(same, (plain, weighted, plain, plain), strict=True):
        assert (clf.lambda1_, clf.lambda2_) == (like.lambda1_, like.lambda2_)
        order = columns if clf is same[3] else np.arange(30)
        np.testing.assert_allclose(clf.coef_[0], like.coef_[0, order], atol=1e-6)
        assert clf.intercept_[0] == pytest.approx(like.intercept_[0], abs=1e-6)


def test_auto_keeps_the_feature_that_matters():
    X, y = data(n=80, m=100, seed=3)
    clf = HIPADClassifier().fit(X, y)
    assert 0 in clf.support_
    X_test, y_test = data(n=400, m=100, seed=4)
    assert clf.score(X_test, y_test) > 0.88


def test_auto_with_too_few_patients_for_folds_still_gives_a_model():
    clf = HIPADClassifier().fit(*data(n=3))
    assert clf.path_ == ()
    assert clf.lambda1_ > 0
    assert clf.support_.size > 0


def test_values_that_keep_nothing_say_nothing():
    X, y = data(n=40, m=20)
    y[:28] = -1.0  # far from balanced, so that lambda1_max is far above the first feature
    clf = HIPADClassifier(class_weight=None).fit(X, y)
    assert clf.path_[0].support_size > 0


def test_the_intercept_is_where_held_out_patients_are_as_likely():
    """Skewed scores: the middle between the means is not where the classes part."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(300) % 2, 1, -1)
    X = rng.standard_normal((300, 5))
    X[y > 0, 0] += rng.exponential(4.0, 150) + 1.0
    train, test = np.arange(150), np.arange(150, 300)
    chosen = HIPADClassifier().fit(X[train], y[train])
    given = HIPADClassifier(lambda1=chosen.lambda1_, lambda2=chosen.lambda2_)
    middle = given.fit(X[train], y[train]).score(X[test], y[test])
    assert chosen.score(X[test], y[test]) > middle + 0.03


@pytest.mark.parametrize("ignored", ["x0", "x0 and x1"])
def test_a_rule_may_name_a_feature_that_does_not_matter(ignored):
    X, y = data(n=60, m=30)
    clf = HIPADClassifier(f"x0 + x1 >= 1 => positive\n{ignored} does not matter")
    clf.fit(X, y)
    assert clf.certificate_.is_optimal()
    assert 0 not in clf.support_
    assert len(clf.path_) > 5


@pytest.mark.parametrize("seed", range(4))
def test_repeated_rows_and_weights_choose_the_same_also_where_patients_are_few(seed):
    rng = np.random.default_rng(seed)
    X, y = data(n=8, m=60, seed=seed, signal=1.0)
    twice = rng.integers(0, 8, 3)
    weights = np.ones(8) + np.bincount(twice, minlength=8)
    as_weights = HIPADClassifier(standardize=False).fit(X, y, sample_weight=weights)
    as_rows = HIPADClassifier(standardize=False).fit(np.vstack([X, X[twice]]), np.r_[y, y[twice]])
    assert as_weights.lambda1_ == as_rows.lambda1_
    np.testing.assert_allclose(as_weights.coef_, as_rows.coef_, atol=1e-9)
