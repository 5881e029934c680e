"""A study as one file, `.hipad`: what was decided, the session of the app, the data if wanted.

The file is a ZIP archive. `study.json` holds the `Study` as plain values, `session.json` the
session of the app where there is one, and `data/<role>/` the parts of a table as the store keeps
them: plain bytes and JSON. `manifest.json` names the format, its version and the SHA-256 of every
part. Nothing in it is code, and nothing is taken that does not fit.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, get_args

import numpy as np

from hipad import __version__
from hipad.data import LIMITS, Table
from hipad.data.file_format import Limits, check_archive
from hipad.data.sandbox import Array, blocks_of, load_table
from hipad.estimator.serialization import of_any_version, plain, rebuild
from hipad.exceptions import DataError, unopened
from hipad.reporting.study import Study, TableRole
from hipad.utils import some

FORMAT: Final = "hipad-study"
VERSION: Final = 1
ENDING: Final = ".hipad"
MANIFEST, STUDY, SESSION, DATA = "manifest.json", "study.json", "session.json", "data"
ZIP: Final = b"PK\x03\x04"
MOST_TEXT: Final = 64 * 2**20  # bytes of a part that is JSON
WHEN: Final = (1980, 1, 1, 0, 0, 0)  # the same study is the same file, whenever it is written


@dataclass(frozen=True, eq=False)
class StudyFile:
    """What a study file holds.

    Attributes
    ----------
    study : Study
        What was decided.
    tables : dict of role to Table
        The data, where the file holds them.
    session : str
        The session of the app as JSON; empty where the file is of the command line.
    unknown : tuple of str
        Fields and parts that a later version wrote; they are kept when the file is written again.
    kept : dict, others : dict
        The study as it was read, and the parts that are not known here.
    """

    study: Study
    tables: Mapping[TableRole, Table] = field(default_factory=dict)
    session: str = ""
    unknown: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, bytes] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return the content of the file; the same for the same study."""
        target = io.BytesIO()
        hashes: dict[str, str] = {}
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:

            def put(name: str, content: bytes | bytearray) -> None:
                hashes[name] = hashlib.sha256(content).hexdigest()
                archive.writestr(_entry(name), bytes(content))

            summary = with_unknown(self.study, self.kept)
            put(STUDY, json.dumps(summary, indent=1, allow_nan=False).encode("ascii"))
            if self.session:
                put(SESSION, self.session.encode("utf-8"))
            for role, table in self.tables.items():
                parts: dict[str, bytearray] = {}
                for name, block in blocks_of(table):
                    parts.setdefault(name, bytearray()).extend(block)
                for name, content in parts.items():
                    put(f"{DATA}/{role}/{name}", content)
            for name, other in self.others.items():
                put(name, other)
            manifest = {
                "format": FORMAT,
                "version": VERSION,
                "library": __version__,
                "sha256": hashes,
            }
            archive.writestr(_entry(MANIFEST), json.dumps(manifest, indent=1).encode("ascii"))
        return target.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, WHEN)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def with_unknown(value: Any, kept: Any) -> Any:
    """Return a dataclass as plain values, with the fields of `kept` that its class does not have.

    >>> with_unknown(Study(rules="a"), {"rules": "b", "mood": "good"})["mood"]
    'good'
    """
    if is_dataclass(value) and not isinstance(value, type) and isinstance(kept, Mapping):
        own = {
            f.name: with_unknown(getattr(value, f.name), kept.get(f.name)) for f in fields(value)
        }
        return {**{name: item for name, item in kept.items() if name not in own}, **own}
    if isinstance(value, tuple) and isinstance(kept, list) and len(value) == len(kept):
        return [with_unknown(one, old) for one, old in zip(value, kept, strict=True)]
    return plain(value)


def is_study_file(source: bytes | Path) -> bool:
    """Return whether this begins as a study file does: as a ZIP archive."""
    if isinstance(source, bytes):
        return source.startswith(ZIP)
    try:
        with source.open("rb") as file:
            return file.read(len(ZIP)) == ZIP
    except (OSError, ValueError) as error:
        raise unopened(source, error) from error


def write_study(
    study: Study, tables: Mapping[TableRole, Table] | None = None, session: str = ""
) -> bytes:
    """Return a study as the content of a `.hipad` file.

    Parameters
    ----------
    study : Study
        What was decided.
    tables : mapping from role to Table, default=None
        The data, where they are to be in the file; they hold the IDs of the rows as well.
    session : str
        The session of the app as JSON.
    """
    return StudyFile(study, dict(tables or {}), session).to_bytes()


