"""Sources that are read by columns, and the store: what is written comes back, damage is told."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hipad.data.column_store import ColumnStore, as_source, open_columns, write_store
from hipad.exceptions import DataError

KINDS = (np.bool_, np.int8, np.float32, np.float64)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), kind=st.sampled_from(KINDS), memory=st.sampled_from([1.0, 100.0, 1e6]))
def test_write_store_there_and_back(tmp_path_factory, data, kind, memory):
    shape = data.draw(array_shapes(min_dims=2, max_dims=2, max_side=7))
    own = {"min_value": -127} if kind == np.int8 else {}
    elements = None if kind == np.bool_ else st.just(0) | st.integers(-127, 127)
    X = data.draw(arrays(kind, shape, elements=elements, **({} if elements is not None else own)))
    path = tmp_path_factory.mktemp("store") / "x.columns"
    names = [f"é{j}" * (j + 1) for j in range(shape[1])]
    store = write_store(path, X, names=names, labels=list(range(shape[0])), memory=memory)
    assert store.dtype == (np.int8 if kind == np.bool_ else kind)
    np.testing.assert_array_equal(store.columns(np.arange(shape[1])), X)
    np.testing.assert_array_equal(store.values, X)
    picked = np.arange(shape[1])[::-1]
    np.testing.assert_array_equal(store.columns(picked), X[:, ::-1])
    assert store.names_of(picked) == names[::-1]
    assert store.labels.tolist() == list(range(shape[0]))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_write_store_sparse(tmp_path, form):
    X = sp.random_array((9, 40), density=0.2, rng=np.random.default_rng(0))
    store = write_store(tmp_path / "x", form(X), memory=500)
    np.testing.assert_array_equal(store.columns(np.arange(40)), X.toarray())


def test_write_store_of_small_whole_numbers_is_int8_and_of_large_ones_float64(tmp_path):
    small, large = np.array([[1, -127]]), np.array([[1, 300]])
    assert write_store(tmp_path / "a", small).dtype == np.int8
    assert write_store(tmp_path / "b", large).dtype == np.float64


def test_names_are_found_whatever_their_case_and_place(tmp_path):
    names = ["rs12", "RS7", "abl1", "rs1"]
    store = write_store(tmp_path / "x", np.zeros((2, 4)), names=names)
    assert store.find_names(["rs7", "ABL1", "unknown-and-far-longer"]).tolist() == [1, 2]
    assert store.find_names([]).size == 0


def test_a_source_without_names_calls_columns_by_their_numbers():
    source = as_source(np.zeros((2, 12), dtype=np.int8))
    assert source.names_of([11, 3]) == ["x11", "x3"]
    assert source.find_names(["x11", "x012", "X3"]).tolist() == [3, 11]


@pytest.mark.parametrize("order", ["C", "F"])
def test_open_columns_npy(tmp_path, order):
    X = np.asarray(np.random.default_rng(0).normal(size=(5, 9)), dtype=np.float32, order=order)
    np.save(tmp_path / "x.npy", X)
    np.testing.assert_array_equal(open_columns(tmp_path / "x.npy").columns([4, 0]), X[:, [4, 0]])


def test_open_columns_zarr(tmp_path):
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
    X = np.arange(60, dtype=np.int8).reshape(6, 10)
    zarr.save_array(tmp_path / "x.zarr", X)
    np.testing.assert_array_equal(open_columns(tmp_path / "x.zarr").columns([7, 2]), X[:, [7, 2]])


@pytest.mark.parametrize("sparse", [False, True])
def test_open_columns_h5ad(tmp_path, sparse):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    X = np.random.default_rng(0).binomial(1, 0.3, (6, 8)).astype(float)
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        if sparse:
            part, columns = file.create_group("X"), sp.csc_array(X)
            part.attrs.update({"encoding-type": "csc_matrix", "shape": X.shape})
            for name in ("data", "indices", "indptr"):
                part[name] = getattr(columns, name)
        else:
            file["X"] = X
        features = file.create_group("var")
        features.attrs["_index"] = "gene"
        features["gene"] = [f"g{j}" for j in range(8)]
    source = open_columns(tmp_path / "x.h5ad")
    np.testing.assert_array_equal(source.columns([5, 1]), X[:, [5, 1]])
    assert source.names_of([3]) == ["g3"]
    assert source.find_names(["G6"]).tolist() == [6]


def whole_store(path: Path) -> Path:
    write_store(path, np.arange(12, dtype=np.int8).reshape(3, 4), names=list("abcd"))
    return path


@pytest.mark.parametrize("kept", [0, 5, 40, 4096 + 3, -1])
def test_a_store_that_was_cut_is_refused_at_opening(tmp_path, kept):
    path = whole_store(tmp_path / "x")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match=r"cut|no column store|read by columns"):
        open_columns(path)


@settings(max_examples=60, deadline=None)
@given(place=st.integers(0, 200), byte=st.integers(0, 255))
def test_a_store_with_a_changed_header_opens_or_says_why_not(tmp_path_factory, place, byte):
    path = whole_store(tmp_path_factory.mktemp("store") / "x")
    changed = bytearray(path.read_bytes())
    changed[place] = byte
    path.write_bytes(changed)
    try:
        ColumnStore(path).names_of([0])
    except DataError:
        return


def test_write_store_of_mismatched_labels_or_names(tmp_path):
    with pytest.raises(DataError, match="expected 2 labels, one per row, got 3"):
        write_store(tmp_path / "x", np.zeros((2, 4)), labels=[1, 2, 3])
    with pytest.raises(DataError, match="expected 4 feature names, one per column, got 1"):
        write_store(tmp_path / "x", np.zeros((2, 4)), names=["a"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["none.bed", "none.npy", "none.columns"])
def test_open_columns_of_a_missing_file(tmp_path, name):
    with pytest.raises(DataError, match="no such file"):
        open_columns(tmp_path / name)


def test_open_columns_of_a_cut_npy(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((40, 9)))
    whole = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(whole[:-8])
    with pytest.raises(DataError, match=r"no whole \.npy"):
        open_columns(tmp_path / "x.npy")


def test_sources_can_be_sent_to_a_worker(tmp_path):
    store = ColumnStore(whole_store(tmp_path / "x"))
    again = pickle.loads(pickle.dumps(store))  # noqa: S301
    np.testing.assert_array_equal(again.columns([2]), store.columns([2]))
