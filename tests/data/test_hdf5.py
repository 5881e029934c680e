from __future__ import annotations

import io

import h5py
import numpy as np
import pytest

from hipad import utils as optional
from hipad.data import Limits, read_table
from hipad.data.file_format import LIMITS
from hipad.data.hdf5 import Source, attribute, member, numbers, part, texts
from hipad.exceptions import DataError
from tests.data.gene_files import COUNTS, KINDS, PROBES, SAMPLES, h5ad

# --------------------------------------------------------------------------------------------------
# Hdf5.


SOURCE = Source.of(b"", LIMITS)


def test_hdf5_is_free_of_the_known_faults_of_its_first_series():
    assert h5py.version.hdf5_version_tuple[0] >= 2, "HDF5 1.x has published faults in its reader"


@pytest.fixture
def root():
    with h5py.File(io.BytesIO(), "w") as file:
        yield file


def test_numbers_and_texts_are_read(root):
    root["n"], root["t"] = np.arange(3), ["a", "é", ""]
    root["s"] = np.array([b"x", b"yz"])
    assert numbers(member(root, "n"), LIMITS).tolist() == [0, 1, 2]
    assert texts(member(root, "t"), SOURCE) == ["a", "é", ""]
    assert texts(member(root, "s"), SOURCE) == ["x", "yz"]
    assert texts(member(root, "n"), SOURCE) == ["0", "1", "2"]
    assert part(root, "nothing") is None


@pytest.mark.parametrize(
    "link", [h5py.ExternalLink("/etc/passwd", "/"), h5py.SoftLink("/n")], ids=["file", "place"]
)
def test_links_are_not_followed(root, link):
    root["l"] = link
    with pytest.raises(DataError, match="points elsewhere"):
        part(root, "l")


def test_data_in_other_files_are_not_read(root, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(80))
    root.create_dataset("e", (10,), "f8", external=[(str(secret), 0, 80)])
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "x", (4,))
    root.create_virtual_dataset("v", layout)
    for name in "ev":
        with pytest.raises(DataError, match="another file"):
            numbers(member(root, name), LIMITS)


def test_claims_too_large_are_refused_before_they_are_read(root):
    root.create_dataset("big", (10**12,), "f8", chunks=(1000,))
    with pytest.raises(DataError, match="once unpacked"):
        numbers(root["big"], LIMITS)
    root["long"] = ["x" * 5000]
    with pytest.raises(DataError, match="at most 1,000 characters"):
        texts(root["long"], SOURCE)
    root["some"] = np.zeros(10)
    with pytest.raises(DataError, match="once unpacked"):
        numbers(root["some"], Limits(unpacked_bytes=79))


def test_compound_values_and_references_are_refused(root):
    root["c"] = np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    root.create_dataset("r", (1,), h5py.ref_dtype)
    root.create_dataset("v", (1,), h5py.vlen_dtype(np.int32))
    for name in "crv":
        with pytest.raises(DataError, match="expected"):
            numbers(root[name], LIMITS)
        with pytest.raises(DataError, match="expected"):
            texts(root[name], SOURCE)
    root.attrs["r"] = root["c"].ref
    with pytest.raises(DataError, match="expected texts"):
        attribute(root, "r")


def test_attributes_are_plain_values(root):
    root.attrs["a"], root.attrs["b"], root.attrs["c"] = "x", [1, 2], ["p", "q"]
    assert [attribute(root, name) for name in "abcd"] == ["x", [1, 2], ["p", "q"], None]


# --------------------------------------------------------------------------------------------------
# H5ad.


@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
def test_an_anndata_file_is_read_with_symbols_and_ids(kind):
    table = read_table(h5ad(kind))
    assert table.is_sparse is (kind != "dense")
    values = table.numbers.toarray() if table.is_sparse else table.numbers
    np.testing.assert_array_equal(values, COUNTS.T)
    assert (table.number_names, table.ids) == (tuple(PROBES), tuple(SAMPLES))
    assert table.symbols[:4] == ("ABL1", "ABL1", "ABL1", "JAK1")
    assert table.text["disease"].tolist() == KINDS
    assert table.label == "disease"
    assert "columns of obs left out: 'n_counts'" in table.remarks


def test_columns_of_other_kinds_are_read_or_told():
    table = read_table(h5ad(obs__site=["a", "b", "c"] * 4, obs__stage=np.arange(12) % 3,
                            obs__kept=np.arange(12) % 2 == 0))  # fmt: skip
    assert table.text["site"].tolist() == ["a", "b", "c"] * 4
    assert table.text["stage"].tolist() == ["0", "1", "2"] * 4
    assert set(table.text["kept"].tolist()) == {"True", "False"}


def test_levels_may_be_kept_apart_as_old_files_do():
    codes = {"obs__disease": np.array([1, 0] * 6, np.int8)}
    assert read_table(h5ad(**codes)).text["disease"].tolist() == ["1", "0"] * 6
    codes["obs/__categories/disease"] = ["x", "y"]
    assert read_table(h5ad(**codes)).text["disease"].tolist() == ["y", "x"] * 6


DAMAGED = {
    "no X": ({"X": None}, "expected X, obs and var"),
    "no names": ({"var___index": None}, "names of the rows of /var"),
    "another shape": ({"obs__cell": SAMPLES[:5]}, "expected X of 5 x 30"),
    "codes beyond": ({"obs__disease__codes": np.array([0, 7] * 6)}, "codes of categories"),
    "a short column": ({"obs__site": ["a"]}, "expected 12 values in 'site', got 1"),
    "indices beyond": ({"X__indices": np.full(len(COUNTS.nonzero()[0]), 99)}, "the parts"),
    "pointers": ({"X__indptr": np.array([0, 5])}, "entries in indptr"),
    "texts as numbers": ({"X__data": ["a", "b"]}, "expected numbers in /X/data"),
    "an old table": (
        {"obs": np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])}, "AnnData before 0.7"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_files_give_a_sentence(kind):
    changes, words = DAMAGED[kind]
    with pytest.raises(DataError, match=words):
        read_table(h5ad(**changes))


def test_a_cut_file_gives_a_sentence():
    with pytest.raises(DataError, match="damaged"):
        read_table(h5ad()[:3000])


def test_claims_are_held_against_the_limits():
    with pytest.raises(DataError, match="columns"):
        read_table(h5ad(), limits=Limits(columns=10))


def test_without_h5py_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(optional, "_installed", lambda name: name != "h5py")
    with pytest.raises(DataError, match=r"needs h5py.*hipad\[app\]"):
        read_table(h5ad())
