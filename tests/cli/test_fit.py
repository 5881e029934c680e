from __future__ import annotations

import argparse
import signal

import pytest

from hipad import HIPADClassifier, load_model
from hipad.cli import main
from hipad.cli.inputs import Bar
from hipad.cli.main import build_parser
from hipad.datasets import read_sample
from hipad.estimator.model_io import read_model
from hipad.estimator.parameters import layer_of
from hipad.solvers import Status
from hipad.utils import SAMPLES as FOLDER
from tests.cli.commands import fit, rows_of

PIMA = str(FOLDER / "pima" / "data.csv")
RULES = str(FOLDER / "pima" / "pima.rules")
BLOCKS = str(FOLDER / "pima" / "blocks.json")


def test_fit_reports_and_saves_a_model_that_predict_uses(small, rules, tmp_path, capsys):
    code, target = fit(small, tmp_path, "--rules", rules, "--split", "0.25")
    out = capsys.readouterr().out
    assert code == 0
    for part in ("missing values filled", "certificate: solved", "test: ", "sweet: sugar >= 9"):
        assert part in out
    assert main(["predict", str(target), str(small)]) == 0
    captured = capsys.readouterr()
    answers = rows_of(captured.out)
    assert [row["row"] for row in answers] == [str(n) for n in range(1, 41)]
    truth = ["yes" if i % 2 else "no" for i in range(40)]
    right = sum(row["class"] == label for row, label in zip(answers, truth, strict=True))
    assert right >= 34
    assert f"{right} of 40 right" in captured.err
    assert all((float(row["score of yes"]) > 0) == (row["class"] == "yes") for row in answers)


def test_parameters_reach_the_classifier(small, tmp_path):
    more = ["--method", "exact", "--no-standardize", "--class-weight", "none"]
    more += ["--rule-weight", "7"]
    _, target = fit(small, tmp_path, *more, "--no-calibrate", lambda1="0.3")
    model = load_model(target)
    assert (model.method, model.standardize, model.class_weight) == ("exact", False, None)
    assert (model.rule_weight, layer_of(model, "selection").calibrate) == (7.0, False)
    assert model.lambda1 == 0.3
    assert layer_of(model, "solver") == layer_of(HIPADClassifier(), "solver")


def test_a_test_file_is_judged_when_it_is_opened_and_every_opening_is_kept(small, tmp_path, capsys):
    def lines(*more):
        code, target = fit(small, tmp_path, "--test", small, *more)
        assert code == 0
        out = capsys.readouterr().out.splitlines()
        return [line for line in out if " right, " in line], out, read_model(target).origin

    right, out, origin = lines()
    assert [line.partition(":")[0] for line in right] == ["training", "held out"]
    assert any(line.startswith("test: sealed; --open-test") for line in out)
    assert origin.openings == ()
    right, out, origin = lines("--open-test", "the rules are final")
    train, _, test = right
    assert train.removeprefix("training") == test.removeprefix("test")
    assert "test set: judged once" in out
    assert [one.reason for one in origin.openings] == ["the rules are final"]
    _, out, origin = lines("--open-test", "again")
    assert [one.reason for one in origin.openings] == ["the rules are final", "again"]
    assert any(line.startswith("test set: opened 2 times") for line in out)
    assert len(lines()[2].openings) == 2  # a later fit forgets none


