from __future__ import annotations

import pytest

from hipad.cli import main
from tests.experiments.table_file import write_table

pytestmark = pytest.mark.usefixtures("short_choice")


@pytest.mark.parametrize(
    ("what", "axis", "rows"),
    [
        ((), "advice", ["as written", "irrelevant features", "flipped"]),
        (("--thresholds", "0", "1.5"), "threshold", ["0", "1.5"]),
        (("--worths", "2", "20"), "worth in patients", ["2 patients", "20 patients"]),
    ],
)
def test_each_version_has_a_line(what, axis, rows, tmp_path, capsys):
    data, rules = write_table(tmp_path)
    asked = ["sensitivity", data, "--label", "y", "--positive", "ill", "--rules", rules, *what]
    assert main([*asked, "--draws", "2", "--labelled", "6"]) == 0
    title, head, *told = capsys.readouterr().out.splitlines()
    assert title == "What if rule 1 of data.csv is wrong"
    assert head.startswith(axis)
    assert all(line.startswith(row) for line, row in zip(told, rows, strict=False))


def test_a_rule_that_is_not_there_is_refused(tmp_path, capsys):
    data, rules = write_table(tmp_path)
    assert main(["sensitivity", data, "--label", "y", "--rules", rules, "--rule", "3"]) == 1
    assert "--rule 1 or 2, the line of a rule" in capsys.readouterr().err
