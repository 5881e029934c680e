from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from hipad.datasets import make_ksvm_s
from hipad.exceptions import DataError

MEANS = {"K1": 2.0, "K2": 0.5, "K3": -0.2, "K4": -1.0}


@pytest.mark.parametrize(
    ("preset", "n_train", "n_test", "m"), [("10k", 200, 400, 10_000), ("50k", 500, 1_000, 50_000)]
)
def test_presets_have_the_papers_sizes_and_stay_sparse(preset, n_train, n_test, m):
    data = make_ksvm_s(preset, seed=1)
    assert data.X_train.shape == (n_train, m)
    assert data.X_test.shape == (n_test, m)
    assert data.X_train.format == data.X_test.format == "csr"
    assert data.X_test.nnz < 0.11 * n_test * m
    assert set(data.blocks) == set(MEANS)
    assert np.unique(np.concatenate(list(data.blocks.values()))).size == 200


def test_labels_are_balanced_and_shuffled():
    data = make_ksvm_s(seed=3)
    for y in (data.y_train, data.y_test):
        assert set(y.tolist()) == {-1, 1}
        assert y.sum() == 0
        assert np.abs(np.diff(y)).sum() > 2 * 50


@pytest.mark.parametrize("fraction", [0.3, 0.15])
def test_positive_fraction_is_of_the_training_rows_only(fraction):
    data = make_ksvm_s(seed=0, positive_fraction=fraction)
    assert (data.y_train == 1).sum() == round(200 * fraction)
    assert data.y_test.sum() == 0


def test_the_same_seed_gives_the_same_data_and_another_seed_does_not():
    one, same, other = (make_ksvm_s(seed=s, n_train=30, n_test=30) for s in (5, 5, 6))
    assert (one.X_train != same.X_train).nnz == 0
    assert (one.X_test != same.X_test).nnz == 0
    np.testing.assert_array_equal(one.y_train, same.y_train)
    assert (one.X_train != other.X_train).nnz > 0


def test_training_rows_do_not_depend_on_the_number_of_test_rows():
    few, many = (make_ksvm_s(seed=5, n_train=30, n_test=n) for n in (10, 50))
    assert (few.X_train != many.X_train).nnz == 0


def test_block_means_and_covariance_are_as_specified():
    data = make_ksvm_s(seed=0, n_test=8_000, n_features=400)
    for name, mean in MEANS.items():
        block = data.X_test[:, data.blocks[name]].toarray()
        centred = block - mean * data.y_test[:, None]
        assert np.abs(centred.mean()) < 0.05
        covariance = np.cov(centred.T)
        assert np.abs(np.diag(covariance) - 1).max() < 0.08
        assert np.abs(covariance[np.triu_indices(50, 1)] - 0.8).max() < 0.08


def test_blocks_are_independent_of_each_other():
    data = make_ksvm_s(seed=0, n_test=8_000, n_features=400)
    means = np.column_stack([data.X_test[:, idx].mean(axis=1) for idx in data.blocks.values()])
    within = means - np.outer(data.y_test, list(MEANS.values()))
    assert np.abs(np.corrcoef(within.T) - np.eye(4)).max() < 0.05


def test_in_training_the_strong_blocks_are_noise_like_the_rest():
    data = make_ksvm_s(seed=0, n_train=2_000)
    for name in ("K1", "K4"):
        block = data.X_train[:, data.blocks[name]]
        assert 0.05 < block.nnz / np.prod(block.shape) < 0.10
        assert abs((block.T @ data.y_train).sum() / block.nnz) < 0.05
    for name in ("K2", "K3"):
        assert data.X_train[:, data.blocks[name]].nnz == 2_000 * 50


def test_noise_is_standard_normal_and_covers_five_to_ten_percent_of_each_row():
    data = make_ksvm_s(seed=0)
    rest = data.X_test[:, 200:]
    share = np.diff(rest.indptr) / rest.shape[1]
    assert share.min() >= 0.0499
    assert share.max() <= 0.1001
    assert share.std() > 0.01
    assert abs(rest.data.mean()) < 0.01
    assert abs(rest.data.std() - 1) < 0.01
    assert rest.has_canonical_format


def test_the_best_classifier_of_all_blocks_reaches_the_bayes_limit():
    data = make_ksvm_s(seed=0, n_test=20_000, n_features=200)
    block_means = np.column_stack(
        [data.X_test[:, idx].mean(axis=1) for idx in data.blocks.values()]
    )
    accuracy = np.mean(np.sign(block_means @ list(MEANS.values())) == data.y_test)
    limit = norm.cdf(np.sqrt(sum(mean**2 for mean in MEANS.values()) / 0.804))
    assert limit == pytest.approx(0.9948, abs=1e-4)
    assert accuracy == pytest.approx(limit, abs=0.002)


def test_the_rules_are_right_wherever_they_fire():
    data = make_ksvm_s(seed=0, n_test=5_000, n_features=200)
    K1, K4 = (data.X_test[:, data.blocks[name]].mean(axis=1) for name in ("K1", "K4"))
    assert data.rules == "mean(K1) >= 4 => positive\nmean(K4) >= 3 => negative"
    assert (data.y_test[K1 >= 4] == 1).all()
    assert (K1 >= 4).sum() > 10
    assert (data.y_test[K4 >= 3] == -1).mean() > 0.98


@given(
    st.integers(2, 20), st.integers(2, 20), st.integers(1, 5), st.integers(0, 40), st.integers(0, 9)
)
def test_any_size_can_be_had(n_train, n_test, block_size, extra, seed):
    m = 4 * block_size + extra
    data = make_ksvm_s(
        seed=seed, n_train=n_train, n_test=n_test, n_features=m, block_size=block_size
    )
    assert data.X_train.shape == (n_train, m)
    assert data.X_test.shape == (n_test, m)
    assert data.X_test[:, : 4 * block_size].nnz == n_test * 4 * block_size


@pytest.mark.parametrize(
    "wrong",
    [
        {"preset": "20k"},
        {"n_train": 1},
        {"n_features": 199},
        {"block_size": 0},
        {"noise": (0.2, 0.1)},
        {"noise": (-0.1, 0.1)},
        {"positive_fraction": 0.0},
        {"positive_fraction": 1.0},
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(DataError, match="expected"):
        make_ksvm_s(**wrong)
