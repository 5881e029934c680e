"""The command line: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from hipad import HIPADClassifier, load_model
from hipad.cli import main
from hipad.cli.bar import Bar, counted
from hipad.data.process import apart
from hipad.places import SAMPLES as FOLDER
from hipad.solver import Status

PIMA = str(FOLDER / "pima" / "data.csv")
RULES = str(FOLDER / "pima" / "pima.rules")
BLOCKS = str(FOLDER / "pima" / "blocks.json")


@pytest.fixture
def small(tmp_path):
    """A table with a gap, a text column and a constant one."""
    rng = np.random.default_rng(0)
    lines = ["age,sugar,kind,same,ill"]
    for i in range(40):
        ill = "yes" if i % 2 else "no"
        sugar = "" if i == 4 else f"{rng.normal(5 + 3 * (i % 2)):.3f}"
        lines.append(f"{rng.integers(20, 80)},{sugar},{'ab'[i % 3 == 0]},7,{ill}")
    path = tmp_path / "small.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "some.rules"
    path.write_text("sweet: sugar >= 9 and same >= 7 => yes worth 5 patients\nsugar <= 4 => no\n")
    return path


def fit(small, tmp_path, *more, lambda1="0.05"):
    target = tmp_path / "model.json"
    words = ["fit", str(small), "--label", "ill", "--model", str(target), *map(str, more)]
    return main([*words, "--lambda1", lambda1]), target


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


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


def test_predict_prepares_new_rows_as_training_did(small, tmp_path, capsys):
    _, target = fit(small, tmp_path)
    new = tmp_path / "new.csv"
    new.write_text("kind,sugar,age,same,beside\na,,50,7,1\nunknown,99,50,7,2\n")
    out = tmp_path / "answers.csv"
    assert main(["predict", str(target), str(new), "--out", str(out)]) == 0
    answers = rows_of(out.read_text())
    assert len(answers) == 2
    assert answers[1]["class"] == "yes"
    assert "2 of 2 rows" in capsys.readouterr().err


def test_predict_takes_a_model_of_the_library(tmp_path, capsys):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.0]])
    HIPADClassifier(lambda1=0.01).fit(X, [0, 1, 0, 1]).save(tmp_path / "m.json")
    np.savez(tmp_path / "x.npz", X=X)
    assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "x.npz")]) == 0
    assert [row["class"] for row in rows_of(capsys.readouterr().out)] == ["0", "1", "0", "1"]


def test_the_positive_class_is_the_users_whatever_its_place_in_the_alphabet(
    small, tmp_path, capsys
):
    rules = tmp_path / "r.rules"
    rules.write_text("sugar <= 4 => positive\n")
    code, target = fit(small, tmp_path, "--rules", rules, "--positive", "no")
    assert code == 0
    assert str(load_model(target).rules) == "sugar <= 4 => no"
    main(["predict", str(target), str(small)])
    answers = rows_of(capsys.readouterr().out.split("saved:")[-1].split("\n", 1)[1])
    assert all((float(row["score of no"]) > 0) == (row["class"] == "no") for row in answers)


def test_parameters_reach_the_classifier(small, tmp_path):
    more = ["--method", "exact", "--no-standardize", "--class-weight", "none", "--patients", "7"]
    _, target = fit(small, tmp_path, *more, "--no-calibrate", lambda1="0.3")
    model = load_model(target)
    assert (model.method, model.standardize, model.class_weight) == ("exact", False, None)
    assert (model.patients, model.calibrate, model.lambda1) == (7.0, False, 0.3)
    assert model.engine == HIPADClassifier().engine


def test_a_test_file_is_judged(small, tmp_path, capsys):
    code, _ = fit(small, tmp_path, "--test", small)
    out = capsys.readouterr().out
    assert code == 0
    train, test = (line for line in out.splitlines() if " right, " in line)
    assert train.removeprefix("training") == test.removeprefix("test")


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


def test_no_command_writes_over_what_it_reads(small, rules, tmp_path, capsys):
    _, model = fit(small, tmp_path)
    link = tmp_path / "link"
    link.symlink_to(model)
    hard = tmp_path / "hard.csv"
    hard.hardlink_to(small)
    before = {path: path.read_bytes() for path in (model, small, rules)}
    predict = ["predict", str(model), str(small), "--out"]
    learn = ["fit", str(small), "--label", "ill", "--rules", str(rules), "--model"]
    for words, target in (
        (predict, model),
        (predict, link),
        (predict, small),
        (predict, hard),
        (learn, small),
        (learn, hard),
        (learn, rules),
        ([*learn[:-1], "--test", str(model), "--model"], model),
    ):
        capsys.readouterr()
        assert main([*words, str(target)]) == 1
        assert "this command reads it" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in before}
    assert link.is_symlink()


def test_output_may_stream(small, tmp_path, capsys):
    _, model = fit(small, tmp_path)
    capsys.readouterr()
    assert main(["predict", str(model), str(small)]) == 0
    answers = capsys.readouterr().out
    assert main(["predict", str(model), str(small), "--out", "/dev/stdout"]) == 0
    assert capsys.readouterr().out == answers
    code = main(["fit", str(small), "--label", "ill", "--model", "/dev/stdout", "--lambda1", "0.1"])
    assert code == 0
    assert json.loads(capsys.readouterr().out)["format"] == "hipad-model"


@pytest.mark.parametrize("more", [[], ["--out", "/dev/stdout"]])
def test_a_reader_that_goes_away_ends_the_command_quietly(small, tmp_path, more):
    _, model = fit(small, tmp_path)
    many = tmp_path / "many.csv"
    head, row = small.read_text().splitlines()[:2]
    many.write_text("\n".join([head, *[row] * 20_000]))
    words = [sys.executable, "-m", "hipad", "predict", str(model), str(many), *more]
    command = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert command.stdout.readline() == "row,class,score of yes\n"
    command.stdout.close()
    errors = command.stderr.read()
    command.wait(60)
    command.stderr.close()
    assert "error" not in errors
    assert "Traceback" not in errors
    assert "Exception" not in errors


def test_check_tells_what_rules_do_and_what_is_odd(small, tmp_path, capsys):
    rules = tmp_path / "odd.rules"
    rules.write_text("a: sugar >= 7 => yes\nb: sugar >= 8 => yes\nc: age >= 500 => no\n")
    assert main(["check", str(rules), "--data", str(small), "--label", "ill"]) == 0
    out = capsys.readouterr().out
    for part in (
        "a: sugar >= 7 => yes",
        "fires on",
        "leave b out",
        "nobody in the range",
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
    rules.write_text("sugar >= => yes\nage >= 3 => no\nmax(age) >= 3 => yes\n")
    assert main(["check", str(rules), "--data", str(small), "--label", "ill"]) == 1
    err = capsys.readouterr().err
    assert err.count("error: ") == 2
    assert "line 1" in err
    assert "line 3" in err


def test_the_samples_work_with_blocks(tmp_path, capsys):
    words = ["fit", PIMA, "--label", "Diagnosis", "--positive", "diabetic", "--rules", RULES]
    target = tmp_path / "m.json"
    assert main([*words, "--blocks", BLOCKS, "--model", str(target), "--lambda1", "0.05"]) == 0
    assert "high_risk" in capsys.readouterr().out


def test_blocks_may_be_lines_or_json(small, tmp_path):
    rules, lines, as_json = (tmp_path / name for name in ("r", "b.txt", "b.json"))
    rules.write_text("mean(K) >= 40 => yes\n")
    lines.write_text("K = age, sugar\n")
    as_json.write_text(json.dumps({"K": ["age", "sugar"]}))
    weights = []
    for blocks in (lines, as_json):
        code, target = fit(small, tmp_path, "--rules", rules, "--blocks", blocks)
        assert code == 0
        weights.append(load_model(target).coef_)
    assert np.array_equal(*weights)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "none.csv", "--label", "y", "--model", "m.json"], "cannot be opened"),
        (["fit", PIMA, "--model", "m.json"], "expected --label"),
        (["fit", PIMA, "--label", "Diagnose", "--model", "m.json"], "Diagnose"),
        (["fit", PIMA, "--label", "Age", "--model", "m.json"], "expected two classes"),
        (["fit", PIMA, "--label", "Diagnosis", "--model", "no/m.json"], "folder is not there"),
        (
            ["fit", PIMA, "--label", "Diagnosis", "--model", "m.json", "--lambda1", "-1"],
            "expected lambda1 to be a finite number",
        ),
        (
            ["fit", PIMA, "--label", "Diagnosis", "--model", "m.json", "--split", "2"],
            "expected a test fraction",
        ),
        (
            ["fit", PIMA, "--label", "Diagnosis", "--model", "m.json", "--rules", "bad"],
            "line 1, column 1: no feature or block is called Glucos: did you mean Glucose",
        ),
        (
            ["fit", PIMA, "--label", "Diagnosis", "--model", "m.json", "--blocks", "bad.json"],
            "not whole JSON",
        ),
        (["predict", "bad", PIMA], "expected a model saved by"),
        (["reproduce", "ksvm-s-10k", "--seeds", "0"], "expected --seeds of 1 or more"),
    ],
)
def test_bad_input_is_a_sentence_on_stderr(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_text("Glucos >= 3 => healthy")
    (tmp_path / "bad.json").write_text('{"K": [')
    assert main(words) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert message in err
    assert "Traceback" not in err
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("words", [[], ["fit"], ["nonsense"], ["reproduce", "ksvm-s-9k"]])
def test_wrong_usage_is_exit_code_two(words, capsys):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_the_module_runs_and_knows_its_version():
    words = [sys.executable, "-m", "hipad", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("hipad ")


def test_reproduce_shows_our_figures_beside_the_papers(monkeypatch, capsys):
    from hipad.cli import reproduce
    from hipad.datasets import make_ksvm_s

    def small(size, seed):
        return make_ksvm_s(size, seed=seed, n_train=60, n_test=60, n_features=400, block_size=10)

    monkeypatch.setattr(reproduce, "make_ksvm_s", small)
    assert main(["reproduce", "ksvm-s-10k", "--seeds", "2"]) == 0
    title, head, ours, literal, libsvm = capsys.readouterr().out.splitlines()
    assert title == "ksvm-s-10k, mean of 2 draws"
    assert head.split()[:3] == ["method", "in", "the"]
    assert ours.split()[:2] == ["HIPAD-ENK", "0.990"]
    assert literal.startswith("paper's settings  -")
    assert libsvm.split()[:2] == ["LIBSVM", "0.861"]
    assert float(ours.split()[2]) > float(libsvm.split()[2])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_are_drawn_in_a_terminal_only(monkeypatch):
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(counted(range(4), "draw")) == [0, 1, 2, 3]
    assert "draw 3 of 4" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[K")
    assert pipe.getvalue() == ""


def test_the_bar_tells_what_a_fit_does():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 2
    terminal = Terminal()
    with Bar(terminal) as bar:
        for record in HIPADClassifier().start(X, y):
            bar.last = 0.0
            bar.progress(record)
    for part in ("choosing lambda1: value 1", "finding features: step 1", "accurate classifier"):
        assert part in terminal.getvalue()


def test_a_table_is_read_within_the_limits_of_the_environment(small, tmp_path):
    command = [sys.executable, "-m", "hipad", "fit", str(small), "--label", "ill"]
    done = subprocess.run(
        [*command, "--model", str(tmp_path / "model.json")],
        env={**os.environ, "HIPAD_LIMIT_COLUMNS": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "small.csv: expected at most 3 columns, got 5" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_while_reading_ends_the_reader_too(small, tmp_path, monkeypatch, capsys):
    started, start = [], apart._start

    def note(*arguments):
        started.append(start(*arguments))
        return started[0]

    monkeypatch.setattr(apart, "_start", note)
    monkeypatch.setattr(apart, "_news", lambda folder: signal.raise_signal(signal.SIGINT))
    code, target = fit(small, tmp_path)
    assert code == 130
    assert "stopped" in capsys.readouterr().err
    assert started[0].returncode is not None
    assert not target.exists()
