from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.designs.scaling import standardisation
from hipad.evaluation.patients import Patients

X = np.random.default_rng(0).uniform(0, 5, (12, 4))
Y = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
P = np.random.default_rng(1).dirichlet(np.ones(12))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("scaled", [True, False])
def test_the_pull_of_the_patients_is_that_of_the_scaled_columns(make, scaled):
    mean, scale = standardisation(X) if scaled else (None, None)
    seen = Patients((make(X), Y), None, X.min(0), X.max(0), mean, scale, P)
    Z = (X - mean) / scale if scaled else X
    columns = np.array([1, 3])
    assert seen.pull(columns) == pytest.approx(Z[:, columns].T @ (P * Y))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_columns_are_cut_out_of_both_parts(make):
    test = (make(X[:5]), Y[:5])
    seen = Patients((make(X), Y), test, X.min(0), X.max(0), None, None, P)
    (train, y), cut = seen.on(np.array([0, 2]))
    assert cut is not None
    for part, expected in ((train, X[:, [0, 2]]), (cut[0], X[:5, [0, 2]])):
        dense = part.toarray() if sparse.issparse(part) else part
        assert np.array_equal(dense, expected)
    assert y is Y
    assert seen.on(np.array([1]))[1] is not None
