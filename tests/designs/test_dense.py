"""Designs of arrays: never copied, and summed in double precision."""

import numpy as np
import pytest

from hipad.designs import DenseDesign, make_design
from tests.designs.matrices import assert_close, random_matrix


def test_a_memory_mapped_array_stays_on_disk(tmp_path):
    X = random_matrix(2, 20, 50)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    design = make_design(mapped)
    assert isinstance(design, DenseDesign)
    assert np.shares_memory(design._X, mapped)
    assert_close(design.gram(), X @ X.T)
    assert_close(design.correlate(np.ones(20)), X.sum(axis=0))


def test_the_callers_array_is_neither_copied_nor_protected():
    X = np.ones((2, 3))
    design = DenseDesign(X)
    assert np.shares_memory(design._X, X)
    X[0, 0] = 5.0  # stays the caller's own
    with pytest.raises(ValueError, match="read-only"):
        design._X[0, 0] = 7.0


@pytest.mark.parametrize("width", [1, 3, 50])
def test_single_precision_is_summed_in_double(monkeypatch, width):
    monkeypatch.setattr("hipad.data.table.MIN_BLOCK_COLUMNS", width)
    monkeypatch.setattr("hipad.data.table.BLOCK_ENTRIES", 1)
    X = np.array([[2.0**24, 1.0, 1.0]] * 2, dtype=np.float32)
    design = DenseDesign(X)
    assert design.dot(np.ones(3)).tolist() == [2.0**24 + 2] * 2  # floats of 32 bits would lose it
    T = np.array([[1.0, 0.0], [2.0, 1.0]])
    np.testing.assert_array_equal(design.correlate(T), X.astype(float).T @ T)
    np.testing.assert_array_equal(design.dot(np.eye(3)), X)
