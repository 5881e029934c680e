from __future__ import annotations

import gzip
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.data import LIMITS, Cancelled, Table, read_apart, read_table
from hipad.data import file_format as telling
from hipad.data import sandbox as apart
from hipad.data import sandbox as confinement
from hipad.data.file_format import PAUSE, FileFormat, Limits, listening, report_rows
from hipad.data.sandbox import FACTS, digest_of, load_table, save_table
from hipad.exceptions import DataError
from tests.data.gene_files import GENES_TSV, h5ad, tenx_tar

# --------------------------------------------------------------------------------------------------
# Apart.


ROOT = Path(__file__).resolve().parents[2]
CSV = "a,b,kind,ü\n" + "".join(f"{i},{'' if i == 3 else i / 7},t{i % 3},é{i}é\n" for i in range(50))
HARD_BOUND = 60  # seconds: catches a hang, times nothing


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def workbook() -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in (["a", "b", "label"], [1, None, "x"], [2, 3.5, "y"], [None, 4, "x"]):
        book.active.append(row)
    book.create_sheet("more")
    book.save(file)
    return file.getvalue()


def parquet() -> bytes:
    file = io.BytesIO()
    columns = {"a": [1.5, None, 3.0], "on": [True, False, None], "t": ["x", None, "zz"]}
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def sparse_parts() -> dict[str, np.ndarray]:
    X = sp.random_array((30, 400), density=0.05, format="csr", rng=np.random.default_rng(0))
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


FILES = {
    "text": CSV.encode(),
    "packed": gzip.compress(CSV.encode(), mtime=0),
    "Latin letters": CSV.encode("cp1252"),
    "decimal commas": b"a;b\n1,5;x\n2,5;y\n",
    "odd cells": b"a,b\n" + b"1,2\n" * 30 + b"<5,2\n",
    "text alone": b"a,b\nx,y\nz,w\n",
    "single precision": npz(X=np.eye(4, 3, dtype=np.float32), y=np.array(["u", "v", "u", "v"])),
    "sparse": npz(**sparse_parts(), y=np.arange(30) % 2),
    "LIBSVM": b"+1 1:0.5 7:2\n-1 3:1e-3\n+1 2:4\n",
    "workbook": workbook(),
    "Parquet": parquet(),
    "genes in rows": GENES_TSV,
    "10x": tenx_tar(),
    "h5ad": h5ad(),
}


def same(first: Table, second: Table) -> bool:
    plain = [f.name for f in fields(Table) if f.name not in ("numbers", "text")]
    dense = [t.numbers.toarray() if t.is_sparse else t.numbers for t in (first, second)]
    np.testing.assert_array_equal(*dense)
    assert dense[0].dtype == dense[1].dtype
    assert list(first.text) == list(second.text)
    for name, column in first.text.items():
        np.testing.assert_array_equal(column, second.text[name])
    assert first.is_sparse == second.is_sparse
    return all(getattr(first, name) == getattr(second, name) for name in plain)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Folders are made here, and none may stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert list(tmp_path.glob("hipad-*")) == []


@pytest.mark.parametrize("kind", FILES)
def test_the_table_is_that_of_read_table(kind):
    assert same(read_apart(FILES[kind], "mine.dat"), read_table(FILES[kind], "mine.dat"))


def test_a_path_is_read_where_it_is(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(CSV)
    assert same(read_apart(path), read_table(path))


def test_what_is_stated_of_a_file_reaches_the_process():
    content = b"a;b\n1,234;x\n9;\xfc\n"
    stated = FileFormat("cp1252", three_digits="thousands", column_gaps={"b": ("\xfc",)})
    table = read_apart(content, stated=stated)
    assert digest_of(table) == digest_of(read_table(content, stated=stated))
    assert table.reading.stated == stated
    assert table.numbers.tolist() == [[1234.0], [9.0]]
    assert table.text["b"].tolist() == ["x", ""]


@pytest.mark.parametrize(
    "content",
    [b"", b"a,b\n", b"a,b\n1,2\n1,2,3\n", b"%PDF-1.7", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9]],
)
def test_sentences_come_through_as_they_are(content):
    with pytest.raises(DataError) as there:
        read_table(content, "mine.csv")
    with pytest.raises(DataError) as here:
        read_apart(content, "mine.csv")
    assert str(here.value) == str(there.value)


