"""Kept works as folders on this computer: written, listed, read, removed.

    <place>/<owner>/works/<name>.json      a work, see `work.py`
    <place>/<owner>/tables/<digest>/       a table of its own, once for each content
    <place>/<owner>/off                    this browser wants nothing kept

An owner is a browser, told by a name that nobody else knows (`owner.py`). Only the account that
runs the server can read these files. A file is written beside its place and moved there when it is
whole; a damaged one ends in a sentence.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from hipad.data import LIMITS, Table
from hipad.data.process.handing import load_table, save_table
from hipad.data.writing import write_text
from hipad.errors import DataError
from ui.session.place import Place
from ui.session.work import Snapshot, Work, read_work

PRIVATE: Final = 0o700
WORD: Final = re.compile(r"[0-9a-f]{16,64}")
ROLES: Final = ("table", "test", "unlabelled")  # tables of a work's own
BLOCK: Final = 2**24  # bytes of a table that are looked at together


@dataclass(frozen=True)
class Kept:
    """A work that can be taken up; `saved` is when it was written, in seconds since 1970."""

    owner: str
    name: str
    work: Work
    saved: float


class Shelf:
    """The works of one place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._digest: dict[int, tuple[Table, str]] = {}  # of the last tables, by their identity
        self._read: dict[Path, Kept] = {}  # works that were read, as long as they stay as they are

    def put(self, owner: str, name: str, taken: Snapshot) -> None:
        """Write a work, its tables first; the oldest others go when there is too much."""
        works, tables = (_folder(self.place.folder / owner / name) for name in ("works", "tables"))
        known = {id(table): (table, self._digest_of(table)) for table in taken.own.values()}
        self._digest = known
        for table, digest in known.values():
            self._put_table(table, tables / digest)
        names = {role: known[id(table)][1] for role, table in taken.own.items()}
        work = replace(
            taken.work,
            table=names.get("table", ""),
            test=names.get("test", ""),
            unlabelled=names.get("unlabelled", ""),
        )
        write_text(works / f"{name}.json", work.to_json())
        self._prune(owner, name)

    def works(self, owner: str) -> list[Kept]:
        """The works of an owner that can be read, newest first."""
        return sorted(self._read_all(owner), key=lambda kept: -kept.saved)

    def owners(self) -> list[str]:
        """Every browser that keeps something here."""
        if not self.place.folder.is_dir():
            return []
        return [path.name for path in self.place.folder.iterdir() if WORD.fullmatch(path.name)]

    def tables(self, kept: Kept) -> dict[str, Table]:
        """The tables of a work's own; DataError when they are gone or damaged."""
        folder = self.place.folder / kept.owner / "tables"
        names = {role: getattr(kept.work, role) for role in ROLES}
        return {
            role: load_table(folder / name, LIMITS, keep=True)
            for role, name in names.items()
            if WORD.fullmatch(name)
        }

    def remove(self, owner: str, name: str) -> None:
        """Remove a work, and tables that no other one needs."""
        (self.place.folder / owner / "works" / f"{name}.json").unlink(missing_ok=True)
        self._sweep(owner)

    def remove_all(self, owner: str) -> None:
        """Remove all works and tables of an owner; the choice whether to keep stays."""
        for name in ("works", "tables"):
            shutil.rmtree(self.place.folder / owner / name, ignore_errors=True)

    def wants(self, owner: str) -> bool:
        """Whether this browser's work is to be kept."""
        return self.place.is_on and not (self.place.folder / owner / "off").exists()

    def want(self, owner: str, on: bool) -> None:
        """Keep this browser's work from now on, or do not."""
        mark = _folder(self.place.folder / owner) / "off"
        if on:
            mark.unlink(missing_ok=True)
        else:
            mark.touch()

    def _digest_of(self, table: Table) -> str:
        known = self._digest.get(id(table))
        return known[1] if known is not None else digest_of(table)

    def _put_table(self, table: Table, target: Path) -> None:
        if target.exists():
            return
        if (size := bytes_of(table)) > self.place.most_bytes:
            raise DataError(
                f"expected data of at most {self.place.most_bytes:,} bytes to keep, got {size:,}: "
                "raise HIPAD_KEEP_BYTES"
            )
        beside = _folder(target.with_name(f".{secrets.token_hex(8)}"))
        try:
            save_table(table, beside)
            beside.replace(target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def _read_all(self, owner: str) -> Iterator[Kept]:
        for path in (self.place.folder / owner / "works").glob("*.json"):
            try:
                known = self._read.get(path)
                saved = path.stat().st_mtime
                if known is None or known.saved != saved:
                    known = Kept(owner, path.stem, read_work(path.read_bytes()), saved)
                    self._read[path] = known
                yield known
            except (DataError, OSError):
                continue  # written by another version, or damaged: not offered

    def _prune(self, owner: str, name: str) -> None:
        """Let the oldest works go: those of this browser by number, those of all by size."""
        for path in _oldest_last(self.place.folder / owner)[self.place.most_works :]:
            if path.stem != name:
                path.unlink(missing_ok=True)
        self._sweep(owner)
        others = _oldest_last(*(self.place.folder / other for other in self.owners()))
        while others and self._bytes() > self.place.most_bytes:
            path = others.pop()
            if path.stem != name:
                path.unlink(missing_ok=True)
                self._sweep(path.parent.parent.name)

    def _sweep(self, owner: str) -> None:
        """Remove the tables that no work of an owner needs."""
        needed = {name for kept in self._read_all(owner) for name in kept.work.tables}
        for folder in (self.place.folder / owner / "tables").glob("*"):
            if folder.name not in needed:
                shutil.rmtree(folder, ignore_errors=True)

    def _bytes(self) -> int:
        files = (path for path in self.place.folder.rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in files)


def digest_of(table: Table) -> str:
    """A name for a table's content: the same for the same names, numbers and texts."""
    known = hashlib.sha256(repr((table.number_names, list(table.text), table.label)).encode())
    numbers = table.numbers
    parts = [numbers.data, numbers.indices, numbers.indptr] if table.is_sparse else [numbers]
    for part in [*parts, *table.text.values()]:
        known.update(repr((part.dtype.str, part.shape)).encode())
        step = max(1, BLOCK // max(1, part[:1].nbytes))
        for start in range(0, len(part), step):
            known.update(np.ascontiguousarray(part[start : start + step]).tobytes())
    return known.hexdigest()


def bytes_of(table: Table) -> int:
    """About what a table takes."""
    numbers = table.numbers
    parts = [numbers.data, numbers.indices, numbers.indptr] if table.is_sparse else [numbers]
    return sum(part.nbytes for part in [*parts, *table.text.values()])


def _oldest_last(*folders: Path) -> list[Path]:
    """The works of some owners, newest first."""
    works = [path for folder in folders for path in (folder / "works").glob("*.json")]
    return sorted(works, key=lambda path: -path.stat().st_mtime)


def _folder(path: Path) -> Path:
    """A folder that only this account may look into, as those made on the way to it."""
    if not path.exists():
        _folder(path.parent)
        path.mkdir(mode=PRIVATE, exist_ok=True)
    return path
