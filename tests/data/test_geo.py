from __future__ import annotations

import gzip

import numpy as np
import pytest

from hipad.data import read_table
from hipad.data.expression import looks_like_platform, looks_like_series, read_platform
from hipad.data.limits import LIMITS
from hipad.exceptions import DataError
from tests.data.gene_files import KINDS, PLATFORM, PROBES, SAMPLES, SERIES, VALUES


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