def test_a_file_that_is_not_there():
    with pytest.raises(DataError, match="cannot be opened"):
        read_apart(ROOT / "no such file.csv")


def child_doing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, *, confined: bool = True
) -> None:
    """Let the process do something else in place of reading, also what it may usually not do."""
    script = tmp_path / "child.py"
    loose = "from hipad.data import sandbox as confinement\nconfinement.confine = lambda *_: ()\n"
    script.write_text(
        "import json, sys\nsys.path[:] = json.loads(sys.argv[1])\n"
        f"{'' if confined else loose}"
        "from hipad.data import reader as reading\nfrom hipad.data import reader_process as child\n"
        f"def read_table(source, name, limits, turn, stated):\n    {code}\n"
        "reading.read_table = read_table\nchild.main()\n"
    )
    monkeypatch.setattr(apart.child, "__file__", str(script))


SMALL = replace(LIMITS, memory_bytes=300 * 2**20, seconds=20)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import ctypes; ctypes.string_at(8)", "it could not be read: it is damaged"),
        ("import os; os.abort()", "it could not be read: it is damaged"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "needed more than 0.293 GB"),
        ("import os; os._exit(0)", "it could not be read: it is damaged"),
        ("bytearray(400 * 2**20)", "needed more than 0.293 GB"),
        ("import numpy as np; np.ones(10**8)", "needed more than 0.293 GB"),
        ("import pyarrow as pa; pa.nulls(10**9, pa.float64())", "needed more than 0.293 GB"),
        ("[bytes(range(256)) * 4000 for _ in iter(int, 1)]", "needed more than 0.293 GB"),
        ("raise KeyError('patient 17')", "it is damaged in a way not foreseen"),
        ("sys.exit('patient 17')", "it could not be read"),
        ("raise RecursionError", "it is damaged in a way not foreseen"),
    ],
)
def test_whatever_ends_the_process_is_a_sentence(monkeypatch, tmp_path, capfd, code, told):
    child_doing(monkeypatch, tmp_path, code)
    with pytest.raises(DataError, match=r"^mine\.csv: ") as caught:
        read_apart(b"a,b\n1,2\n", "mine.csv", limits=SMALL)
    assert told in str(caught.value)
    assert "patient 17" not in "".join([str(caught.value), *capfd.readouterr()])


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(1000)"])
def test_a_hang_ends_in_time(monkeypatch, tmp_path, code):
    child_doing(monkeypatch, tmp_path, code)
    begun = time.monotonic()
    with pytest.raises(DataError, match="took longer than 2 s"):
        read_apart(b"a,b\n1,2\n", limits=replace(SMALL, seconds=2))
    assert time.monotonic() - begun < HARD_BOUND


def test_the_kernel_ends_a_process_that_its_parent_forgot():
    """The time is the kernel's as well, even while a library lets no other thread run."""
    code = (
        "from hipad.data import reader_process as child; child.GRACE = 0; child.hold_to(2**32, 1)\n"
    )
    code += "while True: pass"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=HARD_BOUND, check=False)
    assert -done.returncode in (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL)


