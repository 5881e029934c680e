"""What `hipad check` prints about rules on a table."""

from __future__ import annotations

import numpy as np
import pytest

from hipad import load_model
from hipad.cli import main
from hipad.cli.check import row_list
from tests.cli.commands import fit


@pytest.fixture
def table(tmp_path):
    """Sugar tells the ill from the well, and age tells nothing; row 3 has no label."""
    rng = np.random.default_rng(0)
    lines = ["sugar,age,ill"]
    for i in range(60):
        label = "" if i == 2 else "yes" if i % 2 else "no"
        lines.append(f"{rng.normal(5 + 4 * (i % 2), 0.3):.3f},{rng.integers(20, 80)},{label}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    return path


def check(table, tmp_path, capsys, text, *more):
    rules = tmp_path / "my.rules"
    rules.write_text(text)
    code = main(["check", str(rules), "--data", str(table), "--label", "ill", *more])
    return code, capsys.readouterr()


def test_rows_that_contradict_a_rule_are_those_of_the_file(table, tmp_path, capsys):
    code, said = check(table, tmp_path, capsys, "sugar >= 7 => no\noff age >= 1 => no\n")
    assert code == 0
    assert "contradicted by rows 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 20 more" in said.out
    assert "age >= 1" not in said.out


def test_a_better_threshold_is_suggested(table, tmp_path, capsys):
    _, said = check(table, tmp_path, capsys, "sugar >= 1 => yes\n")
    assert "suggestion: the data support 'sugar >= 7' best" in said.out


def test_with_lambda1_it_says_whether_a_rule_is_heard(table, tmp_path, capsys):
    text = "age >= 60 => yes worth 0.1 patients\n"
    _, said = check(table, tmp_path, capsys, text)
    assert "was assumed; --lambda1 tells another" in said.out
    _, said = check(table, tmp_path, capsys, text, "--lambda1", "0.3")
    assert "assumed" not in said.out
    assert "against lambda1 0.3: too weak for a feature to enter, limited by its worth" in said.out
    assert "for a feature of it to enter it must be worth more than" in said.out
    _, said = check(table, tmp_path, capsys, "age >= 60 => yes\n", "--lambda1", "3")
    assert "must be worth more" not in said.out
    assert "its weight is learnt by a fit" in said.out


def test_a_model_brings_its_own_lambda1(table, tmp_path, capsys):
    target = tmp_path / "m.json"
    main(["fit", str(table), "--label", "ill", "--model", str(target), "--lambda1", "0.2"])
    capsys.readouterr()
    code, said = check(table, tmp_path, capsys, "sugar >= 9 => yes\n", "--model", str(target))
    assert code == 0
    assert "against lambda1 0.2: enough for a feature" in said.out


def test_every_name_that_is_unknown_is_told(table, tmp_path, capsys):
    text = "sugr >= 7 => yes\nsugar >= 7 => yes\nage >= 1 => maybe\n"
    code, said = check(table, tmp_path, capsys, text)
    assert code == 1
    assert "line 1, column 1: no feature or block is called sugr" in said.err
    assert "line 3" in said.err
    assert said.out == ""


def test_gaps_and_what_they_decide_are_told(tmp_path, capsys):
    lines = ["sugar,ill", *(f"{5 + 4 * (i % 2)},{'yes' if i % 2 else 'no'}" for i in range(30))]
    table = tmp_path / "gaps.csv"
    table.write_text("\n".join([*lines, ",yes", ",no"]))
    _, said = check(table, tmp_path, capsys, "sugar >= 6 => yes\n", "--missing", "median")
    assert "data: missing values filled (median): 2 ('sugar')" in said.out
    assert "fires on 15 of 32 rows, right on 15 (100%), no value: 2 of 32" in said.out


def test_a_rule_is_shown_with_the_class_it_says(table, tmp_path, capsys):
    text = "sugar >= 7 => positive\n"
    code, said = check(table, tmp_path, capsys, text, "--positive", "no")
    assert code == 0
    assert "positive class: no (as chosen); the other is yes" in said.out
    assert "rule 1: sugar >= 7 => no" in said.out
    _, said = check(table, tmp_path, capsys, "sugar >= 7 => YES\n")
    assert "rule 1: sugar >= 7 => yes" in said.out


def test_every_kind_of_answer_is_printed(table, tmp_path, capsys):
    text = "a: sugar >= 1 => yes worth 3 patients\nb: age >= 30 => no worth 0.01 patients\n"
    _, said = check(table, tmp_path, capsys, text, "--lambda1", "0.3")
    for part in (
        "data: rows without a label dropped: 1",
        "suggestion: the data support",
        "the data alone bring a feature of it in, whatever its worth",
        "for a feature of it to enter it must be worth more than",
        "contradicted by rows",
        "some patients meet both",
        "for example",
        "so no feature enters for its worth",
        "rows meet rules of both outcomes",
    ):
        assert part in said.out, part


def test_nothing_odd_is_a_word_too(table, tmp_path, capsys):
    _, said = check(table, tmp_path, capsys, "sugar >= 7 => yes worth 20 patients\n")
    assert "nothing odd was found about the rules" in said.out


def test_few_rows_are_all_named():
    assert row_list(np.array([7])) == "row 7"
    assert row_list(np.arange(1, 11)).endswith("9, 10")


def test_check_tells_what_rules_do_and_what_is_odd(small, tmp_path, capsys):
    rules = tmp_path / "odd.rules"
    rules.write_text("a: sugar >= 7 => yes\nb: sugar >= 8 => yes\nc: age >= 500 => no\n")
    assert main(["check", str(rules), "--data", str(small), "--label", "ill"]) == 0
    out = capsys.readouterr().out
    for part in (
        "a: sugar >= 7 => yes",
        "fires on",
        "leave b out",
        "beyond the range of these data",
        "for ex",
    ):
        assert part in out


def test_check_with_a_model_tells_how_far_rules_hold(small, rules, tmp_path, capsys):
    _, target = fit(small, tmp_path, "--rules", rules, "--positive", "no")
    capsys.readouterr()
    words = ["check", str(rules), "--data", str(small), "--model", str(target)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "prototype margin" in out
    assert "worst" in out
    held = {r.label: r.worst.value for r in load_model(target).rule_report_}
    assert f"{held['sweet']:.3g}" in out  # the same table, so the same box


def test_check_tells_every_mistake_of_the_rules_at_once(small, tmp_path, capsys):
    rules = tmp_path / "bad.rules"
    rules.write_text("sugar >= => yes\nage >= 3 => no\nage*sugar >= 3 => yes\n")
    assert main(["check", str(rules), "--data", str(small), "--label", "ill"]) == 1
    err = capsys.readouterr().err
    assert err.count("error: ") == 2
    assert "line 1" in err
    assert "line 3" in err


def test_check_prints_how_the_file_was_understood(tmp_path, capsys):
    table = tmp_path / "klinik.csv"
    rows = [f"{30 + i};{i % 5},5;{'ja' if i % 2 else 'nein'}" for i in range(20)]
    table.write_text("\n".join(["sep=;", "age;crp;ill", *rows, "999;k.A.;ja", "Summe;1;2"]))
    _, said = check(table, tmp_path, capsys, "crp >= 2 => ja\n")
    for line in (
        "file: separator: semicolons (told by the first line)",
        "file: decimal sign: comma (1,5) (as the numbers show)",
        "file: header row: line 2 (words above columns of numbers)",
        "file: gaps: empty cells and k.A. (1)",
        "file: orientation: one row per patient",
        "positive class: ja",
    ):
        assert line in said.out
    assert "question: klinik.csv: 1 cell 999 in column 'age'" in said.err
    assert "--column-gap age=999" in said.err
    assert "--footer-rows 0" in said.err
    more = ("--column-gap", "age=999", "--gap-word", "k.A.")
    _, said = check(table, tmp_path, capsys, "crp >= 2 => ja\n", *more)
    assert "999" not in said.err
    assert "missing values filled (median): 2" in said.out