def read_study(source: bytes | Path, limits: Limits = LIMITS) -> StudyFile:
    """Return what a study file holds; DataError says what is wrong with it.

    Parameters
    ----------
    source : bytes or Path
        The file.
    limits : Limits
        What it may cost.
    """
    if isinstance(source, Path):
        try:
            if source.stat().st_size > limits.file_bytes:
                raise DataError(f"expected a file of at most {limits.file_bytes:,} bytes, got more")
            source = source.read_bytes()
        except OSError as error:
            raise unopened(source, error) from error
    if len(source) > limits.file_bytes:
        raise DataError(f"expected a file of at most {limits.file_bytes:,} bytes, got more")
    names = check_archive(source, limits)
    if MANIFEST not in names or STUDY not in names:
        raise DataError(
            f"expected a study ({ENDING}), got another ZIP archive: give the file that Save study "
            "or `hipad report --study` wrote"
        )
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        parts = _Parts(archive)
        hashes = _manifest(parts)
        for name in names:
            if name != MANIFEST and hashes.get(name) != parts.sha256(name):
                raise DataError(f"the study is damaged: {name} is not what was written")
        if missing := [name for name in hashes if name not in names]:
            raise DataError(f"the study is damaged: it lacks {some(missing)}")
        return _study_file(parts, names, limits)


def _manifest(parts: _Parts) -> dict[str, str]:
    summary = parts.json(MANIFEST)
    if summary.get("format") != FORMAT:
        raise DataError(f"expected a study ({ENDING}), got another file")
    version, hashes = summary.get("version"), summary.get("sha256")
    if not isinstance(version, int) or isinstance(version, bool) or not isinstance(hashes, dict):
        raise DataError("the study is damaged: its manifest does not say what it holds")
    if version > VERSION:
        raise DataError(
            f"expected a study of version {VERSION}, got {version}: it was written by a newer "
            "HIPAD Workbench; install that"
        )
    return hashes


def _study_file(parts: _Parts, names: list[str], limits: Limits) -> StudyFile:
    raw = parts.json(STUDY)
    try:
        with of_any_version() as unknown:
            study: Study = rebuild(Study, raw)
    except ValueError as error:
        raise DataError(f"the study cannot be used: {error}") from error
    session = ""
    known = {MANIFEST, STUDY}
    if SESSION in names:
        session = parts.text(SESSION)
        known.add(SESSION)
    tables: dict[TableRole, Table] = {}
    for role in get_args(TableRole):
        own = [name for name in names if name.startswith(f"{DATA}/{role}/")]
        if own:
            tables[role] = load_table(_TableParts(parts, f"{DATA}/{role}/"), limits)
            known.update(own)
    for role, table in tables.items():
        study.check_table(role, table.sha256)
    others = {name: parts.bytes(name) for name in names if name not in known}
    return StudyFile(study, tables, session, (*dict.fromkeys(unknown), *others), raw, others)


class _Parts:
    """The members of an archive, each within bounds; damage is a sentence."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def bytes(self, name: str) -> bytes:
        try:
            return self._archive.read(name)
        except (OSError, EOFError, KeyError, RuntimeError, ValueError, zlib.error,
                zipfile.BadZipFile, NotImplementedError) as error:  # fmt: skip
            raise DataError(f"the study is damaged: {name} cannot be unpacked") from error

    def sha256(self, name: str) -> str:
        return hashlib.sha256(self.bytes(name)).hexdigest()

    def text(self, name: str) -> str:
        if self._archive.getinfo(name).file_size > MOST_TEXT:
            raise DataError(f"expected {name} of at most {MOST_TEXT:,} bytes, got more")
        try:
            return self.bytes(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"the study is damaged: {name} is no text") from error

    def json(self, name: str) -> dict[str, Any]:
        try:
            summary = json.loads(self.text(name))
        except (ValueError, RecursionError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"the study is damaged: {name} is no JSON") from error
        if not isinstance(summary, dict):
            raise DataError(f"the study is damaged: {name} does not say what it holds")
        return summary


class _TableParts:
    """The parts of one table in an archive: `hipad.data.sandbox.Parts`."""

    def __init__(self, parts: _Parts, folder: str) -> None:
        self._parts, self._folder = parts, folder

    def size(self, name: str) -> int:
        return len(self._parts.bytes(self._folder + name))

    def array(self, name: str, dtype: str) -> Array:
        return np.frombuffer(self._parts.bytes(self._folder + name), dtype).copy()

    def open(self, name: str) -> BinaryIO:
        return io.BytesIO(self._parts.bytes(self._folder + name))
