"""Saved sessions in one SQLite file on this computer: written, listed, read, removed.

    <folder>/kept.sqlite3      works of all browsers, and the tables that they need
    <folder>/kept.sqlite3-wal  and -shm: SQLite's own, while the file is in use

Every change is one transaction, so several servers may share a folder, and a crash or a full disk
leaves what was there before. A table is stored once for each content, named by a digest of all that
it holds. A work that this version cannot read stays, with its tables, until somebody deletes it.

An owner is a browser, told by a name that nobody else knows (`autosave.py`). Only the account that
runs the server can read the file. Works of version 0.1 before this file was there, which were
folders of files, are taken over when the store is opened.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import secrets
import shutil
import sqlite3
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from hipad.data import LIMITS, Table
from hipad.data.file_format import stated_number
from hipad.data.sandbox import FACTS, Array, blocks_of, digest_of, load_table
from hipad.exceptions import DataError
from ui.session.saved_session import SavedSession, Snapshot, read_saved_session

# --------------------------------------------------------------------------------------------------
# Where work is kept: in the folder that the system has for an account's own files. Environment
# variables change the place and the limits; SECURITY.md names them.

NAME: Final = "hipad-workbench"
ON: Final = ("on", "yes", "true", "1")
OFF: Final = ("off", "no", "false", "0")


@dataclass(frozen=True)
class StorageConfig:
    """A folder for kept work, and its limits."""

    folder: Path
    is_on: bool = True
    most_works: int = 20  # of one browser
    most_bytes: int = 2 * 2**30  # of all of them

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> StorageConfig:
        """The place that the environment asks for, or the usual one."""
        return cls(
            folder=_given_folder(environment) or usual_folder(environment),
            is_on=_is_on(environment.get("HIPAD_KEEP", "")),
            most_works=stated_number("HIPAD_KEEP_WORKS", cls.most_works, environment, least=0),
            most_bytes=stated_number("HIPAD_KEEP_BYTES", cls.most_bytes, environment, least=0),
        )


def _is_on(text: str) -> bool:
    """Whether to keep work; a word that is neither on nor off must not keep what it should not."""
    word = text.strip().lower()
    if word in OFF:
        return False
    if word and word not in ON:
        raise DataError(f"expected on or off in HIPAD_KEEP, got {text!r}: write one of them")
    return True


def _given_folder(environment: Mapping[str, str]) -> Path | None:
    given = environment.get("HIPAD_KEEP_FOLDER", "")
    try:
        return Path(given).expanduser() if given else None
    except RuntimeError as error:  # an account that is not there
        raise DataError(
            f"expected a folder in HIPAD_KEEP_FOLDER, got {given!r}, whose account is not known: "
            "write the whole path"
        ) from error


def usual_folder(environment: Mapping[str, str], system: str = sys.platform) -> Path:
    """Where programs keep their state on this kind of system.

    >>> usual_folder({"XDG_STATE_HOME": "/var/me"}, "linux").as_posix()
    '/var/me/hipad-workbench'
    """
    home = Path(environment.get("HOME") or Path.home())
    if system == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / NAME
    if system == "darwin":
        return home / "Library" / "Application Support" / NAME
    return Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state") / NAME


# --------------------------------------------------------------------------------------------------
# The store.

LOGGER: Final = logging.getLogger(__name__)
FILE: Final = "kept.sqlite3"
VERSION: Final = 1  # of the file's tables
PRIVATE_FOLDER: Final = 0o700
PRIVATE_FILE: Final = 0o600
WORD: Final = re.compile(r"[0-9a-f]{16,64}")
ROLES: Final = ("table", "test", "unlabelled")  # tables of a work's own
CHUNK: Final = 2**24  # bytes of a table in one row of the file
WAIT: Final = 30.0  # seconds for another server that is writing
READERS_WAIT: Final = 2.0  # seconds: a page waits for it

# A work's content is the JSON of `work.py`. What it needs is told beside it, so its tables stay
# where the content cannot be read. The holder is the session that wrote it last or took it up.
TABLES: Final = """
CREATE TABLE browser (owner TEXT PRIMARY KEY, wants INTEGER NOT NULL);
CREATE TABLE work (
    owner TEXT NOT NULL, name TEXT NOT NULL, saved REAL NOT NULL, holder TEXT NOT NULL,
    content BLOB NOT NULL, PRIMARY KEY (owner, name)
);
CREATE TABLE stored (digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL);
CREATE TABLE part (
    digest TEXT NOT NULL REFERENCES stored ON DELETE CASCADE,
    name TEXT NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (digest, name, number)
);
CREATE TABLE need (
    owner TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL REFERENCES stored,
    PRIMARY KEY (owner, name, digest),
    FOREIGN KEY (owner, name) REFERENCES work ON DELETE CASCADE
);
CREATE INDEX needed ON need (digest);
"""


@dataclass(frozen=True)
class StoredSession:
    """A work that can be taken up; `saved` is when it was written, in seconds since 1970.

    `unknown` names fields that a later version wrote: such a work is taken up as a copy without
    them, and itself stays as it is.
    """

    owner: str
    name: str
    work: SavedSession
    saved: float
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnreadableSession:
    """A work that this version cannot read, and why."""

    owner: str
    name: str
    saved: float
    problem: str
    title: str = ""


class Store:
    """The works of one place."""

    def __init__(self, place: StorageConfig, clock: Callable[[], float] = time.time) -> None:
        self.place = place
        self.file = place.folder / FILE
        self._clock = clock
        self._idle: list[tuple[sqlite3.Connection, object]] = []  # and which file each has open
        self._digests: dict[int, tuple[weakref.ref[Table], str]] = {}  # by a table's identity
        self._read: dict[
            tuple[str, str], StoredSession | UnreadableSession
        ] = {}  # as long as they stay as they are

    def put(self, owner: str, name: str, taken: Snapshot, holder: str = "") -> str:
        """Write a work with its tables, and return its name; the oldest go when there is too much.

        A work that another session has taken up or written since stays, and this one is written
        under a new name.
        """
        digests = {role: self._digest(table) for role, table in taken.own.items()}
        for table in taken.own.values():
            self._check_size(table)
        own: dict[str, Any] = {role: digests.get(role, "") for role in ROLES}
        work = replace(taken.work, **own)
        with self._changing() as db:
            query = "SELECT holder FROM work WHERE owner = ? AND name = ?"
            found = db.execute(query, (owner, name)).fetchone()
            if found is not None and found[0] != holder:
                name = secrets.token_hex(16)
            for role, table in taken.own.items():
                _put_parts(db, digests[role], blocks_of(table))
            needed = set(digests.values())
            _put_work(db, owner, name, self._clock(), holder, work.to_json().encode(), needed)
            self._prune(db, owner, name)
        return name

    def claim(self, kept: StoredSession, holder: str) -> bool:
        """Note who goes on with a work; False where it is no longer as it was read."""
        change = "UPDATE work SET holder = ? WHERE owner = ? AND name = ? AND saved = ?"
        with self._changing() as db:
            done = db.execute(change, (holder, kept.owner, kept.name, kept.saved))
            return done.rowcount == 1

    def works(self, owner: str) -> list[StoredSession]:
        """Return the works of an owner that can be read, newest first."""
        return [work for work in self._works(owner) if isinstance(work, StoredSession)]

    def unreadable(self, owner: str) -> list[UnreadableSession]:
        """Return the works of an owner that cannot be read, newest first."""
        return [work for work in self._works(owner) if isinstance(work, UnreadableSession)]

    def owners(self) -> list[str]:
        """Return every browser that keeps something here."""
        with self._looking() as db:
            found = [] if db is None else db.execute("SELECT DISTINCT owner FROM work").fetchall()
        return [owner for (owner,) in found]

    def tables(self, kept: StoredSession) -> dict[str, Table]:
        """Return the tables of a work's own; DataError when they are gone or damaged."""
        names = {role: getattr(kept.work, role) for role in ROLES}
        found = {}
        with self._looking() as db:
            for role, digest in names.items():
                if digest and db is not None:
                    found[role] = load_table(StoredParts(db, digest), LIMITS)
                    self._know(found[role], digest)
        return found

    def remove(self, owner: str, name: str) -> None:
        """Remove a work, and tables that no other one needs."""
        with self._changing() as db:
            db.execute("DELETE FROM work WHERE owner = ? AND name = ?", (owner, name))
            _sweep(db)
        self._shrink()

    def remove_all(self, owner: str) -> None:
        """Remove all works and tables of an owner; the choice whether to keep stays."""
        with self._changing() as db:
            db.execute("DELETE FROM work WHERE owner = ?", (owner,))
            _sweep(db)
        self._shrink()

    def wants(self, owner: str) -> bool:
        """Return whether this browser's work is to be kept."""
        if not self.place.is_on:
            return False
        try:
            with self._looking() as db:
                query = "SELECT wants FROM browser WHERE owner = ?"
                found = None if db is None else db.execute(query, (owner,)).fetchone()
        except DataError:  # the attempt to write says what is wrong
            return True
        return found is None or bool(found[0])

    def want(self, owner: str, on: bool) -> None:
        """Keep this browser's work from now on, or do not."""
        with self._changing() as db:
            db.execute("INSERT OR REPLACE INTO browser VALUES (?, ?)", (owner, int(on)))

    def bytes(self) -> int:
        """Return what all kept works take together."""
        with self._looking() as db:
            return 0 if db is None else _bytes(db)

    def close(self) -> None:
        """Close the file."""
        while self._idle:
            self._idle.pop()[0].close()

    def _digest(self, table: Table) -> str:
        known = self._digests.get(id(table))
        if known is not None and known[0]() is table:
            return known[1]
        return self._know(table, digest_of(table))

    def _know(self, table: Table, digest: str) -> str:
        """Remember a table's digest as long as somebody else holds the table."""
        key = id(table)
        gone = weakref.ref(table, lambda _: self._digests.pop(key, None))
        self._digests[key] = gone, digest
        return digest

    def _check_size(self, table: Table) -> None:
        if (size := bytes_of(table)) > self.place.most_bytes:
            raise DataError(
                f"expected data of at most {self.place.most_bytes:,} bytes to keep, got {size:,}: "
                "raise HIPAD_KEEP_BYTES"
            )

    def _works(self, owner: str) -> list[StoredSession | UnreadableSession]:
        with self._looking() as db:
            found = [] if db is None else self._read_all(db, owner)
        return sorted(found, key=lambda kept: -kept.saved)

    def _read_all(
        self, db: sqlite3.Connection, owner: str, but: tuple[str, str] = ("", "")
    ) -> list[StoredSession | UnreadableSession]:
        there = db.execute("SELECT name, saved FROM work WHERE owner = ?", (owner,)).fetchall()
        found = []
        for name, saved in there:
            if (owner, name) == but:
                continue
            known = self._read.get((owner, name))
            if known is None or known.saved != saved:
                query = "SELECT content FROM work WHERE owner = ? AND name = ?"
                row = db.execute(query, (owner, name)).fetchone()
                if row is None:  # removed meanwhile
                    continue
                known = self._read[(owner, name)] = _read(owner, name, saved, row[0])
            found.append(known)
        names = {name for name, _ in there}
        for key in [key for key in self._read if key[0] == owner and key[1] not in names]:
            self._read.pop(key, None)
        return found

    def _prune(self, db: sqlite3.Connection, owner: str, name: str) -> None:
        """Let the oldest works go: those of this browser by number, those of all by size.

        What cannot be read is never let go in this way.
        """
        mine = self._newest_first(db, [owner], but=(owner, name))
        for kept in mine[max(0, self.place.most_works - 1) :]:
            _delete(db, kept)
        _sweep(db)
        if _bytes(db) <= self.place.most_bytes:
            return
        owners = [other for (other,) in db.execute("SELECT DISTINCT owner FROM work")]
        others = self._newest_first(db, owners, but=(owner, name))
        while others and _bytes(db) > self.place.most_bytes:
            _delete(db, others.pop())
            _sweep(db)
        if _bytes(db) > self.place.most_bytes:
            raise DataError(
                f"expected at most {self.place.most_bytes:,} bytes of kept works, works that this "
                "version cannot read take the rest: raise HIPAD_KEEP_BYTES, or delete them"
            )

    def _newest_first(
        self, db: sqlite3.Connection, owners: list[str], but: tuple[str, str]
    ) -> list[StoredSession]:
        """Return the works of some owners that can be read, without one of them."""
        found = [
            kept
            for owner in owners
            for kept in self._read_all(db, owner, but=but)
            if isinstance(kept, StoredSession)
        ]
        return sorted(found, key=lambda kept: -kept.saved)

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Give the file for one transaction, which is undone when anything goes wrong."""
        with self._opened(create=True) as db:
            assert db is not None
            db.execute(f"PRAGMA busy_timeout = {int(1000 * WAIT)}")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _looking(self) -> Iterator[sqlite3.Connection | None]:
        """Give the file as it is at one moment; None where there is none."""
        with self._opened(create=False) as db:
            if db is None:
                yield None
                return
            db.execute(f"PRAGMA busy_timeout = {int(1000 * READERS_WAIT)}")
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("ROLLBACK")

    @contextmanager
    def _opened(self, *, create: bool) -> Iterator[sqlite3.Connection | None]:
        """Give a connection that nobody else uses meanwhile; what fails ends in a sentence."""
        try:
            db = self._take(create)
            try:
                yield db
            except BaseException:
                if db is not None:
                    db.close()
                raise
            if db is not None:
                self._idle.append((db, _identity(self.file)))
        except sqlite3.Error as error:
            raise DataError(self._sentence(error)) from error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise DataError(f"{self.place.folder} cannot be used: {reason}") from error

    def _take(self, create: bool) -> sqlite3.Connection | None:
        while self._idle:
            try:
                db, identity = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if identity == _identity(self.file):
                return db
            db.close()  # somebody removed the file, or put another in its place
        if not create and not self.file.exists() and not _is_old(self.place.folder):
            return None
        try:
            return self._open()
        except (sqlite3.OperationalError, OSError):
            if create or not self.file.exists() or self._has_log():
                raise
            # a full or write-protected disk has no room for the files that SQLite reads with
            where = f"{self.file.resolve().as_uri()}?immutable=1"
            return sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)

    def _open(self) -> sqlite3.Connection:
        _make_folder(self.place.folder)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE_FILE))
        db = sqlite3.connect(self.file, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # heeded by a new file only
            db.execute("PRAGMA journal_mode = WAL")  # stays as it is where a disk cannot do it
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA secure_delete = ON")  # what was deleted can be found nowhere
            db.execute(f"PRAGMA journal_size_limit = {CHUNK}")
            _migrate(db, self.place.folder)
            if _is_old(self.place.folder):
                _take_over(db, self.place.folder)
        except BaseException:
            db.close()
            raise
        return db

    def _has_log(self) -> bool:
        """Return whether some of the works are in SQLite's log only."""
        log = self.file.with_name(f"{FILE}-wal")
        return log.exists() and log.stat().st_size > 0

    def _shrink(self) -> None:
        """Give back the room of what was removed, as far as nobody reads at this moment."""
        with contextlib.suppress(DataError), self._opened(create=False) as db:
            if db is not None:
                db.execute("PRAGMA incremental_vacuum").fetchall()
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _sentence(self, error: sqlite3.Error) -> str:
        """Say what is wrong with the file and what to do."""
        code = getattr(error, "sqlite_errorcode", None)
        kind = None if code is None else code & 0xFF  # the rest tells more than is needed
        if kind in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            return f"there is no room left for it, or no leave to write, in {self.place.folder}"
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return f"another server is writing to {self.file}"
        if kind in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return f"{self.file} is damaged or no store of this app: move it to another place"
        if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return f"{self.file} cannot be opened for writing: see to its permissions"
        return f"{self.file} cannot be used ({error})"


