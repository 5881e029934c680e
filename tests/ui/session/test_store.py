from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from hipad.data import Table, read_table
from hipad.data.file_format import Reading
from hipad.data.sandbox import digest_of, save_table
from hipad.exceptions import DataError, HipadError
from tests.ui.session.saved import CSV, begun, sparse_table
from ui.session import store as store_module
from ui.session.saved_session import Snapshot, snapshot
from ui.session.store import FILE, StorageConfig, Store, UnreadableSession, usual_folder


@pytest.mark.parametrize(
    ("system", "environment", "folder"),
    [
        ("linux", {"HOME": "/me"}, "/me/.local/state/hipad-workbench"),
        ("linux", {"HOME": "/me", "XDG_STATE_HOME": "/s"}, "/s/hipad-workbench"),
        ("darwin", {"HOME": "/me"}, "/me/Library/Application Support/hipad-workbench"),
        ("win32", {"HOME": "/me", "LOCALAPPDATA": "/l"}, "/l/hipad-workbench"),
    ],
)
def test_the_folder_is_the_one_that_the_system_has(system, environment, folder):
    assert usual_folder(environment, system).as_posix() == folder


@pytest.mark.parametrize(("word", "on"), [("on", True), ("OFF", False), ("0", False), ("", True)])
def test_keeping_can_be_switched_off(word, on):
    assert StorageConfig.from_environment({"HIPAD_KEEP": word, "HOME": "x"}).is_on is on


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("HIPAD_KEEP", "of"),
        ("HIPAD_KEEP_WORKS", "many"),
        ("HIPAD_KEEP_WORKS", "-1"),
        ("HIPAD_KEEP_BYTES", "inf"),
        ("HIPAD_KEEP_BYTES", ""),
        ("HIPAD_KEEP_FOLDER", "~nobody-of-this-name/x"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(variable, text):
    with pytest.raises(DataError, match=f"expected .* in {variable}, got '{text}'.*: "):
        StorageConfig.from_environment({variable: text, "HOME": "x"})


ROOT = Path(__file__).resolve().parents[3]
ONE, TWO = "a" * 32, "b" * 32


@pytest.fixture(scope="module")
def taken():
    return snapshot(begun())


@pytest.fixture
def store(tmp_path):
    return Store(StorageConfig(tmp_path / "kept"))


def name(n: int) -> str:
    return f"{n:032x}"


def query(store: Store, text: str, *given: object) -> list[tuple]:
    with sqlite3.connect(store.file) as db:
        return db.execute(text, given).fetchall()


def n_tables(store: Store) -> int:
    return query(store, "SELECT count(*) FROM stored")[0][0]


def change(store: Store, which: str, **fields: object) -> None:
    """Give a kept work other fields, as another version might have written them; None: no field."""
    ((content,),) = query(store, "SELECT content FROM work WHERE name = ?", which)
    raw = json.loads(content)
    for path, value in fields.items():
        *above, last = path.split("__")
        place = raw
        for step in above:
            place = place[step]
        place.pop(last, None)
        if value is not None:
            place[last] = value
    with sqlite3.connect(store.file) as db:
        text = json.dumps(raw).encode()
        db.execute("UPDATE work SET content = ?, saved = saved + 1 WHERE name = ?", (text, which))


def test_a_work_and_its_table_are_read_as_they_were_written(store, taken):
    store.put(ONE, name(1), taken)
    (kept,) = store.works(ONE)
    table = store.tables(kept)["table"]
    assert replace(kept.work, table="") == taken.work
    assert np.array_equal(table.numbers, taken.own["table"].numbers)
    assert digest_of(table) == digest_of(taken.own["table"])
    assert np.array_equal(store.tables(kept)["table"].numbers, table.numbers)  # and once more
    assert store.works(TWO) == []
    assert Store(store.place).works(ONE) == [kept]


def test_a_sparse_table_and_one_of_several_chunks_are_kept(store, monkeypatch):
    monkeypatch.setattr(store_module, "CHUNK", 100)
    for n, table in enumerate([sparse_table(), read_table(CSV, "mine.csv")]):
        store.put(ONE, name(n), snapshot(begun(table, test="none")))
        kept = next(kept for kept in store.works(ONE) if kept.name == name(n))
        came = store.tables(kept)["table"]
        assert came.is_sparse is table.is_sparse
        assert digest_of(came) == digest_of(table)
    assert query(store, "SELECT max(length(data)) FROM part")[0][0] <= 100


WHOLE = Table(
    np.arange(6.0).reshape(3, 2),
    ("a", "b"),
    {"state": np.array(["x", "y", "x"])},
    "made",
    ("a remark",),
    "state",
    "sha",
    ("p1", "p2", "p3"),
    ("A", "B"),
    ("a",),
    False,
    {"state": np.array(["x", "NA", "x"])},
)
OTHER = {
    "numbers": np.arange(6.0, dtype=np.float32).reshape(3, 2),
    "number_names": ("a", "c"),
    "text": {"state": np.array(["x", "x", "x"])},
    "format": "other",
    "remarks": (),
    "label": None,
    "sha256": "other",
    "ids": ("p1", "p2", "q3"),
    "symbols": ("A", "C"),
    "about": (),
    "turned": True,
    "written": {},
    "reading": Reading(titles=("a title",)),
}


@pytest.mark.parametrize("field", [field.name for field in fields(Table)])
def test_the_digest_tells_tables_apart_by_all_that_they_hold(field):
    """A field that `OTHER` does not name yet must be named there: nothing may be left out."""
    assert digest_of(replace(WHOLE, **{field: OTHER[field]})) != digest_of(WHOLE)


def test_a_table_with_corrected_ids_comes_back_corrected(store):
    def with_ids(ids: list[str]) -> Snapshot:
        table = read_table(CSV, "mine.csv")
        return snapshot(begun(replace(table, ids=tuple(ids))))

    wrong, right = [f"p{n}" for n in range(60)], [f"q{n}" for n in range(60)]
    store.put(ONE, name(1), with_ids(wrong))
    store.put(ONE, name(2), with_ids(right))
    found = {kept.name: store.tables(kept)["table"].ids for kept in store.works(ONE)}
    assert found == {name(1): tuple(wrong), name(2): tuple(right)}


def test_only_the_account_can_look_into_it(store, taken):
    store.put(ONE, name(1), taken)
    assert stat.S_IMODE(store.place.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in store.place.folder.iterdir()} == {0o600}


def test_tables_lie_there_once_and_go_with_the_last_work(store, taken):
    store.put(ONE, name(1), taken)
    store.put(ONE, name(2), taken)
    store.put(TWO, name(3), taken)
    for left, (owner, n) in zip((1, 1, 0), ((ONE, 1), (ONE, 2), (TWO, 3)), strict=True):
        store.remove(owner, name(n))
        assert n_tables(store) == left
    assert query(store, "SELECT count(*) FROM part") == [(0,)]


def test_what_was_deleted_is_nowhere_in_the_folder(store, taken):
    store.put(ONE, name(1), taken)
    content = b"".join(path.read_bytes() for path in store.place.folder.iterdir())
    assert "né1".encode() in content
    store.remove_all(ONE)
    store.close()
    content = b"".join(path.read_bytes() for path in store.place.folder.iterdir())
    assert "né1".encode() not in content


def test_the_oldest_works_go_when_there_are_too_many(tmp_path, taken):
    clock = iter(range(100))
    store = Store(StorageConfig(tmp_path, most_works=3), lambda: float(next(clock)))
    for n in range(5):
        store.put(ONE, name(n), taken)
    store.put(TWO, name(9), taken)
    store.put(ONE, name(5), taken)
    assert [kept.name for kept in store.works(ONE)] == [name(5), name(4), name(3)]
    assert len(store.works(TWO)) == 1


def test_the_oldest_works_go_when_they_take_too_much(tmp_path, taken):
    store = Store(StorageConfig(tmp_path))
    store.put(ONE, name(1), taken)
    size = store.bytes()
    small = Store(StorageConfig(tmp_path, most_bytes=int(1.5 * size)))
    other = read_table(CSV.replace(b"0", b"8"), "other.csv")
    small.put(TWO, name(2), snapshot(begun(other)))
    assert small.works(ONE) == []
    assert len(small.works(TWO)) == 1
    with pytest.raises(HipadError, match="HIPAD_KEEP_BYTES"):
        Store(StorageConfig(tmp_path / "other", most_bytes=100)).put(ONE, name(1), taken)


def test_a_missing_field_takes_its_default(store, taken):
    store.put(ONE, name(1), taken)
    change(
        store, name(1), expert=None, unlabelled=None, session__preparation__seed=None,
        session__settings__fewness=None, session__models=None,
    )  # fmt: skip
    (kept,) = store.works(ONE)
    assert kept.unknown == ()
    assert replace(kept.work, table="") == taken.work
    assert store.tables(kept)


def test_an_unknown_field_is_named_and_the_work_is_offered(store, taken):
    store.put(ONE, name(1), taken)
    change(store, name(1), session__preparation__moon="full", tide=3)
    (kept,) = store.works(ONE)
    assert set(kept.unknown) == {"moon", "tide"}
    assert replace(kept.work, table="") == taken.work


@pytest.mark.parametrize(
    "damage",
    [{"version": 2}, {"session": None}, {"session__preparation__test": "by moonlight"}],
)
def test_what_cannot_be_read_is_shown_and_stays(tmp_path, taken, damage):
    store = Store(StorageConfig(tmp_path, most_works=1))
    store.put(ONE, name(1), taken)
    change(store, name(1), **damage)
    other = snapshot(begun(read_table(CSV.replace(b"0", b"8"), "other.csv")))
    for n in (2, 3):  # more than are kept, of what can be read
        store.put(ONE, name(n), other)
    assert [kept.name for kept in store.works(ONE)] == [name(3)]
    (lost,) = store.unreadable(ONE)
    assert isinstance(lost, UnreadableSession)
    assert (lost.name, lost.title) == (name(1), "mine.csv")
    assert lost.problem
    assert n_tables(store) == 2
    small = Store(StorageConfig(tmp_path, most_bytes=store.bytes() // 2))
    with pytest.raises(HipadError, match="cannot read"):
        small.put(ONE, name(3), other)
    assert len(store.works(ONE)) == len(store.unreadable(ONE)) == 1
    store.remove(ONE, name(1))
    assert n_tables(store) == 1


def test_a_damaged_table_or_file_ends_in_a_sentence(store, taken):
    store.put(ONE, name(1), taken)
    (kept,) = store.works(ONE)
    with sqlite3.connect(store.file) as db:
        db.execute("UPDATE part SET data = 'abcd' WHERE name = 'numbers'")
    with pytest.raises(HipadError, match="damaged"):
        store.tables(kept)
    assert store.works(ONE) == [kept]
    other = Store(StorageConfig(store.place.folder.with_name("other")))
    other.place.folder.mkdir()
    other.file.write_bytes(b"something else" * 1000)
    for act in (lambda: other.works(ONE), lambda: other.put(ONE, name(1), taken)):
        with pytest.raises(HipadError, match=FILE):
            act()
    assert other.file.read_bytes() == b"something else" * 1000
    assert other.wants(ONE)


def test_a_file_of_a_later_version_is_left_alone(store, taken):
    store.put(ONE, name(1), taken)
    store.close()
    with sqlite3.connect(store.file) as db:
        db.execute("PRAGMA user_version = 2")
    before = store.file.read_bytes()
    with pytest.raises(HipadError, match="later version"):
        Store(store.place).put(ONE, name(2), taken)
    assert store.file.read_bytes() == before


def test_a_file_that_was_removed_is_made_anew(store, taken):
    store.put(ONE, name(1), taken)
    for path in store.place.folder.iterdir():
        path.unlink()
    assert store.works(ONE) == []
    store.put(ONE, name(2), taken)
    assert [kept.name for kept in Store(store.place).works(ONE)] == [name(2)]


def test_works_can_be_read_where_nothing_can_be_written(store, taken, monkeypatch):
    store.put(ONE, name(1), taken)
    store.close()
    again = Store(store.place)

    def fail() -> None:
        raise OSError("no room")

    monkeypatch.setattr(again, "_open", fail)
    (kept,) = again.works(ONE)
    assert again.tables(kept)
    with pytest.raises(HipadError):
        again.put(ONE, name(2), taken)


def test_a_full_disk_leaves_what_was_there(store, taken):
    store.put(ONE, name(1), taken)
    with store._opened(create=True) as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages + 1}")
    other = snapshot(
        begun(read_table(b"\n".join([CSV, *[CSV.split(b"\n", 1)[1]] * 9]), "other.csv"))
    )
    with pytest.raises(HipadError, match="no room"):
        store.put(ONE, name(2), other)
    store.close()
    assert [kept.name for kept in store.works(ONE)] == [name(1)]
    assert n_tables(store) == 1
    store.put(ONE, name(2), other)
    assert len(store.works(ONE)) == 2


def test_two_sessions_never_overwrite_each_other(store, taken):
    """A session goes on with a work in a second server while the first has it open."""
    first, second = store, Store(store.place)
    assert first.put(ONE, name(1), taken, "session 1") == name(1)
    (kept,) = second.works(ONE)
    assert second.claim(kept, "session 2")
    other = snapshot(begun())
    assert second.put(ONE, name(1), other, "session 2") == name(1)
    fresh = first.put(ONE, name(1), taken, "session 1")
    assert fresh != name(1)
    assert first.put(ONE, fresh, taken, "session 1") == fresh
    assert {kept.name for kept in store.works(ONE)} == {name(1), fresh}
    assert not first.claim(kept, "session 3")  # it has changed since it was read


def test_a_browser_can_want_nothing_kept(store):
    assert store.wants(ONE)
    store.want(ONE, False)
    assert not store.wants(ONE)
    assert store.wants(TWO)
    store.want(ONE, True)
    assert store.wants(ONE)
    assert not Store(replace(store.place, is_on=False)).wants(ONE)


def test_looking_makes_no_folder(store):
    assert store.works(ONE) == store.owners() == []
    assert store.wants(ONE)
    assert not store.place.folder.exists()


def put_old(folder: Path, owner: str, which: str, taken: Snapshot) -> Path:
    """Write a work as earlier versions did: a file and folders."""
    table = folder / owner / "tables" / ("d" * 64)
    table.mkdir(parents=True, exist_ok=True)
    save_table(taken.own["table"], table)
    works = folder / owner / "works"
    works.mkdir(exist_ok=True)
    path = works / f"{which}.json"
    path.write_text(replace(taken.work, table="d" * 64).to_json())
    return path


def test_works_of_before_are_taken_over(tmp_path, taken):
    folder = tmp_path / "kept"
    for owner in (ONE, TWO):
        path = put_old(folder, owner, name(1), taken)
        os.utime(path, (1_000, 1_000))
    (folder / TWO / "works" / f"{name(2)}.json").write_text("{")  # its table may be any
    (folder / TWO / "off").touch()
    store = Store(StorageConfig(folder))
    (kept,) = store.works(ONE)
    assert kept.saved == 1_000
    assert digest_of(store.tables(kept)["table"]) == digest_of(taken.own["table"])
    assert len(store.works(TWO)) == len(store.unreadable(TWO)) == 1
    assert not store.wants(TWO)
    assert {path.name.removesuffix("-wal").removesuffix("-shm") for path in folder.iterdir()} == {
        FILE
    }
    for kept in (*store.works(ONE), *store.works(TWO)):
        store.remove(kept.owner, kept.name)
    assert n_tables(store) == 1  # of what cannot be read


def test_a_work_that_was_taken_over_before_a_crash_is_not_doubled(tmp_path, taken):
    folder = tmp_path / "kept"
    content = put_old(folder, ONE, name(1), taken).read_bytes()
    store = Store(StorageConfig(folder))
    assert len(store.works(ONE)) == 1
    put_old(folder, ONE, name(1), taken).write_bytes(content)
    other = put_old(folder, ONE, name(2), taken)
    again = Store(StorageConfig(folder))
    assert {kept.name for kept in again.works(ONE)} == {name(1), other.stem}


WRITING = """
import sys
from pathlib import Path
from tests.ui.session.saved import begun, CSV
from hipad.data import read_table
from ui.session.saved_session import snapshot
from ui.session.store import StorageConfig, Store

store, me = Store(StorageConfig(Path(sys.argv[1]), most_works=4)), sys.argv[2]
works = [snapshot(begun(read_table(CSV.replace(b"0", b"%d" % n), "x.csv"))) for n in range(3)]
print("ready", flush=True)
for n in range(int(sys.argv[3])):
    store.put("a" * 32, f"{n % 6:032x}", works[n % 3], "all")
    for kept in store.works("a" * 32)[:2]:
        store.remove(kept.owner, kept.name)
"""


def writing(folder: Path, who: str, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITING, str(folder), who, str(rounds)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_two_processes_write_and_delete_at_the_same_time(tmp_path):
    both = [writing(tmp_path / "kept", who, 60) for who in "12"]
    told = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    store = Store(StorageConfig(tmp_path / "kept"))
    for kept in store.works(ONE):
        assert store.tables(kept)
    assert store.unreadable(ONE) == []
    with store._opened(create=False) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed")
def test_a_process_that_is_killed_while_it_writes_leaves_whole_works(tmp_path, taken):
    store = Store(StorageConfig(tmp_path / "kept"))
    store.put(TWO, name(1), taken)
    for pause in (0.02, 0.3):
        process = writing(tmp_path / "kept", "1", 10_000)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(pause)
        process.kill()
        process.communicate()
        for kept in (*store.works(ONE), *store.works(TWO)):
            assert store.tables(kept)
        assert store.unreadable(ONE) == []
        assert len(store.works(TWO)) == 1
        store.put(TWO, name(1), taken)
