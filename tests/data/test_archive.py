"""ZIP archives are looked at before anything is unpacked."""

import io
import zipfile

import pytest

from hipad.data import limits as archive
from hipad.data.limits import LIMITS, Limits, check_archive
from hipad.exceptions import DataError
from tests.data.archives import zipped


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
