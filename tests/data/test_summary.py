from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hipad.data import column_statistics, duplicates, summarise
from hipad.data import table as moments
from hipad.data import table as summary

VALUES = st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.5, 1e3, np.nan])
MATRICES = arrays(np.float64, st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=VALUES)


@given(MATRICES)
def test_statistics_agree_with_numpy_dense_and_sparse(X):
    for stats in (column_statistics(X), column_statistics(sp.csr_array(X))):
        for j, values in enumerate(X.T):
            there = values[~np.isnan(values)]
            assert stats.missing[j] == np.isnan(values).sum()
            assert stats.constant[j] == (np.unique(there).size < 2)
            if there.size:
                assert stats.mean[j] == pytest.approx(there.mean())
                assert stats.sd[j] == pytest.approx(there.std(), abs=1e-9)
                assert (stats.low[j], stats.high[j]) == (there.min(), there.max())


@given(MATRICES)
def test_medians_agree_with_numpy_dense_and_sparse(X):
    expected = [np.median(v[~np.isnan(v)]) if (~np.isnan(v)).any() else 0.0 for v in X.T]
    np.testing.assert_allclose(summary.medians(X), expected)
    np.testing.assert_allclose(summary.medians(sp.csr_array(X)), expected)


def test_blocks_give_the_same_as_one_piece(monkeypatch):
    X = np.random.default_rng(0).standard_normal((6, 23))
    whole = summarise(X, [f"x{j}" for j in range(23)])
    monkeypatch.setattr(moments, "BLOCK_ENTRIES", 12)
    monkeypatch.setattr(moments, "MIN_BLOCK_COLUMNS", 1)
    assert whole.equals(summarise(X, [f"x{j}" for j in range(23)]))
    assert list(whole.columns) == ["feature", "mean", "sd", "missing", "min", "max"]


@given(MATRICES)
def test_duplicates_are_exactly_the_columns_equal_to_an_earlier_one(X):
    X = np.nan_to_num(X)
    expected = [j for j in range(X.shape[1]) if any((X[:, j] == X[:, i]).all() for i in range(j))]
    assert duplicates(X).tolist() == expected
    assert duplicates(sp.csr_array(X)).tolist() == expected


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_values_near_the_largest_number_have_statistics(form):
    X = np.array([[1e308, 1.7e308], [-1e308, 1.5e308], [1e308, 1.7e308], [-1e308, 1.5e308]])
    stats = column_statistics(form(X))
    np.testing.assert_allclose(stats.mean, [0, 1.6e308], atol=1e293)
    np.testing.assert_allclose(stats.sd, [1e308, 1e307])
    assert not stats.constant.any()
    np.testing.assert_allclose(summary.medians(form(X)), [0, 1.6e308], atol=1e293)


def test_minus_zero_is_zero():
    assert duplicates(np.array([[0.0, -0.0], [1.0, 1.0]])).tolist() == [1]
