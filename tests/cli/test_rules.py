from __future__ import annotations

import numpy as np

from hipad.cli import main
from hipad.rules import compile_rules


def write_table(tmp_path):
    rng = np.random.default_rng(2)
    lines = ["sugar,age,arm,state"]
    for n in range(60):
        arm = ("small business", "n/a")[n % 2]
        lines.append(
            f"{rng.normal(5, 1):.3f},{rng.integers(20, 80)},{arm},{'ill' if n % 3 else 'well'}"
        )
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    return str(path)


def test_rules_help_for_a_table_prints_rules_that_compile(tmp_path, capsys):
    assert main(["rules", "--help-for", write_table(tmp_path), "--label", "state"]) == 0
    said = capsys.readouterr()
    lines = said.out.strip().splitlines()
    assert len(lines) == 6
    assert "features: sugar, age" in said.err
    names = ["sugar", "age", "arm=n/a", "arm=small business"]
    X = np.random.default_rng(0).uniform(0, 80, (20, 4))
    X[:, 2:] = X[:, 2:] > 40
    assert compile_rules("\n".join(lines), feature_names=names, classes=("well", "ill"), values=X)
    assert any("arm" in line for line in lines)


def test_rules_manual_is_printed(capsys):
    assert main(["rules"]) == 0
    assert "# The rule language" in capsys.readouterr().out


def test_check_offers_lines_that_can_be_used(tmp_path, capsys):
    rules = tmp_path / "my.rules"
    rules.write_text("# mine\nsuger >= 7 => ill\n")
    asked = ["check", str(rules), "--data", write_table(tmp_path), "--label", "state"]
    assert main(asked) == 1
    said = capsys.readouterr().err
    assert "line 2" in said
    assert "write: sugar >= 7 => ill" in said
