from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import fields

import numpy as np
import pytest

from hipad.data import file_format as archive
from hipad.data.file_format import LIMITS, Limits, check_archive
from hipad.exceptions import DataError
from tests.data.archives import zipped
from tests.limits import read_limited

# --------------------------------------------------------------------------------------------------
# Limits: what may be stated from outside, and tables at and beyond them.


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_each_limit_can_be_stated_by_a_variable(name):
    stated = Limits.from_environment({f"HIPAD_LIMIT_{name.upper()}": "8e3"})
    assert getattr(stated, name) == 8_000
    others = [field.name for field in fields(Limits) if field.name != name]
    assert all(getattr(stated, other) == getattr(Limits(), other) for other in others)


def test_other_variables_do_not_matter():
    assert Limits.from_environment({"HIPAD_LIMIT_": "1", "ROWS": "2", "PATH": "x"}) == Limits()


@pytest.mark.parametrize("text", ["", "many", "0", "-5", "nan", "inf", "0.5"])
def test_what_is_no_number_above_zero_is_refused(text):
    with pytest.raises(DataError, match="number above zero in HIPAD_LIMIT_ROWS, got"):
        Limits.from_environment({"HIPAD_LIMIT_ROWS": text})


SMALL = Limits(rows=10, columns=20, cells=100)


@pytest.mark.parametrize("shape", [(10, 10), (5, 20), (0, 0), (10, 0)])
def test_a_table_at_its_limits_is_taken(shape):
    SMALL.check_shape(*shape)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((11, 1), "at most 10 rows, got 11"),
        ((1, 21), "at most 20 columns, got 21"),
        ((10, 11), r"at most 100 cells, got 110 \(10 rows x 11 columns\)"),
    ],
)
def test_a_table_beyond_them_is_refused(shape, message):
    with pytest.raises(DataError, match=message):
        SMALL.check_shape(*shape)


def test_of_a_sparse_table_the_stored_cells_count():
    SMALL.check_shape(10, 20, cells=100)
    with pytest.raises(DataError, match="got 101"):
        SMALL.check_shape(10, 20, cells=101)


# --------------------------------------------------------------------------------------------------
# ZIP archives are looked at before anything is unpacked.


def packed(method=zipfile.ZIP_DEFLATED, names=("a",), content=b"x" * 100):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name in names:
            made.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_names_are_those_of_the_members_in_order(method):
    assert check_archive(packed(method, ("b", "a/c", "é")), LIMITS) == ["b", "a/c", "é"]
    assert check_archive(zipped({}), LIMITS) == []


def test_what_it_unpacks_to_counts_and_not_what_it_is():
    data = packed(names=("a", "b"), content=bytes(10_000))
    assert len(data) < 500
    assert check_archive(data, Limits(unpacked_bytes=20_000)) == ["a", "b"]
    with pytest.raises(DataError, match="at most 19,999 bytes once unpacked, got 20,000"):
        check_archive(data, Limits(unpacked_bytes=19_999))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_to_pack_are_refused(method):
    with pytest.raises(DataError, match="plain ZIP members, got 'a' packed in another way"):
        check_archive(packed(method), LIMITS)


def test_a_password_is_refused():
    data = bytearray(packed())
    data[data.index(archive.ENTRY) + 8] |= archive.ENCRYPTED
    with pytest.raises(DataError, match="or with a password"):
        check_archive(bytes(data), LIMITS)


def test_two_members_of_one_name_are_refused():
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = packed(names=("a", "a"))
    with pytest.raises(DataError, match="two members share a name"):
        check_archive(data, LIMITS)


def test_too_many_members_are_refused_before_they_are_listed(monkeypatch):
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    assert len(check_archive(packed(names="abc"), LIMITS)) == 3
    monkeypatch.setattr(zipfile, "ZipFile", None)  # listing them would need it
    with pytest.raises(DataError, match="at most 3 members"):
        check_archive(MANY, LIMITS)


MANY = packed(names="abcd")


@pytest.mark.parametrize("damage", [b"", b"PK", b"PK\x03\x04" + bytes(30), MANY[:-10]])
def test_what_is_no_archive_is_told(damage):
    with pytest.raises(DataError, match="the file is damaged"):
        check_archive(damage, LIMITS)


# --------------------------------------------------------------------------------------------------
# Small files that once took gigabytes, and large ones, under a bound on memory and time.


def written(tmp_path, name: str, content: bytes):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def packed_bombs(tmp_path, piece: bytes, size: int):
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
    path = packed_bombs(tmp_path, piece, 120 * 2**20)
    answer = read_limited(path, gigabytes=0.7)
    assert "expected" in answer
    assert not answer.startswith("table")


def test_a_gzip_bomb_beyond_the_limit_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("HIPAD_LIMIT_UNPACKED_BYTES", "1e8")
    path = packed_bombs(tmp_path, b"\0" * 64, 500 * 2**20)
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
