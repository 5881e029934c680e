import numpy as np
import pytest
from sklearn.svm import SVC

from benchmarks.rivals.libsvm import Libsvm


def test_it_is_scikit_learns_svc(parted):
    X, y = parted
    own, theirs = Libsvm(C=0.5).fit(X, y), SVC(kernel="linear", C=0.5).fit(X, y)
    np.testing.assert_allclose(own.scores(X), theirs.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize("C", [1.0, None])
def test_a_scaled_fit_does_not_know_the_units(parted, C):
    X, y = parted
    units = np.array([1, 1e3, 1e-3, 1, 50])
    one, other = Libsvm(C=C, scale=True).fit(X, y), Libsvm(C=C, scale=True).fit(X * units, y)
    np.testing.assert_allclose(one.scores(X), other.scores(X * units), atol=1e-2)
