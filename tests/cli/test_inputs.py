from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from hipad import load_model
from hipad.cli import main
from hipad.cli.inputs import blocks_of, check_output, near_names, read_text
from hipad.data import sandbox as apart
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex
from tests.cli.commands import fit

INDEX = FeatureIndex(["ABL1", "JAK1", "TP53"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.txt", "K = ABL1:JAK1  # a note\n"),
        ("b.json", json.dumps({"K": ["ABL1", "JAK1"]})),
        ("b", json.dumps({"K": [0, 1]})),
        ("sets.txt", "K\tabout\tABL1\tJAK1\n"),
    ],
)
def test_every_kind_of_file_is_told_by_its_content(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8-sig")
    assert blocks_of(str(path), INDEX)["K"].tolist() == [0, 1]


def test_genes_that_are_not_in_the_data_are_told(tmp_path, capsys):
    path = tmp_path / "sets.gmt"
    path.write_text("K\tabout\tABL1\tNOPE\tNOR\n")
    assert list(blocks_of(str(path), INDEX)) == ["K"]
    assert "2 genes of 1 set not in the data: NOPE and NOR" in capsys.readouterr().err


def test_a_bad_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "b.txt"
    path.write_text("K = ABL1\nL = ABL9\n")
    with pytest.raises(DataError, match=r"b\.txt: line 2, column 4: no feature"):
        blocks_of(str(path), INDEX)


def test_no_file_is_no_block_and_no_text_is_a_sentence(tmp_path):
    assert blocks_of(None, INDEX) == {}
    with pytest.raises(DataError, match="cannot be opened"):
        read_text(str(tmp_path / "none"))
    (tmp_path / "latin").write_bytes("ä".encode("latin-1"))
    with pytest.raises(DataError, match="expected text in UTF-8"):
        read_text(str(tmp_path / "latin"))


def test_blocks_may_be_lines_or_json(small, tmp_path):
    rules, lines, as_json = (tmp_path / name for name in ("r", "b.txt", "b.json"))
    rules.write_text("mean(K) >= 40 => yes\n")
    lines.write_text("K = age, sugar\n")
    as_json.write_text(json.dumps({"K": ["age", "sugar"]}))
    weights = []
    for blocks in (lines, as_json):
        code, target = fit(small, tmp_path, "--rules", rules, "--blocks", blocks)
        assert code == 0
        weights.append(load_model(target).coef_)
    assert np.array_equal(*weights)


def test_a_table_is_read_within_the_limits_of_the_environment(small, tmp_path):
    command = [sys.executable, "-m", "hipad", "fit", str(small), "--label", "ill"]
    done = subprocess.run(
        [*command, "--model", str(tmp_path / "model.json")],
        env={**os.environ, "HIPAD_LIMIT_COLUMNS": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "small.csv: expected at most 3 columns, got 5" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def heeding_ctrl_c():
    """Ctrl-C as a terminal has it: what a shell starts in the background is told to ignore it.

    The program keeps to that, so the tests must not depend on how they were started.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeding_ctrl_c")
def test_ctrl_c_while_reading_ends_the_reader_too(small, tmp_path, monkeypatch, capsys):
    started, start = [], apart._start

    def note(*arguments):
        started.append(start(*arguments))
        return started[0]

    monkeypatch.setattr(apart, "_start", note)
    monkeypatch.setattr(apart, "_news", lambda folder: signal.raise_signal(signal.SIGINT))
    code, target = fit(small, tmp_path)
    assert code == 130
    assert "stopped" in capsys.readouterr().err
    assert started[0].returncode is not None
    assert not target.exists()


@pytest.mark.parametrize(("given", "meant"), [("ILL", "ill"), ("sugr", "sugar")])
def test_a_label_that_is_no_column_brings_the_one_that_is_meant(small, given, meant, capsys):
    rules = small.with_suffix(".rules")
    rules.write_text("sugar >= 7 => yes\n")
    assert main(["check", str(rules), "--data", str(small), "--label", given]) == 1
    assert f"got '{given}': did you mean '{meant}'?" in capsys.readouterr().err
    assert main(["check", str(rules), "--data", str(small), "--label", "quite other"]) == 1
    assert "'age', 'sugar', 'same', 'kind' and 'ill'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "a\0.csv", "--label", "ill", "--model", "m.json"],
        ["fit", "SMALL", "--label", "ill", "--model", "m\0.json"],
        ["fit", "SMALL", "--label", "ill", "--model", "m.json", "--rules", "r\0"],
        ["fit", "SMALL", "--label", "ill", "--model", "m.json", "--blocks", "b\0"],
        ["fit", "SMALL", "--label", "ill", "--model", "m.json", "--test", "t\0.csv"],
        ["predict", "m\0.json", "SMALL"],
        ["check", "r\0", "--data", "SMALL", "--label", "ill"],
    ],
)
def test_a_path_with_a_nul_is_told_in_a_sentence(small, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([str(small) if word == "SMALL" else word for word in words]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert "cannot be" in err
    assert "\0" not in err
    assert not (tmp_path / "m.json").exists()


def test_near_names_put_another_case_first():
    assert near_names("glucose", ["Glucos", "GLUCOSE", "BMI"]) == ["GLUCOSE"]
    assert near_names("xyz", ["Glucose"]) == []


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
