"""The process that reads one file, started as its parent starts it."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from hipad.data import reader_process as child
from hipad.data.file_format import LIMITS, Limits
from hipad.data.reader_process import ANSWER, GRACE, PROGRESS, STATED, WithoutPandas
from hipad.data.sandbox import FACTS, load_table
from hipad.exceptions import DataError

HARD_BOUND = 60  # seconds: catches a hang, times nothing


@pytest.fixture
def folder(tmp_path):
    """The folder that a parent makes: with files for progress and for what is stated."""
    (tmp_path / "handed").mkdir()
    (tmp_path / "handed" / PROGRESS).write_bytes(b"")
    (tmp_path / "handed" / STATED).write_text("{}")
    return tmp_path / "handed"


def run(folder, source, **limits):
    """Start the script and wait; its parent lives until it has ended."""
    order = {
        "folder": str(folder),
        "source": str(source),
        "name": source.name,
        "limits": asdict(Limits(**limits)),
    }
    process = subprocess.Popen(
        [sys.executable, "-I", child.__file__, json.dumps(sys.path), json.dumps(order)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    try:
        return process.wait(HARD_BOUND)
    finally:
        process.kill()
        process.communicate()


def test_a_file_becomes_a_table_or_a_sentence(tmp_path, folder):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("a,b\n1,x\n2,y\n")
    bad.write_text("a\n1\n")
    assert run(folder, good) == 0
    assert json.loads((folder / ANSWER).read_text()) == {}
    assert load_table(folder, LIMITS).text["b"].tolist() == ["x", "y"]
    (folder / FACTS).unlink()
    assert run(folder, bad) == 0
    assert "one column only" in json.loads((folder / ANSWER).read_text())["error"]
    assert not (folder / FACTS).exists()


def test_the_process_and_its_folder_end_with_the_parent(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", f"{END_WITH_PARENT}({str(folder)!r})"],
        stdin=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    process.stdin.close()
    assert process.wait(HARD_BOUND) == 1
    assert not folder.exists()


END_WITH_PARENT = "from hipad.data.reader_process import _end_with_parent as end; end"


def test_bounds_are_set_before_anything_is_read():
    pytest.importorskip("resource")
    script = (
        "import resource, json, signal\n"
        "from hipad.data.reader_process import hold_to, _mapped_bytes\n"
        "before = _mapped_bytes()\n"
        "hold_to(2**30, 7)\n"
        "names = ['RLIMIT_CPU', 'RLIMIT_FSIZE', 'RLIMIT_CORE', 'RLIMIT_AS']\n"
        "found = [resource.getrlimit(getattr(resource, name))[1] for name in names]\n"
        "print(json.dumps([*found[:3], found[3] - before, signal.alarm(0)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=HARD_BOUND,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    cpu, size, core, mapped, alarm = json.loads(done.stdout)
    assert (cpu, size, core) == (7 + GRACE, 2 * 2**30, 0)
    assert 2**30 <= mapped < 2**30 + 2**28
    assert 0 < alarm <= 7 + GRACE


def test_a_want_of_memory_is_seen_behind_the_words_of_a_reader():
    def told(cause):
        try:
            try:
                raise cause
            except type(cause) as error:
                raise DataError("the file is damaged") from error
        except DataError as error:
            return error

    assert child._from_memory(told(MemoryError()))
    assert not child._from_memory(told(ValueError()))
    assert not child._from_memory(None)


def test_pandas_is_left_out_and_nothing_else():
    assert WithoutPandas().find_spec("numpy", None, None) is None
    with pytest.raises(ModuleNotFoundError, match="left out"):
        WithoutPandas().find_spec("pandas", None, None)
