from __future__ import annotations

import gzip
import io
import tarfile

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import Limits, read_table
from hipad.data.delimited import (
    looks_like_platform,
    looks_like_series,
    market_matrix,
    read_platform,
)
from hipad.data.file_format import LIMITS
from hipad.exceptions import DataError
from tests.data.gene_files import (
    COUNTS,
    GCT,
    GCT3,
    KINDS,
    PLATFORM,
    PROBES,
    SAMPLES,
    SERIES,
    VALUES,
    mtx,
    tenx_members,
    tenx_tar,
    tenx_zip,
)

# --------------------------------------------------------------------------------------------------
# Gct.


@pytest.mark.parametrize("content", [GCT, GCT3], ids=["1.2", "1.3"])
def test_both_versions_are_read(content):
    table = read_table(content)
    np.testing.assert_array_equal(table.numbers, VALUES.T)
    assert (table.number_names, table.ids) == (tuple(PROBES), tuple(SAMPLES))
    assert table.symbols[:6] == ("ABL1", "ABL1", "ABL1", "JAK1", "JAK1", "")
    if content is GCT3:
        assert table.text["disease"].tolist() == KINDS
        assert table.label == "disease"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"30\t12", b"31\t12", "expected 31 rows"),
        (b"30\t12", b"30\t13", "expected 15 columns"),
        (b"30\t12", b"many", "expected 2 numbers"),
        (b"30\t12", b"999999999\t12", "leave out columns"),
        (b"1003_at\t", b"1003_at", "expected 14 cells"),
        (b".", b"x", "numbers for every sample"),
    ],
)
def test_what_the_file_states_must_be_there(old, new, words):
    with pytest.raises(DataError, match=words):
        read_table(GCT[:5] + GCT[5:].replace(old, new))


def test_rows_about_samples_must_be_whole():
    with pytest.raises(DataError, match="cells in the row 'disease"):
        read_table(GCT3.replace(b"na\tna\t", b"na\t"))
    with pytest.raises(DataError, match="expected 4 numbers"):
        read_table(GCT3.replace(b"30\t12\t2\t1", b"30\t12"))


# --------------------------------------------------------------------------------------------------
# Geo.


@pytest.mark.parametrize("packed", [False, True])
def test_a_series_matrix_has_one_row_per_sample(packed):
    table = read_table(gzip.compress(SERIES) if packed else SERIES)
    assert table.format == "GEO series matrix"
    np.testing.assert_array_equal(table.numbers, VALUES.T)
    assert (table.number_names, table.ids) == (tuple(PROBES), tuple(SAMPLES))
    assert table.text["disease"].tolist() == KINDS
    assert table.text["age"].tolist() == ["", "7"] * 6
    assert table.text["gender"].tolist() == ["F", ""] * 6
    assert table.text["title"][3] == "patient 3"
    assert table.label == "disease"


def test_null_is_a_gap_and_numbers_may_be_names():
    text = SERIES.replace(b"_at", b"").replace(str(VALUES[0, 0]).encode(), b"null", 1)
    table = read_table(text)
    assert np.isnan(table.numbers[0, 0])
    assert table.number_names[:2] == ("1000", "1001")


