from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad import HIPADClassifier
from hipad.designs import make_design
from hipad.estimator.path import (
    N_FOLDS,
    N_STEPS,
    SAY,
    Fit,
    Fold,
    Judge,
    PathPoint,
    Say,
    choose,
    content_folds,
    follow_path,
    lambda_grid,
    most_kept,
    usable_folds,
)
from hipad.solver import Problem, lambda1_max


def data(n=40, m=8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.standard_normal((n, m)) + np.outer(y, np.r_[1.5, np.zeros(m - 1)]), y


def point(lambda1, *losses):
    return PathPoint(lambda1, losses, 3.0)


def test_the_grid_falls_from_just_below_the_largest():
    grid = lambda_grid(2.0)
    assert grid.size == N_STEPS
    assert 0.85 * 2.0 < grid[0] < 2.0
    assert (np.diff(grid) < 0).all()


def folds_of(X, y):
    return content_folds(make_design(X), y, np.full(len(y), 1 / len(y)))


@given(seed=st.integers(0, 1000), n=st.integers(4, 40))
def test_folds_follow_the_content_and_not_the_order(seed, n):
    X, y = data(n=n, seed=seed)
    folds = folds_of(X, y)
    rng = np.random.default_rng(seed)
    order, columns = rng.permutation(n), rng.permutation(X.shape[1])
    assert np.array_equal(folds_of(X[order], y[order]), folds[order])
    assert np.array_equal(folds_of(X[:, columns], y), folds)
    assert np.array_equal(folds_of(np.r_[X, X], np.r_[y, y]), np.r_[folds, folds])


def test_folds_share_out_each_class():
    X, y = data(n=53)
    folds = folds_of(X, y)
    for sign in (-1.0, 1.0):
        sizes = np.bincount(folds[y == sign], minlength=N_FOLDS)
        assert np.ptp(sizes) <= 1


@pytest.mark.parametrize(("n", "usable"), [(2, 0), (4, 2), (6, 3), (10, 5)])
def test_few_patients_leave_few_folds(n, usable):
    X, y = data(n=n)
    parts = usable_folds(folds_of(X, y), y)
    assert len(parts) == usable
    for part in parts:
        assert set(y[part]) == {-1.0, 1.0}
        assert set(np.delete(y, part)) == {-1.0, 1.0}


def test_the_judge_asks_the_held_out_patients_only():
    X = np.array([[1.0], [-1.0], [0.5], [-3.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    judge = Judge(make_design(X), y, np.ones(4))
    model = Fit(np.array([0]), np.array([1.0]), 0.0)
    fold = Fold(np.array([0, 1]), np.array([2, 3]))
    assert judge.loss(model, fold) == pytest.approx(0.5 * (0.5 + 0.0))


def test_the_judge_counts_both_classes_alike():
    X = np.array([[1.0], [-1.0], [-1.0], [1.0], [1.0], [1.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0, -1.0, -1.0])
    judge = Judge(make_design(X), y, np.ones(6))
    model = Fit(np.array([0]), np.array([1.0]), 0.0)
    assert judge.loss(model, Fold(np.array([0, 1]), np.array([2, 3, 4, 5]))) == pytest.approx(2.0)


def test_losses_that_speak_clearly_choose_their_best_value():
    clear = [point(1.0, 0.9, 0.9, 0.9), point(0.5, 0.5, 0.5, 0.5), point(0.1, 0.1, 0.1, 0.1)]
    assert choose(clear) == pytest.approx(0.1)


def test_losses_that_say_nothing_choose_the_middle():
    assert choose([point(v, 0.4, 0.6) for v in (1.0, 0.1, 0.01)]) == pytest.approx(0.1)


@given(losses=st.lists(st.tuples(*[st.floats(0.0, 2.0)] * 3), min_size=1, max_size=8))
def test_the_choice_lies_on_the_path_and_only_differences_count(losses):
    path = [point(0.5**k, *own) for k, own in enumerate(losses)]
    assert path[-1].lambda1 * (1 - 1e-2) <= choose(path) <= 1 + 1e-9
    moved = [PathPoint(p.lambda1, tuple(x + 1.0 for x in p.losses), 3.0) for p in path]
    assert choose(moved) == pytest.approx(choose(path), rel=1e-2), "to its three digits"


def path_of(X, y, polish=True, lambda2=1.0):
    design, n = make_design(X), len(y)
    judge = Judge(design, y, np.ones(n))

    def problem(lambda1, rows):
        p = np.full(len(rows), 1 / len(rows))
        return Problem(design.rows(rows), y[rows], p, lambda1, lambda2)

    grid = lambda_grid(lambda1_max(problem(0.0, np.arange(n))))
    held_out = usable_folds(folds_of(X, y), y)
    return list(follow_path(problem, grid, held_out, judge, polish))


def test_the_path_finds_that_some_sparsity_is_best():
    X, y = data(n=40, m=200)
    path = path_of(X, y)
    best = min(path, key=lambda p: p.loss)
    assert best.lambda1 > path[-1].lambda1
    assert best.loss < path[0].loss or best is path[0]
    assert all(len(p.losses) == N_FOLDS for p in path)


def test_the_path_is_left_when_it_cannot_help():
    X, y = data(n=60, m=1000, seed=1)
    assert len(path_of(X, y)) < N_STEPS


def test_the_path_is_left_before_models_are_no_longer_sparse(monkeypatch):
    X, y = data(n=24, m=1500)
    X += 0.5 * y[:, None]
    path = path_of(X, y, lambda2=50.0)
    assert max(p.support_size for p in path) <= 150
    monkeypatch.setattr("hipad.estimator.path.MOST_KEPT", 1.0)
    whole = path_of(X, y, lambda2=50.0)
    assert len(whole) > len(path)
    assert whole[len(path)].support_size > 100


def test_a_tenth_of_many_features_is_still_few():
    assert [most_kept(m) for m in (20, 12_000, 50_000)] == [100, 1_200, 5_000]


def test_the_path_begins_where_the_first_feature_enters_by_data_or_rules():
    np.testing.assert_allclose(lambda_grid(2.0)[[0, -1]], [1.8, 0.2])
    np.testing.assert_allclose(lambda_grid(2.0, 1.0), lambda_grid(2.0))
    np.testing.assert_allclose(lambda_grid(2.0, 8.0)[[0, -1]], [7.2, 0.2])


def test_a_rule_has_a_say_by_its_worth():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    fold = Fold(np.array([0, 1]), np.array([2, 3]))
    model = Fit(np.array([0]), np.array([1.0]), 0.0)

    def loss(sign, sigma):
        rule = Say(np.array([0, 1]), np.array([3.0, 1.0]), sign, sigma)
        return Judge(make_design(X), y, np.ones(4), (rule,)).loss(model, fold)

    assert loss(1.0, 0.5) == 0.0, "the patients and the rule agree with the model"
    weight = SAY * 0.5
    assert loss(-1.0, 0.5) == pytest.approx(weight * 4.0 / (1 + weight)), "the rule is contradicted"
    assert loss(-1.0, 1e-9) == pytest.approx(0.0, abs=1e-8)


def test_supports_grow_along_the_path():
    X, y = data(n=60, m=30)
    sizes = [p.support_size for p in path_of(X, y, polish=False)]
    assert sizes[-1] > sizes[0]


def test_auto_keeps_the_feature_that_matters_and_few_others():
    X, y = data(n=80, m=100, seed=3)
    clf = HIPADClassifier().fit(X, y)
    assert 0 in clf.support_
    assert clf.support_.size <= 25
    X_test, y_test = data(n=400, m=100, seed=4)
    assert clf.score(X_test, y_test) > 0.88
    assert clf.lambda1_ == pytest.approx(choose(list(clf.path_)))
    assert [r.phase for r in clf.history_].count(0) == len(clf.path_)


def test_auto_with_too_few_patients_for_folds_still_gives_a_model():
    X, y = data(n=3)
    clf = HIPADClassifier().fit(X, y)
    assert clf.path_ == ()
    assert clf.lambda1_ > 0
    assert clf.support_.size > 0


def test_values_that_keep_nothing_say_nothing():
    X, y = data(n=40, m=20)
    y[:28] = -1.0  # far from balanced, so that lambda1_max is far above the first feature
    clf = HIPADClassifier(class_weight=None).fit(X, y)
    assert clf.path_[0].support_size > 0
