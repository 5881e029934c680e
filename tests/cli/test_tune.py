from __future__ import annotations

from pathlib import Path

import pytest

from hipad.cli import main
from hipad.cli.experiments import amounts
from hipad.exceptions import DataError
from tests.experiments.table_file import write_table


@pytest.fixture
def asked(tmp_path):
    data, rules = write_table(tmp_path)
    lines = Path(data).read_text().splitlines()
    named = [f"{lines[0]},who", *(f"{line},p{k // 2}" for k, line in enumerate(lines[1:]))]
    Path(data).write_text("\n".join(named) + "\n")
    return ["tune", data, "--label", "y", "--positive", "ill", "--rules", rules]


def test_the_choice_and_an_honest_estimate_are_told(asked, tmp_path, capsys):
    page = tmp_path / "page.html"
    grid = ["--count", "2", "--lambda2", "1", "--worth", "auto", "5", "--folds", "3"]
    assert main([*asked, *grid, "--groups", "who", "--html", str(page)]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[0] == "Settings for data.csv"
    assert "lambda2 1, rho auto, worth 5" in told
    assert "Chosen: lambda1" in told
    assert "Honest estimate:" in told
    assert "on 3 folds" in told
    assert page.read_text().count("<svg") == 2


def test_rules_may_be_left_out_and_the_estimate_too(asked, capsys):
    without = [word for word in asked[:-2] if word != "--rules"]
    grid = ["--lambda1", "0.1", "0.01", "--lambda2", "1", "--folds", "2", "--quick"]
    assert main([*without, *grid, "--exclude", "who"]) == 0
    told = capsys.readouterr().out
    assert "Honest" not in told
    assert "0.01" in told


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--folds", "1"], "--folds of 2 or more"),
        (["--worth", "much"], "numbers or auto for --worth, got 'much'"),
        (["--groups", "nobody"], "nobody"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(asked, words, why, capsys):
    assert main([*asked, *words]) == 1
    assert why in capsys.readouterr().err


def test_amounts_are_numbers_or_auto():
    with pytest.raises(DataError, match="0 or more for --worth"):
        amounts("--worth", ["-1"])