def members(group: int) -> list[int]:
    """Processes of a group that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, own = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(own) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


def gone(group: int) -> bool:
    end = time.monotonic() + HARD_BOUND
    while members(group) and time.monotonic() < end:
        time.sleep(0.02)
    return not members(group)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_cancelling_ends_all_that_was_started(monkeypatch, tmp_path):
    started = tmp_path / "started"
    child_doing(
        monkeypatch,
        tmp_path,
        "import os, subprocess, time; subprocess.Popen(['sleep', '1000']); "
        f"open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(1000)",
        confined=False,
    )
    with pytest.raises(Cancelled, match="cancelled"):
        read_apart(b"a,b\n1,2\n", cancelled=lambda: started.exists() and started.read_text() != "")
    assert gone(int(started.read_text()))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_the_process_ends_with_its_parent_and_leaves_nothing(monkeypatch, tmp_path):
    started = tmp_path / "started"
    child_doing(
        monkeypatch,
        tmp_path,
        f"import os, time; open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(1000)",
        confined=False,
    )
    code = (
        "import sys\nfrom hipad.data import sandbox as apart\n"
        f"apart.child.__file__ = {apart.child.__file__!r}\napart.read_apart(b'a,b')\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment)
    end = time.monotonic() + HARD_BOUND
    while not (started.exists() and started.read_text()) and time.monotonic() < end:
        time.sleep(0.02)
    parent.kill()
    parent.wait(HARD_BOUND)
    assert gone(int(started.read_text()))


def test_progress_is_told(monkeypatch, tmp_path):
    child_doing(
        monkeypatch,
        tmp_path,
        "import time; from hipad.data.file_format import report_rows\n"
        "    report_rows(3, 4); time.sleep(1)\n"
        "    from hipad.data.delimited import read_delimited as read\n"
        "    return read(b'a,b\\n1,2\\n', limits)",
    )
    told = []
    read_apart(b"a,b\n1,2\n", progress=lambda done, words: told.append((done, words)))
    assert (0.75, "3 of 4 rows read") in told


def test_many_at_once():
    results = {}

    def read(n: int) -> None:
        results[n] = read_apart(f"a,b\n{n},x\n{n},y\n".encode()).numbers[0, 0]

    threads = [threading.Thread(target=read, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HARD_BOUND)
    assert results == {n: n for n in range(4)}


words = st.text(max_size=6)
tables = st.builds(
    lambda rows, columns, texts: Table(
        numbers=np.arange(rows * columns, dtype=float).reshape(rows, columns),
        number_names=tuple(f"x{j}" for j in range(columns)),
        text={f"t{j}": np.array(t[:rows]) for j, t in enumerate(texts)},
        format="any",
        remarks=("odd \ud800 remark",),
    ),
    st.integers(1, 5),
    st.integers(0, 4),
    st.lists(st.lists(words, min_size=5, max_size=5), max_size=3),
)


@given(tables)
def test_a_table_is_handed_over_unchanged(table):
    with tempfile.TemporaryDirectory() as folder:
        save_table(table, Path(folder))
        assert same(load_table(Path(folder), LIMITS), table)


DAMAGES = {
    "shorter": lambda content: content[:-1],
    "longer": lambda content: content + b"\1",
    "negative": lambda content: b"\xff" * len(content),
    "zero": lambda content: bytes(len(content)),
}
HARMLESS = {("values", "negative"), ("values", "zero"), ("indices", "zero"), ("text", "zero")}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("part", ["facts.json", "values", "indices", "indptr", "lengths", "text"])
def test_a_damaged_table_is_refused(tmp_path, part, damage):
    X = sp.csr_array(([1.0, 2.0], [0, 2], [0, 1, 2]), shape=(2, 3))
    table = Table(X, ("a", "b", "c"), {"t": np.array(["x", "yz"])}, "any")
    save_table(table, tmp_path)
    path = tmp_path / part
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    if (part, damage) in HARMLESS:  # other values of the right size are values
        assert load_table(tmp_path, LIMITS).n_rows == 2
        return
    with pytest.raises(DataError):
        load_table(tmp_path, LIMITS)


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("shape", [3, 2]),
        ("shape", [2]),
        ("shape", [-2, 3]),
        ("shape", None),
        ("number_names", ["a", "b"]),
        ("number_names", ["a", "b", "b"]),
        ("number_names", [1, 2, 3]),
        ("text_names", []),
        ("arrays", {}),
        ("arrays", {"../facts.json": ["<f8", 2]}),
        ("format", {"a": 1}),
    ],
)
def test_facts_that_disagree_are_refused(tmp_path, fact, value):
    X = sp.csr_array(([1.0, 2.0], [0, 2], [0, 1, 2]), shape=(2, 3))
    save_table(Table(X, ("a", "b", "c"), {"t": np.array(["x", "yz"])}, "any"), tmp_path)
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), fact: value}))
    with pytest.raises(DataError):
        load_table(tmp_path, LIMITS)


def test_long_texts_do_not_exhaust_the_reader_of_the_answer(tmp_path):
    cells = np.array(["x"] * 2_000 + ["y" * 900])
    save_table(Table(np.zeros((2_001, 1)), ("a",), {"t": cells}, "any"), tmp_path)
    with pytest.raises(DataError, match="needed more than"):
        load_table(tmp_path, replace(LIMITS, memory_bytes=2**20))


def test_the_limit_is_on_what_a_file_needs_not_on_what_libraries_reserve():
    """Arrow and BLAS map address space that they never use; it does not count."""
    rows = "".join(f"{i / 7!r},{i / 3!r},ill,{i / 11!r}\n" for i in range(50_000))
    few = replace(LIMITS, memory_bytes=100 * 2**20)
    table = read_apart(f"a,b,c,d\n{rows}".encode(), limits=few)
    assert table.n_rows == 50_000
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 4_000_000)
    with pytest.raises(DataError, match="needed more than"):
        read_apart(bomb, limits=few)


def test_a_path_with_a_nul_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(DataError, match=r"cannot be opened: expected the path of a file"):
        read_apart(tmp_path / "a\0.csv")


REACHING = """
from pathlib import Path
import os, socket, subprocess
from hipad.exceptions import DataError
tries = {{
    "a secret": lambda: Path({secret!r}).read_text(),
    "a list of files": lambda: os.listdir({folder!r}),
    "another place": lambda: Path({folder!r}, "new").write_text("x"),
    "the network": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "a server here": lambda: socket.create_connection(("127.0.0.1", {port}), 1),
    "another process": lambda: socket.socket(socket.AF_UNIX),
    "a program": lambda: subprocess.run([{program!r}]),
    "the source": lambda: source.read_bytes(),
    "the packages": lambda: (__import__("h5py"), __import__("openpyxl"), __import__("scipy.io")),
}}
reached = []
for name, act in tries.items():
    try:
        act()
        reached.append(name)
    except OSError:
        pass