DAMAGED = {
    "cut": (SERIES[:-30], "download it again"),
    "no table": (SERIES.split(b"!series_matrix")[0], "a part of one"),
    "no values": (
        SERIES.split(b"\n\"1000")[0] + b"\n!series_matrix_table_end\n", "supplementary files"
    ),
    "a cell too few": (SERIES.replace(b'\t"disease: ALL"', b"", 1), "one per sample, got 11"),
    "a row too short": (SERIES.replace(b'"1003_at"\t', b'"1003_at"'), "expected 13 cells"),
    "texts as values": (SERIES.replace(b".", b"x"), "expected numbers for every sample"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_series_matrix_gives_a_sentence(kind):
    content, words = DAMAGED[kind]
    with pytest.raises(DataError, match=words):
        read_table(content, "GSE1.txt")


def test_platform_tables_are_read_with_and_without_marks():
    bare = b"#ID = the probe\n#Gene Symbol = the gene\n" + b"\n".join(PLATFORM.splitlines()[4:-1])
    for content in (PLATFORM, bare):
        assert looks_like_platform(content)
        assert not looks_like_series(content)
        table = read_platform(content, LIMITS)
        assert table.text["ID"].tolist() == PROBES
        assert len(table.text) == 3


def shuffled(cells: list[str]) -> str:
    return "\t".join(f'"{cell}"' for cell in cells)


def described(names: list[str], kinds: list[str]) -> bytes:
    """The series with its samples described in another order."""
    text = SERIES.decode()
    head, rest = text.split("!Sample_title", 1)
    _, table = rest.split("!series_matrix_table_begin", 1)
    return (
        f"{head}!Sample_geo_accession\t{shuffled(names)}\n"
        f"!Sample_characteristics_ch1\t{shuffled([f'disease: {kind}' for kind in kinds])}\n"
        f"!series_matrix_table_begin{table}"
    ).encode()


def test_read_series_pairs_by_accession():
    table = read_table(described(SAMPLES[::-1], KINDS[::-1]))
    assert table.text["disease"].tolist() == KINDS
    np.testing.assert_array_equal(table.numbers, VALUES.T)
    assert "matched by name" in " ".join(table.remarks)


def test_read_series_says_what_does_not_match():
    table = read_table(described(["GSM999", *SAMPLES[1:]], KINDS))
    assert table.text["disease"].tolist() == ["", *KINDS[1:]]
    said = " ".join(table.remarks)
    assert f"1 sample without a description: {SAMPLES[0]!r}" in said
    assert "1 described sample without values: 'GSM999'" in said
    fewer = read_table(described(SAMPLES[:10], KINDS[:10]))
    assert fewer.text["disease"].tolist() == [*KINDS[:10], "", ""]


def test_read_series_refuses_accessions_that_match_nothing():
    with pytest.raises(DataError, match="nothing matches"):
        read_table(described([f"GSM9{i:05d}" for i in range(12)], KINDS))
    with pytest.raises(DataError, match="every accession once"):
        read_table(described([SAMPLES[0]] * 12, KINDS))


def test_read_series_by_position_is_told():
    lines = [line for line in SERIES.splitlines() if not line.startswith(b"!Sample_geo")]
    table = read_table(b"\n".join(lines))
    assert table.text["disease"].tolist() == KINDS
    assert "by position" in " ".join(table.remarks)


# --------------------------------------------------------------------------------------------------
# Matrix market.


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))
def test_what_was_written_is_read(n, p, seed):
    X = np.random.default_rng(seed).integers(-2, 3, (n, p)).astype(float)
    np.testing.assert_array_equal(market_matrix(mtx(X), LIMITS).toarray(), X)


def test_dense_symmetric_and_pattern_files_are_read():
    dense = io.BytesIO()
    scipy.io.mmwrite(dense, COUNTS[:3, :2])
    np.testing.assert_array_equal(read_table(dense.getvalue()).numbers.toarray(), COUNTS[:3, :2])
    half = b"%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n2 2 2\n1 1\n2 1\n"
    np.testing.assert_array_equal(read_table(half).numbers.toarray(), [[1, 1], [1, 0]])


def test_a_matrix_alone_stays_sparse_and_can_be_turned():
    table = read_table(mtx())
    assert table.is_sparse
    assert (table.numbers.shape, table.number_names[0]) == ((30, 12), "x1")
    assert read_table(mtx(), turn=True).numbers.shape == (12, 30)


HEAD = b"%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (HEAD.replace(b"real", b"complex") + b"1 1 1\n1 1 2 3\n", "in the first line"),
        (HEAD, "sizes of the matrix"),
        (HEAD + b"3 3 9\n1 1 1\n", "the file is cut"),
        (HEAD + b"3 3 2\n1 1 1\n9 9 1\n", "damaged"),
        (HEAD + b"3 3 2\n1 1 1\n0 1 1\n", "damaged"),
        (HEAD + b"3 3 1\n1 1 x\n", "damaged"),
        (HEAD + b"9999999999 1 1\n1 1 1\n", "at most 5,000,000 rows"),
        (HEAD + b"1 0 0\n", "without columns"),
    ],
)
def test_damaged_files_give_a_sentence(content, words):
    with pytest.raises(DataError, match=words):
        read_table(content)


def test_a_dense_file_that_claims_too_much_is_refused_first():
    head = b"%%MatrixMarket matrix array real general\n9999 9999\n1\n"
    with pytest.raises(DataError, match="cells"):
        read_table(head, limits=Limits(cells=10**6))
    with pytest.raises(DataError, match="the file is cut"):
        read_table(head)


# --------------------------------------------------------------------------------------------------
# Tenx.


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
