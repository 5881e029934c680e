from __future__ import annotations

from hipad.cli import main
from tests.experiments.table_file import write_table


def test_a_plan_is_printed_and_written(tmp_path, capsys):
    data, _ = write_table(tmp_path)
    asked = ["plan", data, "--label", "y", "--positive", "ill"]
    asked += ["--target", "auroc=0.9+-0.1", "--draws", "3", "--sizes", "12", "20", "30"]
    out = tmp_path / "protocol.txt"
    assert main([*asked, "--fixed", "0.1", "--workers", "1", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "without rules needs" in told
    assert "Riley's criteria" in told
    assert out.read_text("utf-8").startswith("Sample size. ")
    assert out.read_text("utf-8") in told


def test_a_target_that_is_none_is_refused(tmp_path, capsys):
    data, _ = write_table(tmp_path)
    assert main(["plan", data, "--label", "y", "--target", "luck=1"]) == 1
    assert "expected a target such as auroc=0.8" in capsys.readouterr().err
