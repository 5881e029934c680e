"""Study files: what is written is read, unknown fields stay, and damage ends in a sentence."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.data import Options, read_table
from hipad.data.file_format import Limits
from hipad.data.sandbox import digest_of
from hipad.exceptions import DataError
from hipad.reporting.study import (
    Analysis,
    HeldBack,
    RuleProvenance,
    Study,
    StudyNotes,
    StudyTable,
    VersionTried,
)
from hipad.reporting.study_file import StudyFile, is_study_file, read_study, write_study

CSV = "age,kind,=cmd,y\n" + "\n".join(
    f"{20 + n},{'ab'[n % 2]},{'' if n % 5 == 0 else n / 7},{'ill' if n % 3 == 0 else 'well'}"
    for n in range(40)
)


def whole() -> tuple[Study, dict]:
    table = read_table(CSV.encode(), "a.csv")
    study = Study(
        tables=(StudyTable("table", 'a "b".csv', table.sha256),),
        preparation=Options("y", "ill"),
        held_back=HeldBack("split", 0.25, 3),
        rules="age >= 50 => ill\nkind == 'a' => well",
        blocks={"all of it": "age"},
        parameters={"lambda1": 0.1},
        versions=(VersionTried("", {"lambda1": 0.2}, (0.1, -0.2)),),
        analysis=Analysis(refits=0),
        notes=StudyNotes("Title", "Why?", answers={"1": "ä"},
                         provenance=(RuleProvenance("age >= 50 => ill", "Dr. <X>"),)),
    )  # fmt: skip
    return study, {"table": table}


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def changed(content: bytes, name: str, change) -> bytes:
    """A file whose part was changed by whoever also knows of the hashes."""
    import hashlib

    parts = members(content)
    parts[name] = change(parts.get(name, b""))
    manifest = json.loads(parts["manifest.json"])
    if name != "manifest.json":
        manifest["sha256"][name] = hashlib.sha256(parts[name]).hexdigest()
        parts["manifest.json"] = json.dumps(manifest).encode()
    return packed(parts)


def test_a_study_is_read_as_it_was_written():
    study, tables = whole()
    content = write_study(study, tables, '{"kind": "hipad-workbench-session"}')
    found = read_study(content)
    assert found.study == study
    assert found.session == '{"kind": "hipad-workbench-session"}'
    assert digest_of(found.tables["table"]) == digest_of(tables["table"])
    assert found.unknown == ()
    assert is_study_file(content)
    assert write_study(study, tables) == write_study(study, tables)  # no time, no chance
    assert read_study(write_study(study)).tables == {}


def test_a_file_is_read_from_its_path(tmp_path):
    study, tables = whole()
    path = tmp_path / "s.hipad"
    path.write_bytes(write_study(study, tables))
    assert read_study(path).study == study
    assert is_study_file(path)
    with pytest.raises(DataError, match=r"nothing\.hipad"):
        read_study(tmp_path / "nothing.hipad")


def test_what_a_later_version_wrote_is_kept():
    def later(text: bytes) -> bytes:
        raw = json.loads(text)
        raw["mood"] = {"today": "good"}
        raw["notes"]["wishes"] = ["rain"]
        raw["tables"][0]["colour"] = "red"
        return json.dumps(raw).encode()

    study, tables = whole()
    content = changed(write_study(study, tables), "study.json", later)
    content = changed(content, "pictures/one.png", lambda _: b"\x89PNG")
    found = read_study(content)
    assert found.study == study
    assert set(found.unknown) == {"mood", "wishes", "colour", "pictures/one.png"}
    again = members(found.to_bytes())
    raw = json.loads(again["study.json"])
    assert (raw["mood"], raw["notes"]["wishes"]) == ({"today": "good"}, ["rain"])
    assert raw["tables"][0]["colour"] == "red"
    assert again["pictures/one.png"] == b"\x89PNG"


def test_what_was_taken_away_does_not_come_back():
    study, _ = whole()
    first = read_study(write_study(study))
    gone = StudyFile(study.with_notes(answers={}), kept=first.kept)
    assert read_study(gone.to_bytes()).study.notes.answers == {}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("study.json", lambda _: b"{", "study.json is no JSON"),
        ("study.json", lambda _: b"[]", "does not say what it holds"),
        ("study.json", lambda _: b'{"rules": 3}', "rules: expected a text"),
        ("study.json", lambda _: b"[" * 100_000, "study.json is no JSON"),
        ("study.json", lambda _: b"\xff\xfe", "study.json is no text"),
        ("manifest.json", lambda _: b'{"format": "other"}', "expected a study"),
        ("manifest.json", lambda _: b'{"format": "hipad-study"}', "its manifest"),
        (
            "manifest.json",
            lambda text: text.replace(b'"version": 1', b'"version": 2'),
            "a newer HIPAD Workbench",
        ),
        ("data/table/numbers", lambda old: old[:-8], "damaged"),
        ("data/table/facts.json", lambda _: b"{}", "damaged"),
        (
            "data/table/facts.json",
            lambda old: old.replace(b'"sha256": "', b'"sha256": "f'),
            "expected the file",
        ),
    ],
)
def test_damage_is_a_sentence(name, change, words):
    content = changed(write_study(*whole()), name, change)
    with pytest.raises(DataError, match=words):
        read_study(content)


def test_another_content_than_the_manifest_says_is_refused():
    parts = members(write_study(*whole()))
    parts["study.json"] = parts["study.json"].replace(b"age >= 50", b"age >= 51")
    with pytest.raises(DataError, match=r"study\.json is not what was written"):
        read_study(packed(parts))
    del parts["study.json"]
    with pytest.raises(DataError, match="expected a study"):
        read_study(packed(parts))
    with pytest.raises(DataError, match="expected a study"):
        read_study(packed({"a.csv": b"1"}))


def test_a_file_beyond_the_limits_is_refused():
    content = write_study(*whole())
    with pytest.raises(DataError, match="at most 100 bytes"):
        read_study(content, Limits(file_bytes=100))
    with pytest.raises(DataError, match="once unpacked"):
        read_study(content, Limits(unpacked_bytes=100))
    with pytest.raises(DataError, match="at most 10 rows"):
        read_study(content, Limits(rows=10))


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(0, 255))
def test_any_damaged_byte_is_a_sentence_or_no_harm(at, byte):
    study, tables = whole()
    content = bytearray(write_study(study, tables))
    content[at % len(content)] = byte
    try:
        found = read_study(bytes(content))
    except DataError:
        return
    assert found.study == study  # of a byte that says nothing, such as a time
    np.testing.assert_array_equal(found.tables["table"].numbers, tables["table"].numbers)
