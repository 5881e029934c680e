from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.designs import make_design
from hipad.estimator.problem_factory import content_folds, repeated_folds, usable_folds


def data(n=40, m=8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.standard_normal((n, m)) + np.outer(y, np.r_[1.5, np.zeros(m - 1)]), y


def folds_of(X, y, count=5):
    return content_folds(make_design(X), y, np.full(len(y), 1 / len(y)), count)


@given(seed=st.integers(0, 1000), n=st.integers(4, 40))
def test_folds_follow_the_content_and_not_the_order(seed, n):
    X, y = data(n=n, seed=seed)
    folds = folds_of(X, y)
    rng = np.random.default_rng(seed)
    order, columns = rng.permutation(n), rng.permutation(X.shape[1])
    assert np.array_equal(folds_of(X[order], y[order]), folds[order])
    assert np.array_equal(folds_of(X[:, columns], y), folds)
    assert np.array_equal(folds_of(np.r_[X, X], np.r_[y, y]), np.r_[folds, folds])


@pytest.mark.parametrize("count", [2, 5, 7])
def test_folds_share_out_each_class(count):
    X, y = data(n=53)
    folds = folds_of(X, y, count)
    for sign in (-1.0, 1.0):
        assert np.ptp(np.bincount(folds[y == sign], minlength=count)) <= 1


@pytest.mark.parametrize(("n", "usable"), [(2, 0), (4, 2), (6, 3), (10, 5)])
def test_few_patients_leave_few_folds(n, usable):
    X, y = data(n=n)
    parts = usable_folds(folds_of(X, y), y)
    assert len(parts) == usable
    for part in parts:
        assert set(y[part]) == {-1.0, 1.0}
        assert set(np.delete(y, part)) == {-1.0, 1.0}


def test_repeats_divide_the_patients_in_other_ways():
    X, y = data()
    design, p = make_design(X), np.full(40, 1 / 40)
    first, second = repeated_folds(design, y, p, 5, 2, 0)
    assert not all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    again, other = (repeated_folds(design, y, p, 5, 1, seed)[0] for seed in (0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert repeated_folds(make_design(X[:2]), y[:2], p[:2], 5, 2, 0) == []
