"""Which scaling serves a table: closed forms against refits, units, order and weights."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from hipad import HIPADClassifier
from hipad.designs import standardisation
from hipad.estimator.problem_factory import RIDGES, leave_one_out_errors, standardised_design


def ridge_prediction(K, y, p, t, out):
    """The decision value of row `out` by a ridge regression on all others."""
    rest = np.delete(np.arange(len(y)), out)
    n = rest.size
    A = np.block(
        [
            [K[np.ix_(rest, rest)] + t * np.diag(1 / p[rest]), np.ones((n, 1))],
            [np.ones((1, n)), np.zeros((1, 1))],
        ]
    )
    a = np.linalg.solve(A, np.r_[y[rest], 0.0])
    return K[out, rest] @ a[:n] + a[n]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(5, 15), m=st.integers(1, 30))
def test_errors_equal_those_of_refits_without_the_row(seed, n, m):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, m)), np.where(np.arange(n) % 2, 1.0, -1.0)
    K, p = X @ X.T, rng.uniform(0.5, 2.0, n)
    p /= p.sum()
    found = leave_one_out_errors(K, y, p, np.ones(n))
    by_ridge = [
        [y[j] - ridge_prediction(K, y, p, t, j) for j in range(n)]
        for t in RIDGES * (p @ np.diag(K))
    ]
    best = min(by_ridge, key=lambda errors: p @ np.square(errors))
    np.testing.assert_allclose(found, best, rtol=1e-6, atol=1e-8)


def test_a_row_of_weight_two_is_two_rows_of_which_one_is_left_out():
    rng = np.random.default_rng(3)
    X, times = rng.standard_normal((8, 4)), np.array([1, 2, 1, 3, 1, 1, 2, 1])
    y = np.where(np.arange(8) < 4, 1.0, -1.0)
    every = np.repeat(np.arange(8), times)
    K = X @ X.T
    p = times / times.sum()
    weighted = leave_one_out_errors(K, y, p, times.astype(float))
    p = np.full(every.size, 1 / every.size)
    repeated = leave_one_out_errors(K[np.ix_(every, every)], y[every], p, np.ones(every.size))
    np.testing.assert_allclose(repeated, weighted[every])


def words(seed, n=120, m=600):
    """Texts: frequent words tell, rare ones are noise."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    share = np.minimum(0.5, 4 / (np.arange(m) + 8))
    log_odds = np.log(share / (1 - share)) + np.outer(
        y, 0.5 * rng.standard_normal(m) * (share > 0.05)
    )
    return (rng.random((n, m)) < 1 / (1 + np.exp(-log_odds))).astype(float), y


def clinic(seed, n=120):
    """Measurements of unlike sizes, each as telling as the others."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, 12)) + 0.4 * y[:, None]
    return X * np.geomspace(0.1, 30.0, 12) + 140.0, y


@pytest.mark.parametrize("seed", range(3))
def test_words_are_damped_and_clinical_measurements_are_not(seed):
    for make, damped in ((words, True), (clinic, False)):
        X, y = make(seed)
        design = standardised_design(X, y, np.ones(len(y)))
        same = np.allclose(design.scale, standardisation(X)[1])
        assert same is not damped, make.__name__


@pytest.mark.parametrize("make", [words, clinic])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_predictions_do_not_hang_on_the_units_of_columns(make, form):
    X, y = make(1)
    units = 10.0 ** np.random.default_rng(0).integers(-6, 7, X.shape[1])
    first = HIPADClassifier().fit(form(X), y)
    second = HIPADClassifier().fit(form(X * units), y)
    np.testing.assert_allclose(
        first.decision_function(form(X)), second.decision_function(form(X * units)), atol=1e-6
    )


@pytest.mark.parametrize("columns", [100, 1000, 3000])
def test_a_marker_beside_columns_of_large_numbers_is_found(columns):
    rng = np.random.default_rng(columns)
    y = np.where(rng.random(600) < 0.5, 1, -1)
    X = 200.0 * rng.standard_normal((600, columns))
    X[:, 0] = np.where(rng.random(600) < 0.95, y > 0, y < 0)
    clf = HIPADClassifier().fit(X[:100], y[:100])
    assert clf.score(X[100:], y[100:]) > 0.9


def test_few_rows_and_constant_columns_keep_deviation_one():
    X = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 5.0], [3.0, 4.0, 5.0], [0.0, 9.0, 5.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    design = standardised_design(X, y, np.ones(4))
    np.testing.assert_allclose(design.scale, standardisation(X)[1])


def test_many_rows_are_represented_by_some_of_both_classes():
    X, y = words(0, n=900, m=200)
    weights = np.ones(900)
    whole = standardised_design(sp.csr_array(X), y, weights)
    order = np.random.default_rng(0).permutation(900)
    other = standardised_design(X[order], y[order], weights)
    np.testing.assert_allclose(whole.scale, other.scale)
