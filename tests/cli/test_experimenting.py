from __future__ import annotations

import pytest

from hipad.cli import main
from tests.experiments.table_file import write_table

pytestmark = pytest.mark.usefixtures("short_choice")


@pytest.mark.parametrize("command", ["curve", "sensitivity"])
def test_no_workers_are_refused(command, tmp_path, capsys):
    data, rules = write_table(tmp_path)
    asked = [command, data, "--label", "y", "--rules", rules, "--workers", "0"]
    assert main(asked) == 1
    assert "--workers of 1 or more" in capsys.readouterr().err


def test_a_fit_that_fails_is_told_and_the_others_count(tmp_path, capsys, monkeypatch):
    from hipad.experiments import runner

    honest = runner.do

    def sometimes(task, key, data):
        if task.settings["method"] == "LIBSVM" and task.seed == 0:
            return runner.Done(task, key, error="ValueError: no")
        return honest(task, key, data)

    monkeypatch.setattr(runner, "do", sometimes)
    data, rules = write_table(tmp_path)
    asked = ["curve", data, "--label", "y", "--rules", rules, "--draws", "2", "--sizes", "4"]
    assert main(asked) == 0
    evidence = capsys.readouterr()
    assert "failed: data.csv, seed 0" in evidence.err
    assert "LIBSVM on data.csv: 1 of 2 fits failed, the first with: ValueError: no" in evidence.out
