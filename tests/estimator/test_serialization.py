"""A sealed file is read as it was written, and any other one says what it is."""

from __future__ import annotations

import json

import pytest

from hipad.estimator.serialization import FORMAT, checksum, read_sealed, write_sealed
from hipad.exceptions import DataError

CONTENT = {"intercept": 0.1 + 0.2, "names": ["a", "Ünï ✓"], "nothing": None}


@pytest.fixture
def sealed(tmp_path):
    write_sealed(tmp_path / "m.json", CONTENT)
    return tmp_path / "m.json"


def test_what_was_written_is_read_to_the_last_digit(sealed):
    assert read_sealed(sealed) == CONTENT


def test_the_order_of_parts_does_not_matter_but_every_value_does():
    turned = dict(reversed(CONTENT.items()))
    assert checksum(turned) == checksum(CONTENT)
    assert checksum({**CONTENT, "intercept": 0.3}) != checksum(CONTENT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got something else"),
        ("not json", "got something else"),
        ("[" * 100_000, "got something else"),
        ('{"format": NaN}', "is no number of JSON"),
        ('{"a": 1}', "expected a JSON file of format 'hipad-model'"),
        ("[1, 2]", "expected a JSON file of format"),
        ('{"format": "hipad-model", "version": 99, "library": "9.9"}', "saved by hipad 9.9"),
    ],
)
def test_a_wrong_file_says_so(text, message, tmp_path):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(DataError, match=message):
        read_sealed(tmp_path / "m.json")


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(DataError, match="cannot be opened"):
        read_sealed(tmp_path / "none.json")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_that_was_cut_off_says_so(sealed, share):
    text = sealed.read_text("utf-8")
    sealed.write_text(text[: int(share * len(text))], "utf-8")
    with pytest.raises(DataError, match="give the whole file"):
        read_sealed(sealed)


def test_an_edited_file_says_so(sealed):
    document = json.loads(sealed.read_text("utf-8"))
    assert document["format"] == FORMAT
    document["content"]["intercept"] += 1.0
    sealed.write_text(json.dumps(document))
    with pytest.raises(DataError, match="damaged or was edited"):
        read_sealed(sealed)


def test_a_file_without_end_is_not_read_to_its_end(monkeypatch, sealed):
    monkeypatch.setattr("hipad.estimator.serialization.MOST_BYTES", 100)
    with pytest.raises(DataError, match="at most 100 bytes"):
        read_sealed(sealed)


def test_a_number_that_json_has_not_is_never_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_sealed(tmp_path / "m.json", {"intercept": float("nan")})
    assert list(tmp_path.iterdir()) == []
