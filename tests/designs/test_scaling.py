"""Column moments against NumPy in extended precision."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from hipad.data.table import column_statistics
from hipad.designs import column_moments, damped_scale, standardisation


def standardisation_scale(X):
    return standardisation(X)[1]


def damping_scale(X):
    return damped_scale(column_statistics(X))


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
    assert standardisation(KINDS[kind](X))[1].tolist() == [max(1.0, 1e-6 * abs(mean[0])), 1.0]


def test_a_column_that_varies_by_its_last_digits_counts_as_constant():
    X = np.c_[np.where(np.arange(8) % 2, 0.3, 0.1 + 0.2), 1e8 + 1e-8 * np.arange(8), np.arange(8.0)]
    assert X[:, 0].std() > 0
    scale = standardisation(X)[1]
    assert scale[:2] == pytest.approx([1.0, 100.0])
    assert scale[2] == X[:, 2].std()


def test_stored_zeros_count_as_zeros():
    X = sp.csc_array((np.array([0.0, 0.0, 2.0]), np.array([0, 1, 1]), np.array([0, 2, 3])))
    mean, std = column_moments(X)
    assert mean.tolist() == [0.0, 1.0]
    assert std.tolist() == [0.0, 1.0]


def test_extreme_scales_neither_overflow_nor_vanish():
    X = np.array([[1e-200, 1e200], [3e-200, 3e200]])
    for matrix in (X, sp.csr_array(X)):
        np.testing.assert_allclose(column_moments(matrix)[1], [1e-200, 1e200], rtol=1e-14)


@pytest.mark.parametrize("make", [standardisation_scale, damping_scale])
def test_the_unit_of_a_column_does_not_matter(make):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 40)) < 0.5, rng.standard_normal((30, 40)) + 3.0, 0.0)
    units = 10.0 ** rng.integers(-6, 7, 40)
    for form in (np.asarray, sp.csc_array):
        np.testing.assert_allclose(make(form(X * units)) / units, make(form(X)))


def test_damped_scales_follow_the_size_of_values_other_than_zero():
    rng = np.random.default_rng(0)
    X = (
        rng.standard_normal((30, 50)) * np.r_[1.0, 0.0, np.ones(48)]
        + np.r_[50.0, 7.0, np.zeros(48)]
    )
    X[rng.random((30, 50)) < 0.4] = 0.0
    X[:, 1] = 7.0
    deviation, varies = X.std(axis=0), np.arange(50) != 1
    size = np.array([np.sqrt(np.mean(x[x != 0] ** 2)) for x in X.T])
    usual = np.median((deviation / size)[varies])
    for form in (np.asarray, sp.csc_array):
        found = damping_scale(form(X))
        np.testing.assert_allclose(found[varies], np.hypot(deviation, usual * size)[varies])
        assert found[1] == 1.0, "a constant column"


def test_damped_scales_take_weights_as_repeated_rows():
    rng = np.random.default_rng(1)
    X, times = np.maximum(rng.standard_normal((12, 9)), 0.0), rng.integers(1, 4, 12)
    for form in (np.asarray, sp.csc_array):
        np.testing.assert_allclose(
            damped_scale(column_statistics(form(X), times.astype(float))),
            damped_scale(column_statistics(form(np.repeat(X, times, axis=0)))),
        )
