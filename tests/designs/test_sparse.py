"""Designs of sparse matrices: two ways to the Gram matrix, and the data left as they are."""

import numpy as np
import pytest
import scipy.sparse as sp

from hipad.designs import DENSE_SHARE, SparseDesign, make_design, standardisation
from tests.designs.matrices import assert_close, random_matrix


def test_repeated_entries_of_the_callers_matrix_are_left_as_they_are():
    X = sp.csc_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 3])), shape=(2, 1))
    design = make_design(X)
    assert isinstance(design, SparseDesign)
    np.testing.assert_array_equal(design.columns([0]), [[1.0], [2.0]])
    assert X.nnz == 3


def test_full_and_empty_columns_are_divided_between_two_ways_with_one_result():
    rng = np.random.default_rng(0)
    share = np.r_[np.full(6, DENSE_SHARE / 2), np.full(6, 1.0)]
    X = rng.standard_normal((40, 12)) * (rng.random((40, 12)) < share)
    for some in (slice(None), slice(6), slice(6, None)):
        part = X[:, some]
        mean, scale = standardisation(part)
        Z = (part - mean) / scale
        gram = SparseDesign(sp.csr_array(part), mean, scale).gram()
        np.testing.assert_allclose(gram, Z @ Z.T, atol=1e-12)
        np.testing.assert_allclose(SparseDesign(sp.csr_array(part)).gram(), part @ part.T)


def test_scaling_without_centring_and_centring_without_scaling():
    X = random_matrix(4, 9, 20)
    mean, scale = standardisation(X)
    for given_scaling, Z in (({"scale": scale}, X / scale), ({"mean": mean}, X - mean)):
        design = SparseDesign(sp.csc_array(X), **given_scaling)
        assert_close(design.gram(), Z @ Z.T)
        assert_close(design.column_norms(), np.linalg.norm(Z, axis=0))


@pytest.mark.parametrize("entries", [1, 7, 10**6])
def test_blocks_cover_each_column_once(monkeypatch, entries):
    monkeypatch.setattr("hipad.designs.BLOCK_NONZEROS", entries)
    design = SparseDesign(sp.csc_array(random_matrix(6, 2, 30)))
    idx = np.array([3, 4, 9, 20, 29])
    covered = [j for block in design._sparse_blocks(idx) for j in idx[block]]
    assert covered == idx.tolist()
