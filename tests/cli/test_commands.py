"""What several commands share: where they write, what they read, and how they show progress."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys

import numpy as np

from hipad import HIPADClassifier, load_model
from hipad.cli import main
from hipad.cli.bar import Bar, counted
from hipad.data.process import apart
from tests.cli.commands import fit


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
