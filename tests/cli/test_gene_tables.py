"""Tables of genes on the command line: turned, with classes and symbols from files beside them."""

from __future__ import annotations

import csv

import pytest

from hipad.cli import main
from tests.data.gene_files import CLASSES, GCT, GENES_TSV, PLATFORM, SERIES, h5ad


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {
        "genes.tsv": GENES_TSV, "series.txt": SERIES, "mine.gct": GCT, "mine.h5ad": h5ad(),
        "classes.csv": CLASSES, "GPL.annot": PLATFORM, "my.rules": b"mean(ABL1) >= 9 => AML",
    }  # fmt: skip
    for name, content in given.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        ["genes.tsv", "--label", "class"],
        ["series.txt", "--symbols", "GPL.annot"],
        ["mine.gct", "--labels", "classes.csv"],
    ],
    ids=lambda options: options[0],
)
def test_symbols_are_blocks_for_rules(files, capsys, options):
    command = ["fit", *options, "--rules", "my.rules", "--model", "m.json", "--lambda1", "0.05"]
    assert main(command) == 0
    assert "saved: m.json" in capsys.readouterr().out
    assert main(["predict", "m.json", options[0], "--out", "out.csv"]) == 0
    with open("out.csv", encoding="utf-8") as file:  # noqa: PTH123
        rows = list(csv.DictReader(file))
    assert [row["patient"] for row in rows] == [f"GSM{i}" for i in range(12)]


def test_a_turn_is_told_and_can_be_refused(files, capsys):
    fit = ["fit", "genes.tsv", "--model", "m.json", "--label", "class"]
    assert main([*fit, "--lambda1", "0.05"]) == 0
    assert "--turned no leaves it" in capsys.readouterr().err
    assert main([*fit, "--turned", "no"]) != 0
    assert "expected --label to be a column" in capsys.readouterr().err