@pytest.mark.parametrize("lambda1", ["0.05", "auto"])
def test_ctrl_c_keeps_the_model_so_far_and_says_so(small, tmp_path, monkeypatch, capsys, lambda1):
    monkeypatch.setattr(Bar, "progress", lambda self, record: signal.raise_signal(signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    code, target = fit(small, tmp_path, lambda1=lambda1)
    assert code == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert load_model(target).certificate_.status is Status.STOPPED
    captured = capsys.readouterr()
    assert "stopped by the user" in captured.out
    assert "stopped: the saved model" in captured.err


def test_the_samples_work_with_blocks(tmp_path, capsys):
    words = ["fit", PIMA, "--label", "Diagnosis", "--positive", "diabetic", "--rules", RULES]
    target = tmp_path / "m.json"
    assert main([*words, "--blocks", BLOCKS, "--model", str(target), "--lambda1", "0.05"]) == 0
    assert "high_risk" in capsys.readouterr().out


def test_findings_are_printed_and_every_mistake_at_once(small, tmp_path, capsys):
    rules = tmp_path / "some.rules"
    rules.write_text("a: sugar >= 7 => yes\nb: sugar >= 8 => yes\nc: sugar <= 9 => no\n")
    code, _ = fit(small, tmp_path, "--rules", rules)
    out = capsys.readouterr().out
    assert code == 0
    for part in ("whoever meets b meets a too", "some patients meet both a and c", "for example"):
        assert part in out
    rules.write_text("suga >= 7 => yes\nsugar >= => yes\nage >= 3 => maybe\n")
    code, _ = fit(small, tmp_path / "..", "--rules", rules)
    said = capsys.readouterr()
    assert code == 1
    for line in (1, 2, 3):
        assert f"error: {rules}: line {line}" in said.err


@pytest.mark.parametrize("command", ["fit", "check"])
def test_help_shows_a_rule_and_every_default(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "Glucose >= 126 and BMI >= 30 => diabetic" in capsys.readouterr().out
    (commands,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    for action in commands.choices[command]._actions:
        told = action.help != argparse.SUPPRESS  # names of earlier versions are not
        if told and action.option_strings and not action.required and action.dest != "help":
            assert "(default: " in str(action.help), action.option_strings
            usual = HIPADClassifier().get_params(deep=False).get(action.dest)
            if command == "fit" and isinstance(usual, float | str):
                assert f"(default: {usual})" in str(action.help)


@pytest.mark.parametrize(
    ("rule", "positive"),
    [("", "AML (the rarer class)"), ("a >= 30 => ALL", "ALL (the first rule speaks for it)")],
)
def test_fit_positive_class(rule, positive, tmp_path, capsys):
    table, model = tmp_path / "table.csv", tmp_path / "model.json"
    table.write_text("a,y\n" + "".join(f"{i},{'AML' if i < 15 else 'ALL'},\n" for i in range(40)))
    (tmp_path / "some.rules").write_text(rule)
    given = ["--rules", str(tmp_path / "some.rules")] if rule else []
    fit = ["fit", str(table), "--label", "y", "--model", str(model), "--lambda1", "0.01", *given]
    assert main(fit) == 0
    said = capsys.readouterr()
    assert f"positive class: {positive}; the other is" in said.out
    assert "note: table.csv: 40 rows longer than the header" in said.err
    assert main(["predict", str(model), str(table)]) == 0
    first, *_ = rows_of(capsys.readouterr().out)
    name = positive.split()[0]
    assert (float(first[f"risk of {name}"]) > 0.5) == (name == "AML")
    assert read_model(model).origin.decided_by == ("rule" if rule else "rarer")


def test_fit_positive_class_of_a_sample_is_the_app_s(tmp_path, capsys):
    sample = str(FOLDER / "all-bcrabl" / "data.npz")
    target = str(tmp_path / "model.json")
    assert main(["fit", sample, "--model", target, "--lambda1", "0.3", "--split", "0.8"]) == 0
    assert "positive class: BCR/ABL" in capsys.readouterr().out
    assert read_model(target).origin.classes[1] == read_sample("all-bcrabl").positive


def test_rows_without_a_label_are_used_and_told(small, rules, tmp_path, capsys):
    lines = small.read_text().splitlines()
    for i in (1, 2, 3):
        lines[i] = lines[i].rpartition(",")[0] + ","
    small.write_text("\n".join(lines))
    more = tmp_path / "more.csv"
    more.write_text("\n".join([lines[0], *lines[4:12]]))
    code, target = fit(small, tmp_path, "--rules", rules, "--unlabelled", more)
    told = capsys.readouterr().out
    assert code == 0
    used = "rows without a label, used for what the rules say, never for judging"
    assert f"data: {used}: 3" in told
    assert f"data: {used}, from a second file: 8" in told
    assert "data: labels of the unlabelled rows, not read: 8 ('ill')" in told
    assert " of 37 " in told
    assert any(member.on_rows for member in load_model(target).members_)


def test_trust_and_what_was_averaged_are_told(small, rules, tmp_path, capsys):
    code, _ = fit(small, tmp_path, "--rules", rules)
    told = capsys.readouterr().out
    assert code == 0
    assert "its weight of 5 patients is used as written" in told
    assert "the 40 labelled rows" in told
    assert "averaged, by how well each predicts rows that it did not see:" in told
    assert "  without rule 2, sweet as written: " in told
    assert "  the others at 20 patients each, sweet as written: " in told