raise DataError(f"reached {{reached}}")
"""


@pytest.mark.skipif(confinement.lacking() != "", reason="this system cannot confine a process")
def test_a_reader_that_is_led_astray_reaches_nothing_else(monkeypatch, tmp_path):
    (tmp_path / "kept").mkdir()
    secret = tmp_path / "kept" / "works"
    secret.write_text("somebody's work")
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = REACHING.format(
            secret=str(secret),
            folder=str(secret.parent),
            port=server.getsockname()[1],
            program=sys.executable,
        )
        child_doing(monkeypatch, tmp_path, code.replace("\n", "\n    "))
        with pytest.raises(DataError, match=r"reached \['the source', 'the packages'\]$"):
            read_apart(b"a,b\n1,2\n")


def test_where_nothing_can_be_taken_away_a_file_is_read_all_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr(confinement.sys, "platform", "darwin")
    assert confinement.confine(tmp_path, tmp_path) == ()
    assert confinement.landlock_version() == 0
    assert confinement.lacking() == "read other files of this account and use the network"


# --------------------------------------------------------------------------------------------------
# A table handed over in a folder: the same after it, or refused where a file was changed.


NUMBERS = np.array([[1.5, 0.0, np.nan], [0.0, -np.inf, 1e-300]])
TEXT = {"kind": np.array(["x", ""]), "wörter": np.array(["é\n", "ab" * 50])}


def table(numbers=NUMBERS, text=TEXT):
    names = tuple(f"n{j}" for j in range(numbers.shape[1]))
    ids, symbols = ("p1", "p2"), tuple("ABC"[: len(names)])
    if numbers.shape[0] != 2:
        ids = ()
    return Table(numbers, names, text, "made here", ("a remark",), "kind", "ab12", ids, symbols)


@pytest.mark.parametrize(
    "numbers",
    [NUMBERS, NUMBERS.astype(np.float32), sp.csr_array(NUMBERS), NUMBERS[:, :0], NUMBERS[:, ::-1]],
    ids=["double", "single", "sparse", "none", "turned"],
)
@pytest.mark.parametrize("text", [TEXT, {}], ids=["with text", "without"])
def test_what_comes_is_what_was_given(tmp_path, numbers, text):
    given_table = table(numbers, text)
    save_table(given_table, tmp_path)
    came = load_table(tmp_path, LIMITS)
    dense, wanted = (t.toarray() if sp.issparse(t) else t for t in (came.numbers, numbers))
    np.testing.assert_array_equal(dense, wanted)
    assert came.numbers.dtype == numbers.dtype
    assert came.is_sparse is given_table.is_sparse
    assert {name: column.tolist() for name, column in came.text.items()} == {
        name: column.tolist() for name, column in text.items()
    }
    for name in ("number_names", "format", "remarks", "label", "sha256", "ids", "symbols"):
        assert getattr(came, name) == getattr(given_table, name)


def test_a_table_of_an_older_version_comes_back(tmp_path):
    save_table(table(), tmp_path)
    facts = json.loads((tmp_path / FACTS).read_text())
    old = {name: fact for name, fact in facts.items() if name not in ("ids", "symbols", "about")}
    (tmp_path / FACTS).write_text(json.dumps(old))
    assert load_table(tmp_path, LIMITS).ids == ()


@settings(max_examples=30)
@given(st.lists(st.text(max_size=8).map(lambda text: text.rstrip("\0")), min_size=1, max_size=6))
def test_any_text_comes_back(tmp_path_factory, cells):
    folder = tmp_path_factory.mktemp("handed")
    save_table(table(np.zeros((len(cells), 1)), {"t": np.array(cells, dtype=str)}), folder)
    assert load_table(folder, LIMITS).text["t"].tolist() == cells


FACT_CHANGES = {
    "more rows": {"shape": [3, 3]},
    "rows below zero": {"shape": [-2, 3]},
    "no shape": {"shape": None},
    "another width": {"shape": [3, 2]},
    "too few names": {"number_names": ["a", "b"]},
    "IDs of other rows": {"ids": ["a", "b", "c"]},
    "symbols of other columns": {"symbols": ["a"]},
    "no such column": {"about": ["nowhere"]},
    "names twice": {"number_names": ["a", "a", "b"]},
    "a name of both kinds": {"number_names": ["a", "kind", "b"]},
    "names that are no texts": {"number_names": [1, 2, 3]},
    "text columns too few": {"text_names": ["kind"]},
    "a file elsewhere": {"arrays": {"../facts.json": ["<f8", 1]}},
    "objects": {"arrays": {"numbers": ["|O", 6], "lengths": ["<i4", 4]}},
    "no lengths": {"arrays": {"numbers": ["<f8", 6]}},
    "numbers that are whole": {"arrays": {"numbers": ["<i8", 6], "lengths": ["<i4", 4]}},
    "a format that is a thing": {"format": {"a": 1}},
}


@pytest.mark.parametrize("change", FACT_CHANGES)
def test_facts_that_do_not_fit_are_refused(tmp_path, change):
    save_table(table(), tmp_path)
    facts = json.loads((tmp_path / FACTS).read_text())
    (tmp_path / FACTS).write_text(json.dumps(facts | FACT_CHANGES[change]))
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


@pytest.mark.parametrize("name", [FACTS, "numbers", "lengths", "text"])
@pytest.mark.parametrize("way", ["gone", "cut", "longer"])
def test_files_that_do_not_fit_are_refused(tmp_path, name, way):
    save_table(table(), tmp_path)
    path = tmp_path / name
    data = path.read_bytes()
    path.unlink()
    if way != "gone":
        path.write_bytes(data[:-1] if way == "cut" else data + b"}")
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


@pytest.mark.parametrize(
    ("name", "values"),
    [("indices", [0, 9, 1, 2]), ("indices", [0, -1, 1, 2]), ("indptr", [0, 5, 4])],
)
def test_indices_that_point_outside_are_refused(tmp_path, name, values):
    sparse = sp.csr_array(NUMBERS)
    assert sparse.nnz == 4
    save_table(table(sparse), tmp_path)
    np.array(values, dtype=sparse.indices.dtype).tofile(tmp_path / name)
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


def test_lengths_below_zero_are_refused(tmp_path):
    save_table(table(), tmp_path)
    np.array([103, -1, 2, 0], dtype="<i4").tofile(tmp_path / "lengths")
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


def test_limits_hold_for_what_comes(tmp_path):
    for limits, told in [
        (Limits(rows=1), "at most 1 rows"),
        (Limits(memory_bytes=500), "for columns of text"),
    ]:
        save_table(table(), tmp_path)
        with pytest.raises(DataError, match=told):
            load_table(tmp_path, limits)


def test_load_table_columns_as_written(tmp_path):
    written = {"kind": np.array(["x", "NA"]), "n1": np.array(["none", "1"])}
    save_table(replace(table(), written=written), tmp_path)
    found = load_table(tmp_path, LIMITS).written
    assert {name: cells.tolist() for name, cells in found.items()} == {
        "kind": ["x", "NA"],
        "n1": ["none", "1"],
    }


def test_load_table_written_column_that_is_not_there(tmp_path):
    save_table(replace(table(), written={"kind": np.array(["x", "NA"])}), tmp_path)
    facts = json.loads((tmp_path / FACTS).read_text())
    (tmp_path / FACTS).write_text(json.dumps({**facts, "written_names": ["else"]}))
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


# --------------------------------------------------------------------------------------------------
# How far reading has come: told now and then, and only to whoever listens.


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves by hand."""

    class Clock:
        now = 1_000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(telling, "time", clock)
    monkeypatch.setattr(telling, "_next_time", 0.0)
    return clock


def test_a_listener_hears_the_share_and_words(clock):
    evidence = []
    with listening(lambda *told: evidence.append(told)):
        report_rows(1_500, 6_000)
    assert evidence == [(0.25, "1,500 of 6,000 rows read")]


def test_it_hears_now_and_then_only(clock):
    evidence = []
    with listening(lambda done, words: evidence.append(done)):
        for done in range(10):
            report_rows(done, 10)
            clock.now += 0.3 * PAUSE
    assert evidence == [0.0, 0.4, 0.8]


def test_nothing_is_told_outside_and_the_listener_before_comes_back(clock):
    outer, inner = [], []
    with listening(lambda *told: outer.append(told)):
        with pytest.raises(ValueError, match="broken"), listening(lambda *told: inner.append(told)):
            raise ValueError("broken")
        report_rows(1, 2)
    clock.now += 2 * PAUSE
    report_rows(2, 2)
    assert (len(outer), len(inner)) == (1, 0)


def test_an_empty_file_is_no_division_by_zero(clock):
    evidence = []
    with listening(lambda done, words: evidence.append(done)):
        report_rows(0, 0)
    assert evidence == [0.0]
