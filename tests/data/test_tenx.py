from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest

from hipad.data import Limits, read_table
from hipad.exceptions import DataError
from tests.data.gene_files import COUNTS, PROBES, SAMPLES, tenx_members, tenx_tar, tenx_zip


@pytest.mark.parametrize(
    "content",
    [tenx_zip(), tenx_tar(), tenx_tar(mode="w"), tenx_zip(tenx_members(""))],
    ids=["zip", "tar.gz", "tar", "no folder"],
)
def test_a_folder_is_read_from_an_archive(content):
    table = read_table(content)
    assert table.is_sparse
    np.testing.assert_array_equal(table.numbers.toarray(), COUNTS.T)
    assert (table.number_names, table.ids) == (tuple(PROBES), tuple(SAMPLES))
    assert table.symbols[:4] == ("ABL1", "ABL1", "ABL1", "JAK1")


def changed(**changes):
    members = tenx_members()
    for name, content in changes.items():
        path = next(path for path in members if name in path)
        del members[path]
        if content is not None:
            members[path.removesuffix(".gz")] = content
    return members


@pytest.mark.parametrize("pack", [tenx_zip, tenx_tar])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"barcodes": None}, "expected one barcodes.tsv in the 10x folder, got none"),
        ({"barcodes": b"a\nb\n"}, "30 features x 2 barcodes"),
        ({"matrix": b"%%MatrixMarket matrix"}, "first line"),
        ({"features": b"\x1f\x8bnonsense"}, "gzip file is damaged"),
        ({"matrix": b""}, "first line"),
    ],
)
def test_a_damaged_folder_gives_a_sentence(pack, changes, words):
    with pytest.raises(DataError, match=words):
        read_table(pack(changed(**changes)))


def test_two_samples_are_one_too_many():
    with pytest.raises(DataError, match="pack the files of one sample"):
        read_table(tenx_zip(tenx_members("a/") | tenx_members("b/")))


def test_members_that_lead_elsewhere_are_not_followed(tmp_path):
    members = tenx_members("../../../" + str(tmp_path) + "/")
    read_table(tenx_tar(members))
    read_table(tenx_zip(members))
    assert not list(tmp_path.iterdir())
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        link = tarfile.TarInfo("matrix.mtx")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(DataError, match="none of them"):
        read_table(file.getvalue())


def test_a_member_that_unpacks_to_too_much_is_refused():
    import gzip

    members = tenx_members()
    members["filtered/features.tsv.gz"] = gzip.compress(bytes(10**7))
    with pytest.raises(DataError, match="once unpacked, got more"):
        read_table(tenx_tar(members, "w"), limits=Limits(unpacked_bytes=10**6))
