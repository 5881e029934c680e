"""Column moments against NumPy in extended precision."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from hipad.designs import column_moments, standardisation
from hipad.designs.scaling import WIDE

KINDS = {"dense": lambda X: X, "csc": sp.csc_array, "csr": sp.csr_array}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 20),
    offset=st.sampled_from([0.0, 1.0, 1e6]),
    power=st.integers(-12, 12),
)
def test_moments_equal_extended_precision(kind, dtype, seed, n, offset, power):
    rng = np.random.default_rng(seed)
    X = (offset + rng.standard_normal((n, 6))) * (rng.random((n, 6)) < rng.random(6))
    X = (X * 10.0**power).astype(dtype)
    mean, std = column_moments(KINDS[kind](X))
    exact = X.astype(np.longdouble)
    size = np.abs(exact).max() + 1e-300
    np.testing.assert_allclose(mean, exact.mean(axis=0), rtol=1e-12, atol=1e-15 * size)
    np.testing.assert_allclose(std, exact.std(axis=0), rtol=1e-9, atol=1e-15 * size)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, deadline=None)
@given(value=st.floats(-(2.0**100), 2.0**100, width=32), n=st.integers(1, 50))
def test_a_constant_column_has_deviation_zero(kind, dtype, value, n):
    X = np.full((n, 2), value, dtype=dtype)
    X[:, 1] = 0.0
    mean, std = column_moments(KINDS[kind](X))
    assert std.tolist() == [0.0, 0.0]
    assert mean.tolist() == [float(X[0, 0]), 0.0]
    assert standardisation(KINDS[kind](X))[1].tolist() == [1.0, 1.0]


def test_stored_zeros_count_as_zeros():
    X = sp.csc_array((np.array([0.0, 0.0, 2.0]), np.array([0, 1, 1]), np.array([0, 2, 3])))
    mean, std = column_moments(X)
    assert mean.tolist() == [0.0, 1.0]
    assert std.tolist() == [0.0, 1.0]


def test_extreme_scales_neither_overflow_nor_vanish():
    X = np.array([[1e-200, 1e200], [3e-200, 3e200]])
    for matrix in (X, sp.csr_array(X)):
        np.testing.assert_allclose(column_moments(matrix)[1], [1e-200, 1e200], rtol=1e-14)


def test_in_wide_tables_a_column_that_hardly_varies_counts_less():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, WIDE)) * np.r_[1e-3, 10.0, np.ones(WIDE - 2)]
    X[:, 2] = 7.0
    deviation = X.std(axis=0)
    usual = np.median(np.delete(deviation, 2))
    for whole in (X, sp.csc_array(X)):
        mean, scale = standardisation(whole)
        np.testing.assert_allclose(mean, X.mean(axis=0))
        np.testing.assert_allclose(scale[[0, 1]], np.hypot(deviation[[0, 1]], usual))
        assert scale[2] == 1.0, "a constant column"
    order = rng.permutation(WIDE)
    np.testing.assert_allclose(standardisation(X[:, order])[1], standardisation(X)[1][order])


def test_in_narrow_tables_the_unit_of_a_column_does_not_matter():
    X = np.random.default_rng(0).standard_normal((30, WIDE - 1))
    units = np.random.default_rng(1).uniform(1e-3, 1e3, WIDE - 1)
    scaled, other = (whole / standardisation(whole)[1] for whole in (X, X * units))
    np.testing.assert_allclose(scaled, other)
