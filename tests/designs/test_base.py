"""Every kind of design against plain dense NumPy, whole and by rows."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from hipad.designs import DenseDesign, make_design, standardisation
from tests.designs.matrices import KINDS, assert_close, random_matrix, scaled


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(1, 30), m=st.integers(1, 40))
def test_operations_equal_numpy(kind, standardise, seed, n, m):
    X = random_matrix(seed, n, m)
    scaling, Z, size = scaled(X, standardise)
    design = make_design(KINDS[kind](X), **scaling)
    rng = np.random.default_rng(seed + 1)
    t, T, w = rng.standard_normal(n), rng.standard_normal((n, 3)), rng.standard_normal(m)
    idx = rng.integers(0, m, 5)

    assert design.shape == (n, m)
    assert_close(design.gram(), Z @ Z.T)
    assert_close(design.correlate(t), Z.T @ t, size)
    assert_close(design.correlate(T), Z.T @ T, size[:, None])
    assert_close(design.dot(w), Z @ w, size.sum())
    assert_close(design.columns(idx), Z[:, idx])
    assert_close(design.column_norms(), np.linalg.norm(Z, axis=0))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), cached=st.booleans())
def test_rows_equal_numpy(kind, seed, cached):
    X = random_matrix(seed, 12, 9)
    scaling, Z, size = scaled(X, True)
    design = make_design(KINDS[kind](X), **scaling)
    if cached:
        design.gram()
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 12, rng.integers(1, 12))
    part, Z = design.rows(rows), Z[rows]
    t = rng.standard_normal(rows.size)

    assert part.shape == Z.shape
    assert_close(part.gram(), Z @ Z.T)
    assert_close(part.correlate(t), Z.T @ t, size)
    assert_close(part.dot(np.ones(9)), Z.sum(axis=1), size.sum())
    assert_close(part.columns([8, 0]), Z[:, [8, 0]], size[[8, 0]])
    assert_close(part.column_norms(), np.linalg.norm(Z, axis=0), size)
    assert_close(part.rows(slice(0, 1)).gram(), Z[:1] @ Z[:1].T)


def test_rows_use_the_gram_matrix_of_the_whole(monkeypatch):
    design = make_design(random_matrix(0, 10, 20))
    design.gram()
    monkeypatch.setattr(DenseDesign, "columns", None)  # any recomputation would need columns
    mask = np.arange(10) % 2 == 0
    np.testing.assert_array_equal(design.rows(mask).gram(), design.gram()[mask][:, mask])


@pytest.mark.parametrize("kind", ["dense", "csc"])
def test_gram_is_exact_when_the_mean_is_far_above_the_deviation(kind):
    noise = np.random.default_rng(1).integers(-8, 9, (40, 300)) / 8
    X = noise + 2.0**20
    mean, scale = standardisation(X)
    Z = (noise - noise.mean(axis=0)) / scale
    design = make_design(KINDS[kind](X), mean=mean, scale=scale)
    np.testing.assert_allclose(design.gram(), Z @ Z.T, atol=1e-7)
    np.testing.assert_allclose(design.correlate(noise[:, 0]), Z.T @ noise[:, 0], atol=1e-7)


def test_constant_columns_become_exact_zeros():
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0), np.zeros(7)])
    for matrix in (X, sp.csr_array(X), X.astype(np.float32)):
        mean, scale = standardisation(matrix)
        design = make_design(matrix, mean=mean, scale=scale)
        assert design.column_norms()[0] == design.column_norms()[2] == 0.0
        assert not design.columns([0, 2]).any()


@pytest.mark.parametrize("width", [1, 7, 1000])
@pytest.mark.parametrize("kind", ["dense", "float32", "csc", "csc float32"])
def test_blocks_of_any_width_give_the_same(monkeypatch, kind, width):
    monkeypatch.setattr("hipad.data.table.MIN_BLOCK_COLUMNS", width)
    monkeypatch.setattr("hipad.data.table.BLOCK_ENTRIES", 1)
    monkeypatch.setattr("hipad.designs.BLOCK_NONZEROS", width)
    X = random_matrix(5, 3, 60)
    scaling, Z, size = scaled(X, True)
    design = make_design(KINDS[kind](X), **scaling)
    assert_close(design.gram(), Z @ Z.T)
    assert_close(design.correlate(np.ones(3)), Z.sum(axis=0), size)
    assert_close(design.dot(np.ones(60)), Z.sum(axis=1), size.sum())


def test_columns_take_masks_slices_and_nothing():
    X = random_matrix(3, 6, 8)
    for design in (make_design(X), make_design(sp.csr_array(X))):
        np.testing.assert_array_equal(design.columns(X[0] > 0), X[:, X[0] > 0])
        np.testing.assert_array_equal(design.columns(slice(2, 5)), X[:, 2:5])
        assert design.columns(np.array([], dtype=int)).shape == (6, 0)
        assert design.columns([1, 2]).flags.f_contiguous


def test_designs_cannot_be_changed_and_do_not_change_their_data():
    X = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))  # a repeated entry
    design = make_design(X.tocsc(copy=True), mean=[1.0, 2.0])
    for array in (design.gram(), design.column_norms(), design.mean):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    design.columns([0, 1])[:] = 7.0
    np.testing.assert_array_equal(design.columns([0, 1]), [[-1.0, 1.0], [3.0, -2.0]])
    assert design.gram() is design.gram()
    assert (design.cost, make_design(np.ones((3, 4))).cost) == (2, 12)
