from __future__ import annotations

import io

import h5py
import numpy as np
import pytest

from hipad.data import Limits
from hipad.data.hdf5 import Source, attribute, member, numbers, part, texts
from hipad.data.limits import LIMITS
from hipad.exceptions import DataError

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
