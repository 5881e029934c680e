from __future__ import annotations

import pytest

from hipad.cli import main
from hipad.cli.inputs import check_output
from hipad.errors import DataError
from tests.cli.commands import fit


def test_no_command_writes_over_what_it_reads(small, rules, tmp_path, capsys):
    _, model = fit(small, tmp_path)
    link = tmp_path / "link"
    link.symlink_to(model)
    hard = tmp_path / "hard.csv"
    hard.hardlink_to(small)
    before = {path: path.read_bytes() for path in (model, small, rules)}
    predict = ["predict", str(model), str(small), "--out"]
    learn = ["fit", str(small), "--label", "ill", "--rules", str(rules), "--model"]
    for words, target in (
        (predict, model),
        (predict, link),
        (predict, small),
        (predict, hard),
        (learn, small),
        (learn, hard),
        (learn, rules),
        ([*learn[:-1], "--test", str(model), "--model"], model),
    ):
        capsys.readouterr()
        assert main([*words, str(target)]) == 1
        assert "this command reads it" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in before}
    assert link.is_symlink()


def test_a_new_file_in_a_folder_is_welcome(tmp_path):
    read = tmp_path / "table.csv"
    read.write_text("a,b")
    check_output(str(tmp_path / "model.json"), [str(read), None, str(tmp_path / "not there")])


def test_a_folder_that_is_not_there_is_told_before_the_work(tmp_path):
    with pytest.raises(DataError, match="its folder is not there, make it first"):
        check_output(str(tmp_path / "none" / "model.json"), [])


@pytest.mark.parametrize("link", [False, True])
def test_what_is_read_is_not_written_by_any_name(tmp_path, link):
    read = tmp_path / "table.csv"
    read.write_text("a,b")
    other = tmp_path / "." / "link.csv" if link else tmp_path / "." / "table.csv"
    if link:
        other.symlink_to(read)
    with pytest.raises(DataError, match="this command reads it"):
        check_output(str(other), [None, str(read)])
