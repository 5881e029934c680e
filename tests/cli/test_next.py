from __future__ import annotations

import pytest

from hipad.cli import main
from tests.cli.commands import fit, rows_of


@pytest.fixture
def partly(small):
    """The small table with patients of a name, some of them without a label."""
    head, *lines = small.read_text().splitlines()
    told = [f"patient,{head}"]
    for i, line in enumerate(lines):
        cut = line if i >= 12 else line.rpartition(",")[0] + ","
        told.append(f"P{i + 1},{cut}")
    small.write_text("\n".join(told))
    return small


def test_next_fits_the_labelled_rows_and_lists_others_by_their_id(partly, rules, capsys):
    words = ["next", "--data", str(partly), "--label", "ill", "--rules", str(rules)]
    assert main([*words, "--lambda1", "0.05", "--count", "4"]) == 0
    found = rows_of(capsys.readouterr().out)
    assert len(found) == 4
    assert {one["patient"] for one in found} <= {f"P{i}" for i in range(1, 13)}
    assert all(one["patient"] == f"P{one['row']}" for one in found)
    assert all(0 <= float(one["doubt"]) <= 1 and one["reason"] for one in found)
    assert "score of yes" in found[0]


def test_next_ranks_by_a_saved_model_and_writes_a_file(partly, rules, tmp_path, capsys):
    code, target = fit(partly, tmp_path, "--rules", rules)
    assert code == 0
    out = tmp_path / "next.csv"
    assert main(["next", str(target), "--data", str(partly), "--out", str(out)]) == 0
    assert "10 of 12 rows" in capsys.readouterr().err
    assert len(rows_of(out.read_text())) == 10


def test_next_takes_a_second_file(small, rules, tmp_path, capsys):
    more = tmp_path / "more.csv"
    more.write_text("\n".join(small.read_text().splitlines()[:9]))
    words = ["next", "--data", str(small), "--label", "ill", "--unlabelled", str(more)]
    assert main([*words, "--lambda1", "0.05", "--count", "3"]) == 0
    found = rows_of(capsys.readouterr().out)
    assert [one["file"] for one in found] == ["more.csv"] * 3


def test_next_without_unlabelled_rows_says_what_to_do(small, tmp_path, capsys):
    assert main(["next", "--data", str(small), "--label", "ill"]) == 1
    assert "expected rows without a label, got none" in capsys.readouterr().err
    _, target = fit(small, tmp_path)
    capsys.readouterr()
    assert main(["next", str(target), "--data", str(small)]) == 1
    assert "expected rows without a label in 'ill'" in capsys.readouterr().err
