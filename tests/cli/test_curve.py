from __future__ import annotations

import pytest

from hipad.cli import main
from tests.experiments.table_file import write_table

pytestmark = pytest.mark.usefixtures("short_choice")


def test_a_curve_says_what_the_rules_are_worth(tmp_path, capsys):
    data, rules = write_table(tmp_path)
    asked = ["curve", data, "--label", "y", "--positive", "ill", "--rules", rules]
    assert main([*asked, "--draws", "3", "--sizes", "4", "8"]) == 0
    told = capsys.readouterr().out
    assert "labelled rows  with rules" in told
    assert "With 8 labelled patients the rules are worth" in told


def test_one_draw_is_no_curve(tmp_path, capsys):
    data, rules = write_table(tmp_path)
    assert main(["curve", data, "--label", "y", "--rules", rules, "--draws", "1"]) == 1
    assert "of 2 or more" in capsys.readouterr().err