class StoredParts:
    """The parts of a table in the store."""

    def __init__(self, db: sqlite3.Connection, digest: str) -> None:
        self._db, self._digest = db, digest

    def size(self, name: str) -> int:
        query = "SELECT count(*), sum(length(data)) FROM part WHERE digest = ? AND name = ?"
        count, size = self._db.execute(query, (self._digest, name)).fetchone()
        if not count:
            raise FileNotFoundError(name)
        return int(size)

    def array(self, name: str, dtype: str) -> Array:
        content = np.empty(self.size(name), dtype=np.uint8)
        at = 0
        for chunk in self._chunks(name):
            content[at : at + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
            at += len(chunk)
        return content.view(dtype)

    def open(self, name: str) -> BinaryIO:
        if not self.size(name) and name == FACTS:
            raise FileNotFoundError(name)
        return io.BytesIO(b"".join(self._chunks(name)))

    def _chunks(self, name: str) -> Iterator[bytes]:
        query = "SELECT data FROM part WHERE digest = ? AND name = ? ORDER BY number"
        for (chunk,) in self._db.execute(query, (self._digest, name)):
            yield chunk


def bytes_of(table: Table) -> int:
    """Return about what a table takes."""
    numbers = table.numbers
    parts = [numbers.data, numbers.indices, numbers.indptr] if table.is_sparse else [numbers]
    return sum(part.nbytes for part in [*parts, *table.text.values()])


def _read(owner: str, name: str, saved: float, content: bytes) -> StoredSession | UnreadableSession:
    try:
        work, unknown = read_saved_session(content)
        return StoredSession(owner, name, work, saved, unknown)
    except DataError as error:
        return UnreadableSession(owner, name, saved, str(error), _title(content))


def _title(content: bytes) -> str:
    """Return what a work that cannot be read is called, as far as that can be told."""
    try:
        title = json.loads(content)["title"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    return title[:200] if isinstance(title, str) else ""


def _put_parts(db: sqlite3.Connection, digest: str, blocks: Iterator[tuple[str, Any]]) -> None:
    """Store a table, unless it is there."""
    if db.execute("SELECT 1 FROM stored WHERE digest = ?", (digest,)).fetchone():
        return
    db.execute("INSERT INTO stored VALUES (?, 0)", (digest,))
    numbers: dict[str, int] = {}
    total = 0
    for name, block in blocks:
        content = memoryview(block).cast("B") if len(block) else memoryview(b"")
        for start in range(0, max(1, len(content)), CHUNK):
            number = numbers[name] = numbers.get(name, -1) + 1
            chunk = content[start : start + CHUNK]
            db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (digest, name, number, chunk))
            total += len(chunk)
    db.execute("UPDATE stored SET bytes = ? WHERE digest = ?", (total, digest))


def _put_work(
    db: sqlite3.Connection,
    owner: str,
    name: str,
    saved: float,
    holder: str,
    content: bytes,
    needed: set[str],
) -> None:
    db.execute("DELETE FROM work WHERE owner = ? AND name = ?", (owner, name))
    db.execute("INSERT INTO work VALUES (?, ?, ?, ?, ?)", (owner, name, saved, holder, content))
    rows = [(owner, name, digest) for digest in sorted(needed)]
    db.executemany("INSERT INTO need VALUES (?, ?, ?)", rows)


def _delete(db: sqlite3.Connection, kept: StoredSession) -> None:
    db.execute("DELETE FROM work WHERE owner = ? AND name = ?", (kept.owner, kept.name))


def _sweep(db: sqlite3.Connection) -> None:
    """Remove the tables that no work needs, readable or not."""
    db.execute("DELETE FROM stored WHERE digest NOT IN (SELECT digest FROM need)")


def _bytes(db: sqlite3.Connection) -> int:
    (stored,) = db.execute("SELECT total(bytes) FROM stored").fetchone()
    (works,) = db.execute("SELECT total(length(content)) FROM work").fetchone()
    return int(stored + works)


def _migrate(db: sqlite3.Connection, folder: Path) -> None:
    """Make the tables of a new file; later versions change those of an earlier one here."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    if version > VERSION:
        raise DataError(
            f"{folder / FILE} was written by a later version of this app: use that version, or "
            "another folder (HIPAD_KEEP_FOLDER)"
        )
    db.execute("BEGIN IMMEDIATE")
    try:
        (version,) = db.execute("PRAGMA user_version").fetchone()  # another server may be faster
        if version == 0:
            for statement in TABLES.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _is_old(folder: Path) -> bool:
    """Return whether there are works as folders of files."""
    with contextlib.suppress(OSError):
        return any(folder.glob("*/works")) or any(folder.glob("*/off"))
    return False


def _take_over(db: sqlite3.Connection, folder: Path) -> None:
    """Bring works that are folders of files into the store; each goes when it is stored whole."""
    for place in [path for path in folder.iterdir() if path.is_dir() and WORD.fullmatch(path.name)]:
        try:
            _take_over_owner(db, place)
        except (OSError, sqlite3.Error) as error:  # tried again when the store is opened next
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            LOGGER.warning("Earlier works could not be taken over: %s", type(error).__name__)


def _take_over_owner(db: sqlite3.Connection, place: Path) -> None:
    owner, tables = place.name, place / "tables"
    there = {path.name: path for path in tables.glob("*") if WORD.fullmatch(path.name)}
    if (place / "off").exists():
        db.execute("INSERT OR IGNORE INTO browser VALUES (?, 0)", (owner,))
        (place / "off").unlink(missing_ok=True)
    for path in sorted((place / "works").glob("*.json")):
        content, saved, name = path.read_bytes(), path.stat().st_mtime, path.stem
        named = _named_tables(content)
        needed = {n for n in there if named is None or n in named}  # None: any may be its own
        db.execute("BEGIN IMMEDIATE")
        query = "SELECT content FROM work WHERE owner = ? AND name = ?"
        found = db.execute(query, (owner, name)).fetchone()
        if found is None or bytes(found[0]) != content:
            for digest in needed:
                _put_parts(db, digest, _files(there[digest]))
            fresh = name if found is None else secrets.token_hex(16)
            _put_work(db, owner, fresh, saved, "", content, needed)
        db.execute("COMMIT")
        path.unlink(missing_ok=True)
    if not any((place / "works").glob("*.json")):  # a server of before may still write
        shutil.rmtree(place, ignore_errors=True)


def _named_tables(content: bytes) -> set[str] | None:
    """Return the tables that a work names; None where it cannot be told."""
    try:
        raw = json.loads(content)
        return {str(raw.get(role, "")) for role in ROLES} | {""}
    except (ValueError, AttributeError, RecursionError):
        return None


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a table's folder in blocks."""
    for path in sorted(folder.iterdir()):
        yield path.name, b""
        with path.open("rb") as file:
            while block := file.read(CHUNK):
                yield path.name, block


def _identity(path: Path) -> object:
    """Return what tells a file from another that takes its place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _make_folder(path: Path) -> None:
    """Make a folder that only this account may look into, as those made on the way to it."""
    if not path.exists():
        _make_folder(path.parent)
        path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
