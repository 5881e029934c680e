"""The script of a report gives every figure again, to the last digit, in a process of its own."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hipad.cli import main
from hipad.data import Options, read_table
from hipad.reporting.analysis import Findings, analyse
from hipad.reporting.repeat import command, differing, figures, repeat, script
from hipad.reporting.study import Analysis, HeldBack, Study, StudyNotes, StudyTable
from tests.experiments.small import table

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "it's '''a''' \"\"\"b\"\"\" \\n\\ {x} </script>"


@pytest.fixture(scope="module")
def csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = table(60)
    path = tmp_path_factory.mktemp("data") / "it's data.csv"
    lines = [",".join([*(own.feature_names or ()), "y"])]
    for row, label in zip(own.X, own.y, strict=True):
        cells = ["" if abs(v) > 2.5 else f"{v:.6f}" for v in row]
        lines.append(",".join([*cells, "ill" if label > 0 else "well"]))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def found(csv: Path) -> Findings:
    own = read_table(csv)
    study = Study(
        tables=(StudyTable("table", csv.name, own.sha256),),
        preparation=Options("y", "ill"),
        held_back=HeldBack("split", 0.25, 1),
        rules="one: f0 >= 1 => ill worth 5 patients  # it's '''so'''",
        parameters={"lambda1": 0.1, "lambda2": 1.0},
        analysis=Analysis(folds=3, refits=2),
        notes=StudyNotes(title=HOSTILE, question=HOSTILE),
    )
    return analyse(study, {"table": own})


def test_the_script_gives_every_figure_again(found, csv, tmp_path):
    path = tmp_path / "repeat.py"
    path.write_text(script(found), "ascii")
    # Which processor OpenBLAS computes for moves last digits, and may be set for all processes.
    blas = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    ran = subprocess.run(
        [sys.executable, str(path), str(csv)], cwd=tmp_path, capture_output=True, text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "SYSTEMROOT": "", **blas}, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    told = dict(line.split(" = ", 1) for line in ran.stdout.splitlines() if " = " in line)
    assert {name: float(value) for name, value in told.items()} == figures(found)
    assert len(told) > 60
    assert {"roc_auc", "roc_auc, low", "without rules: brier", "weight of f0"} <= set(told)


def test_names_do_not_end_the_text_that_they_stand_in(found):
    tables = (replace(found.study.tables[0], name=HOSTILE),)
    text = script(replace(found, study=replace(found.study, tables=tables)))
    tree = ast.parse(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names <= {"RULES", "STUDY", "FIGURES", "json", "sys", "repeat", "__name__"}
    (study,) = [
        ast.literal_eval(node.value.args[0])
        for node in tree.body
        if isinstance(node, ast.Assign)
        and node.targets[0].id == "STUDY"  # type: ignore[attr-defined]
        and isinstance(node.value, ast.Call)
    ]
    assert json.loads(study)["tables"][0]["name"] == HOSTILE
    assert json.loads(study)["notes"]["question"] == HOSTILE


def test_other_data_and_other_figures_are_told(found, csv, tmp_path, capsys):
    from hipad.estimator.serialization import plain

    raw, expected = plain(found.study), figures(found)
    assert repeat(raw, expected, []) == 1
    assert "expected 1 file" in capsys.readouterr().out
    other = tmp_path / "other.csv"
    other.write_text(csv.read_text("utf-8").replace("0.", "1."), "utf-8")
    assert repeat(raw, expected, [str(other)]) == 1
    assert "got another content" in capsys.readouterr().out
    assert differing({"a": 1.0}, {"a": 1.0}) == {}


def test_the_command_names_its_files():
    study = Study(tables=(StudyTable("table", "it's.csv", ""), StudyTable("test", "t.csv", "")))
    assert command(study) == (
        "hipad report study.hipad --data 'it'\"'\"'s.csv' --test t.csv --out report.html"
    )


def test_the_command_line_writes_and_reads_studies(csv, tmp_path, capsys):
    model, study = tmp_path / "model.json", tmp_path / "study.hipad"
    asked = ["fit", str(csv), "--label", "y", "--positive", "ill", "--lambda1", "0.1"]
    assert main([*asked, "--lambda2", "1", "--model", str(model)]) == 0
    first, second = tmp_path / "one.json", tmp_path / "two.json"
    words = ["report", str(model), "--data", str(csv), "--refits", "0", "--figures", str(first)]
    assert main([*words, "--study", str(study), "--with-data"]) == 0
    assert main(["report", str(study), "--figures", str(second)]) == 0
    assert json.loads(first.read_text()) == json.loads(second.read_text())
    page = (tmp_path / "study.html").read_text("utf-8")
    assert "Repeat it" in page
    assert 'download="repeat.py"' in page
    study.write_bytes(study.read_bytes()[:200])
    capsys.readouterr()
    assert main(["report", str(study)]) == 1
    assert "damaged" in capsys.readouterr().err
