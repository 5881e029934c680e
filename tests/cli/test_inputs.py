from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np

from hipad import load_model
from hipad.data.process import apart
from tests.cli.commands import fit


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
