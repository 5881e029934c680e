from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad import HIPADClassifier
from hipad.estimator.problem_factory import largest_lambda1

RNG = np.random.default_rng(0)
Y = np.where(np.arange(30) % 3 == 0, 1.0, -1.0)
X = RNG.normal(size=(30, 6)) + Y[:, None] * np.arange(6) / 5


def kept(lambda1: float, **options) -> int:
    clf = HIPADClassifier(lambda1=lambda1, lambda2=1.0, method="exact", **options)
    return clf.fit(X, Y).support_.size


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("class_weight", ["balanced", None])
def test_from_it_on_no_feature_is_kept(standardize, class_weight):
    options = {"standardize": standardize, "class_weight": class_weight}
    assert kept(1.001 * largest_lambda1(X, Y, lambda2=1.0, **options), **options) == 0


@pytest.mark.parametrize("standardize", [True, False])
def test_just_below_it_a_feature_comes_in(standardize):
    assert kept(0.97 * largest_lambda1(X, Y, standardize=standardize), standardize=standardize) > 0


def test_sparse_columns_give_the_same():
    assert largest_lambda1(sparse.csr_array(X), Y) == pytest.approx(largest_lambda1(X, Y))
