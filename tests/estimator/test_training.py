import numpy as np
import pytest
import scipy.sparse as sp

from hipad.estimator.training import TrainingData, row_sums, shares


def made(X, weights=None, standardize=True):
    y = np.where(np.arange(X.shape[0]) % 2 == 0, 1.0, -1.0)
    weights = np.ones(X.shape[0]) if weights is None else weights
    return TrainingData.of(X, y, weights, weights / weights.sum(), standardize, source=X)


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((8, 3)) * [1, 10, 0.1] + [0, 5, 2]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_weights_go_back_to_the_users_units(X, kind):
    data = made(kind(X))
    w, b, features = np.array([0.3, -2.0]), 0.7, np.array([2, 0])
    user_w, user_b = data.to_user_units(features, w, b)
    np.testing.assert_allclose(
        X[:, features] @ user_w + user_b, data.design.columns(features) @ w + b
    )


def test_a_refit_knows_the_same_data_again(X):
    data = made(X)
    same = (X, X, data.y, data.weights, data.p)
    assert data.same_as(*same, True)
    assert not data.same_as(*same, False)
    assert not data.same_as(X, X, -data.y, data.weights, data.p, True)
    assert not data.same_as(X.copy(), X, data.y, data.weights, data.p, True)
    X[0, 0] += 1  # in place
    assert not data.same_as(*same, True)


def test_the_hash_is_of_values_not_of_their_order_in_memory(X):
    assert made(X).sha256 == made(np.asfortranarray(X)).sha256
    assert made(X).sha256 != made(X + 1e-9).sha256
    assert made(X).sha256 != made(X, weights=np.arange(1.0, 9)).sha256


@pytest.mark.parametrize(
    ("class_weight", "positive"), [(None, 0.25), ("balanced", 0.5), ({1.0: 3.0, -1.0: 1.0}, 0.5)]
)
def test_shares_sum_to_one_and_weigh_classes(class_weight, positive):
    y = np.array([1.0, -1, -1, -1])
    p = shares(y, np.ones(4), class_weight)
    assert p.sum() == pytest.approx(1)
    assert p[y > 0].sum() == pytest.approx(positive)


def test_rows_are_summed_alike_for_dense_and_sparse(X):
    np.testing.assert_allclose(row_sums(X), row_sums(sp.csc_array(X)))
