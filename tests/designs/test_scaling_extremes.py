from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hipad import HIPADClassifier
from hipad.designs import column_moments


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_moments_of_values_near_the_largest_number_stay_in_range(form):
    X = np.array([[1.7e308, 1.7e308, 1.0], [-1.7e308, 1.6e308, 3.0]] * 3)
    mean, std = column_moments(form(X))
    np.testing.assert_allclose(mean, [0, 1.65e308, 2], atol=1e293)
    np.testing.assert_allclose(std, [1.7e308, 5e306, 1])


def test_a_perfect_feature_of_huge_values_is_used():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 5))
    X[:, 0] = np.where(y, 1e308, -1e308) * rng.uniform(0.5, 1, 40)
    model = HIPADClassifier(lambda1=0.05).fit(X, y)
    assert model.coef_[0, 0] > 0
    assert model.score(X, y) == 1
