from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hipad.data.table import write_text
from hipad.exceptions import DataError


def test_a_text_arrives_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "größe\r\n")
    assert path.read_bytes() == "größe\r\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_usual_permissions_and_an_old_one_keeps_its_own(tmp_path):
    new, old, usual = tmp_path / "new", tmp_path / "old", tmp_path / "usual"
    usual.touch()
    old.touch()
    old.chmod(0o640)
    write_text(new, "x")
    write_text(old, "x")
    assert new.stat().st_mode == usual.stat().st_mode
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert not target.is_symlink()


@pytest.mark.parametrize("kind", ["itself", "link", "hard link"])
def test_what_is_being_read_is_never_overwritten(tmp_path, kind):
    model, out = tmp_path / "model", tmp_path / "out"
    model.write_text("precious")
    if kind == "link":
        out.symlink_to(model)
    elif kind == "hard link":
        os.link(model, out)
    else:
        out = tmp_path / "." / "model"
    with pytest.raises(DataError, match="being read"):
        write_text(out, "answers", not_over=[tmp_path / "absent", model])
    assert model.read_text() == "precious"


def test_a_directory_an_absent_one_and_a_circle_of_links_are_sentences(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path, tmp_path / "none" / "a", tmp_path / "loop", tmp_path / "a\0b"):
        with pytest.raises(DataError, match="cannot be written"):
            write_text(path, "x")
    assert {path.name for path in tmp_path.iterdir()} == {"loop"}


def test_text_that_is_none_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(DataError, match="expected text"):
        write_text(path, "\ud800")
    assert path.read_text() == "old"


def test_a_device_is_written_into_and_stays_a_device():
    write_text(Path(os.devnull), "gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_named_pipe_is_refused_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match="pipe"):
        write_text(pipe, "x")
    assert pipe.is_fifo()


def test_stdout_is_a_stream_also_where_it_goes_to_a_file(tmp_path):
    program = (
        "from pathlib import Path; from hipad.data.table import write_text;"
        "print('before'); write_text(Path('/dev/stdout'), 'text\\n'); print('after')"
    )
    with (tmp_path / "out").open("w") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "before\ntext\nafter\n"
