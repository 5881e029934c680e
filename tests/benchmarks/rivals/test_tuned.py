from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from benchmarks.rivals.tuned import TUNED, Tuned, filtered, scaled, svc


def data(n=60, m=12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1, -1)
    return rng.standard_normal((n, m)) + 2.0 * np.outer(y, np.arange(m) < 2), y


def test_svc_on_the_gram_matrix_is_svc():
    X, y = data()
    ours = svc(0.1)(X, y)
    theirs = SVC(kernel="linear", C=0.1, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(ours.scores(X), theirs.decision_function(X), atol=2e-3)
    sparse = svc(0.1)(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.w, ours.w, atol=2e-3)


def test_scaling_is_undone_in_the_model():
    X, y = data()
    large = X * np.logspace(0, 4, 12) + 7.0
    np.testing.assert_allclose(
        scaled(svc(0.1))(large, y).scores(large), scaled(svc(0.1))(X, y).scores(X), atol=1e-2
    )


def test_a_filter_keeps_the_columns_that_differ():
    X, y = data()
    assert set(np.flatnonzero(filtered(2, 1.0)(X, y).w)) == {0, 1}


def test_the_better_candidate_is_taken():
    X, y = data()

    def useless(X, y):
        model = svc(1.0)(X, y)
        return type(model)(0.0 * model.w, 1.0, model.classes)

    model = Tuned("both", (useless, svc(1.0))).fit(X, y)
    assert model.accuracy(X, y) > 0.9


@pytest.mark.parametrize("rival", TUNED, ids=lambda rival: rival.name)
def test_every_rival_learns(rival):
    X, y = data(n=40, m=6)
    assert Tuned(rival.name, rival.candidates[-2:]).fit(X, y).accuracy(X, y) > 0.8
