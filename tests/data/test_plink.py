"""Genotypes of .bed files against bed-reader, and files that do not fit each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hipad.data.column_store import open_columns, write_store
from hipad.data.plink import BedSource
from hipad.exceptions import DataError


def write_bed(path: Path, X: np.ndarray) -> Path:
    """Counts of allele 1, -127 where one is missing; written without the module under test."""
    code = {2: 0, -127: 1, 1: 2, 0: 3}
    out = bytearray(b"\x6c\x1b\x01")
    for column in X.T:
        for start in range(0, len(column), 4):
            out.append(sum(code[int(g)] << 2 * k for k, g in enumerate(column[start : start + 4])))
    path.write_bytes(out)
    n, m = X.shape
    people = (f"f{i} p{i} 0 0 0 {1 + i % 2}" for i in range(n))
    path.with_suffix(".fam").write_text("\n".join(people) + "\n")
    variants = (f"1\trs{j}\t0\t{j}\tA\tC" for j in range(m))
    path.with_suffix(".bim").write_text("\n".join(variants) + "\n")
    return path


genotypes = st.tuples(st.integers(1, 11), st.integers(1, 9)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.sampled_from([0, 1, 2, -127]))
)


@settings(max_examples=50, deadline=None)
@given(X=genotypes)
def test_bed_source_agrees_with_bed_reader(tmp_path_factory, X):
    bed_reader = pytest.importorskip("bed_reader", reason="bed-reader is not installed")
    path = write_bed(tmp_path_factory.mktemp("bed") / "x.bed", X)
    with bed_reader.open_bed(path, num_threads=1) as other:
        np.testing.assert_array_equal(other.read(dtype="int8"), X)
        theirs = other.read(dtype="float64")
        assert BedSource(path).names_of(np.arange(X.shape[1])) == other.sid.tolist()
        assert BedSource(path).row_names.tolist() == other.iid.tolist()
    np.testing.assert_array_equal(BedSource(path).columns(np.arange(X.shape[1])), theirs)


def test_bed_source_as_a_store(tmp_path):
    X = np.random.default_rng(0).choice(np.array([0, 1, 2, -127], dtype=np.int8), (9, 30))
    bed = open_columns(write_bed(tmp_path / "x.bed", X))
    store = write_store(tmp_path / "x.columns", bed)
    np.testing.assert_array_equal(store.columns([3, 29]), bed.columns([3, 29]))
    assert store.names_of([4]) == ["rs4"]
    assert store.labels.tolist() == bed.labels.tolist() == [0, 1] * 4 + [0]


def test_bed_source_finds_variants(tmp_path):
    bed = BedSource(write_bed(tmp_path / "x.bed", np.zeros((3, 40), dtype=np.int8)))
    assert bed.find_names(["RS12", "rs39", "rs40"]).tolist() == [12, 39]


def test_bed_source_reads_names_set_apart_by_blanks(tmp_path):
    path = write_bed(tmp_path / "x.bed", np.zeros((3, 2), dtype=np.int8))
    path.with_suffix(".bim").write_text("1 a 0 1 A C\n1 b 0 2 A C")
    assert BedSource(path).names_of([1, 0]) == ["b", "a"]


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".bed", b"", "no PLINK 1"),
        (".bed", b"\x6c\x1b", "no PLINK 1"),
        (".bed", b"\x6c\x1b\x00" + b"\0" * 12, "sample by sample"),
        (".bed", b"\x6c\x1b\x01" + b"\0" * 11, "the file is cut"),
        (".bed", b"\x6c\x1b\x01" + b"\0" * 13, "other people or variants"),
        (".bim", b"1\trs1\t0\t1\tA\tC\n", "3 people in .fam, 1 variants"),
        (".fam", b"", "no line"),
        (".fam", b"a b 0 0 0 1\nc\n", "line 2"),
    ],
)
def test_bed_source_of_damaged_files(tmp_path, suffix, content, message):
    path = write_bed(tmp_path / "x.bed", np.zeros((3, 12), dtype=np.int8))
    path.with_suffix(suffix).write_bytes(content)
    with pytest.raises(DataError, match=message):
        open_columns(path)


@pytest.mark.parametrize("suffix", [".bim", ".fam"])
def test_bed_source_without_the_files_beside_it(tmp_path, suffix):
    path = write_bed(tmp_path / "x.bed", np.zeros((3, 12), dtype=np.int8))
    path.with_suffix(suffix).unlink()
    with pytest.raises(DataError, match=f"x{suffix} cannot be opened"):
        open_columns(path)
