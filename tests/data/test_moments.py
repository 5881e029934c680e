from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hipad.data.table import canonical_csc, column_blocks, column_statistics

VALUES = st.sampled_from([0.0, 0.0, 1.0, -2.5, 1e3, np.nan, np.inf])
SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 5))
FORMS = [np.array, sp.csr_array]


@given(arrays(np.float64, SHAPES, elements=VALUES), st.data())
def test_a_row_of_weight_two_counts_as_two_rows(X, data):
    times = data.draw(arrays(np.int64, X.shape[0], elements=st.integers(1, 3)))
    for form in FORMS:
        weighted = column_statistics(form(X), times.astype(np.float64))
        repeated = column_statistics(form(np.repeat(X, times, axis=0)))
        np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(weighted.sd, repeated.sd, rtol=1e-9, atol=1e-9)


@given(arrays(np.float64, SHAPES, elements=VALUES))
def test_dense_and_sparse_agree(X):
    dense, sparse = column_statistics(X), column_statistics(sp.csr_array(X))
    for name in ("mean", "sd", "low", "high", "missing"):
        one, other = getattr(dense, name), getattr(sparse, name)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=name)
    empty = ~np.isfinite(X).any(axis=0)
    for name in ("mean", "sd", "low", "high"):
        assert np.isnan(getattr(dense, name)).tolist() == empty.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_a_gap_takes_nothing_from_the_precision_of_a_mean(form):
    X = np.array([[1.0], [2.0], [6.0], [np.nan], [np.inf]])
    stats = column_statistics(form(X))
    assert (stats.mean[0], stats.missing[0]) == (3.0, 2)


@pytest.mark.parametrize("form", FORMS)
def test_the_data_are_not_changed(form):
    X = form(np.array([[1.0, np.nan], [3.0, 4.0]]))
    before = X.copy()
    column_statistics(X)
    same = (before != X).nnz <= 1 if sp.issparse(X) else np.array_equal(X, before, equal_nan=True)
    assert same


def test_blocks_cover_every_column_once():
    for shape in ((5, 0), (5, 1), (10**6, 600), (3, 10**6)):
        covered = [j for block in column_blocks(*shape) for j in range(block.start, block.stop)]
        assert covered == list(range(shape[1]))


def test_repeated_entries_are_added_up():
    X = sp.coo_array(([1, 2, 4], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    matrix = canonical_csc(X)
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix.toarray(), [[3, 0], [0, 4]])
