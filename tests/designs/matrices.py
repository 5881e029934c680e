"""Matrices that the tests of designs share, and what a design of them should give."""

import numpy as np
import scipy.sparse as sp

from hipad.designs import standardisation

KINDS = {
    "dense": lambda X: X,
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csc": sp.csc_array,
    "csr": sp.csr_matrix,
    "coo": sp.coo_array,
    "csc float32": lambda X: sp.csc_array(X.astype(np.float32)),
}


def random_matrix(seed, n, m):
    """Columns of very different fullness, among them empty and constant ones, exact in float32."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < rng.random(m) ** 2)
    X[:, rng.random(m) < 0.1] = 0.0
    X[:, rng.random(m) < 0.1] = 3.5
    X *= 2.0 ** rng.integers(-20, 20, m)
    return X.astype(np.float32).astype(np.float64)


def scaled(X, standardise):
    """The scaling, the Z that a design should stand for, and the size of each column for rounding.

    Subtracting the mean cannot be more exact than X itself is, hence |X| / scale.
    """
    if not standardise:
        return {}, X, np.abs(X).sum(axis=0)
    mean, scale = standardisation(X)
    return {"mean": mean, "scale": scale}, (X - mean) / scale, np.abs(X / scale).sum(axis=0)


def assert_close(got, expected, size=None):
    assert got.dtype == np.float64
    assert got.shape == expected.shape
    size = np.abs(expected).max() if size is None else size
    assert np.all(np.abs(got - expected) <= 1e-13 * size + 1e-12 * np.abs(expected))
