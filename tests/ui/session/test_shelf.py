from __future__ import annotations

import os
import stat
from dataclasses import replace

import numpy as np
import pytest

from hipad.errors import HipadError
from tests.ui.session.kept import begun, sparse_table
from ui.session.place import Place
from ui.session.shelf import Shelf, digest_of
from ui.session.work import snapshot

ONE, TWO = "a" * 32, "b" * 32


@pytest.fixture(scope="module")
def taken():
    return snapshot(begun())


@pytest.fixture
def shelf(tmp_path):
    return Shelf(Place(tmp_path / "kept"))


def name(n: int) -> str:
    return f"{n:032x}"


def test_a_work_and_its_table_are_read_as_they_were_written(shelf, taken):
    shelf.put(ONE, name(1), taken)
    (kept,) = shelf.works(ONE)
    table = shelf.tables(kept)["table"]
    assert replace(kept.work, table="") == taken.work
    assert np.array_equal(table.numbers, taken.own["table"].numbers)
    assert digest_of(table) == digest_of(taken.own["table"])
    assert np.array_equal(shelf.tables(kept)["table"].numbers, table.numbers)  # and once more
    assert shelf.works(TWO) == []


def test_a_sparse_table_is_kept(shelf):
    taken = snapshot(begun(sparse_table(), test="none"))
    shelf.put(ONE, name(1), taken)
    (kept,) = shelf.works(ONE)
    assert shelf.tables(kept)["table"].is_sparse


def test_only_the_account_can_look_into_it(shelf, taken):
    shelf.put(ONE, name(1), taken)
    folders = [shelf.place.folder, *(p for p in shelf.place.folder.rglob("*") if p.is_dir())]
    assert len(folders) > 3
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_tables_lie_there_once_and_go_with_the_last_work(shelf, taken):
    shelf.put(ONE, name(1), taken)
    shelf.put(ONE, name(2), taken)
    tables = shelf.place.folder / ONE / "tables"
    assert len(list(tables.iterdir())) == 1
    shelf.remove(ONE, name(1))
    assert len(list(tables.iterdir())) == 1
    shelf.remove(ONE, name(2))
    assert list(tables.iterdir()) == []


def test_the_oldest_works_go_when_there_are_too_many(tmp_path, taken):
    shelf = Shelf(Place(tmp_path, most_works=3))
    for n in range(5):
        shelf.put(ONE, name(n), taken)
        os.utime(tmp_path / ONE / "works" / f"{name(n)}.json", (n, n))
    shelf.put(TWO, name(9), taken)
    shelf.put(ONE, name(5), taken)
    assert [kept.name for kept in shelf.works(ONE)] == [name(5), name(4), name(3)]
    assert len(shelf.works(TWO)) == 1


def test_the_oldest_works_go_when_they_take_too_much(tmp_path, taken):
    shelf = Shelf(Place(tmp_path))
    shelf.put(ONE, name(1), taken)
    size = shelf._bytes()
    os.utime(tmp_path / ONE / "works" / f"{name(1)}.json", (1, 1))
    small = Shelf(Place(tmp_path, most_bytes=int(1.5 * size)))
    small.put(TWO, name(2), taken)
    assert small.works(ONE) == []
    assert len(small.works(TWO)) == 1
    with pytest.raises(HipadError, match="HIPAD_KEEP_BYTES"):
        Shelf(Place(tmp_path / "other", most_bytes=100)).put(ONE, name(1), taken)


def test_damaged_files_are_not_offered_or_end_in_a_sentence(shelf, taken):
    shelf.put(ONE, name(1), taken)
    shelf.put(ONE, name(2), taken)
    (shelf.place.folder / ONE / "works" / f"{name(1)}.json").write_text("{")
    (kept,) = shelf.works(ONE)
    (numbers,) = shelf.place.folder.rglob("numbers")
    numbers.write_bytes(b"1234")
    with pytest.raises(HipadError, match="damaged"):
        shelf.tables(kept)


def test_a_browser_can_want_nothing_kept(shelf):
    assert shelf.wants(ONE)
    shelf.want(ONE, False)
    assert not shelf.wants(ONE)
    assert shelf.wants(TWO)
    shelf.want(ONE, True)
    assert shelf.wants(ONE)
    assert not Shelf(replace(shelf.place, is_on=False)).wants(ONE)
