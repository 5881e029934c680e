"""Small files that once took gigabytes, and large ones, under a bound on memory and time."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tests.limits import read_limited


def written(tmp_path, name: str, content: bytes):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def packed(tmp_path, piece: bytes, size: int):
    """A gzip file of a piece again and again; it takes no more memory to write than to send."""
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        block = piece * (2**20 // len(piece))
        for _ in range(size // len(block)):
            file.write(block)
    return path


@pytest.mark.parametrize("index", [500_000_000, 2_000_000_000, 10**17, 10**30])
def test_a_large_libsvm_index_takes_nothing(tmp_path, index):
    path = written(tmp_path, "a.svm", b"1 1:2 3:1\n-1 2:1 %d:1\n" % index)
    answer = read_limited(path, gigabytes=0.5)
    assert "at most 2,000,000 columns" in answer or "expected `label index:value" in answer


def test_one_long_text_in_many_rows_is_left_out(tmp_path):
    rows = [f"{j},short,ill" for j in range(5_000)]
    rows[2_500] = "7," + "x" * 100_000 + ",well"
    path = written(tmp_path, "a.csv", ("a,note,y\n" + "\n".join(rows)).encode())
    assert read_limited(path, gigabytes=0.5) == "table 5000 2"


def test_a_text_below_the_limit_in_very_many_rows_is_left_out(tmp_path):
    rows = ["1,a"] * 600_000
    rows[300_000] = "1," + "x" * 900
    path = written(tmp_path, "a.csv", ("a,note\n" + "\n".join(rows)).encode())
    assert read_limited(path, gigabytes=0.5) == "table 600000 1"


@pytest.mark.parametrize("piece", [b"1,2\n", b"\n", b"1,", b'"', b"1 1:1\n", b"a" * 64])
def test_a_gzip_bomb_costs_little_more_than_what_it_unpacks_to(tmp_path, piece):
    path = packed(tmp_path, piece, 120 * 2**20)
    answer = read_limited(path, gigabytes=0.7)
    assert "expected" in answer
    assert not answer.startswith("table")


def test_a_gzip_bomb_beyond_the_limit_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("HIPAD_LIMIT_UNPACKED_BYTES", "1e8")
    path = packed(tmp_path, b"\0" * 64, 500 * 2**20)
    assert "100,000,000 bytes once unpacked" in read_limited(path, gigabytes=0.5)


def test_one_long_name_among_many_is_cut(tmp_path):
    header = ",".join(["y", "n" * 200_000, *(f"x{j}" for j in range(5_000))])
    row = ",".join(["ill", "1", *["2"] * 5_000])
    path = written(tmp_path, "a.csv", f"{header}\n{row}\n{row}\n".encode())
    assert read_limited(path, gigabytes=0.5) == "table 2 5002"


@pytest.mark.long
def test_a_tall_table_and_a_wide_one_of_text_are_read_in_seconds(tmp_path):
    rng = np.random.default_rng(0)
    tall = "\n".join(",".join(map(str, row)) for row in rng.integers(0, 999, (100_000, 10)))
    path = written(tmp_path, "tall.csv", (",".join("abcdefghij") + "\n" + tall).encode())
    assert read_limited(path, gigabytes=0.6, seconds=8) == "table 100000 10"
    words = np.array(["ill", "well", "unknown"])[rng.integers(0, 3, (200, 20_000))]
    text = "\n".join(",".join(row) for row in words)
    names = ",".join(f"x{j}" for j in range(20_000))
    path = written(tmp_path, "wide.csv", f"{names}\n{text}".encode())
    assert read_limited(path, gigabytes=1, seconds=20) == "table 200 20000"
