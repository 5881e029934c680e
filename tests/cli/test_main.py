from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from hipad.cli import main
from hipad.cli.experiments import interrupted
from hipad.cli.main import INTERRUPTED
from hipad.data.table import write_text
from hipad.utils import SAMPLES as FOLDER
from tests.cli.commands import fit

PIMA = str(FOLDER / "pima" / "data.csv")


@pytest.mark.parametrize("more", [[], ["--out", "/dev/stdout"]])
def test_a_reader_that_goes_away_ends_the_command_quietly(small, tmp_path, more):
    _, model = fit(small, tmp_path)
    many = tmp_path / "many.csv"
    head, row = small.read_text().splitlines()[:2]
    many.write_text("\n".join([head, *[row] * 20_000]))
    words = [sys.executable, "-m", "hipad", "predict", str(model), str(many), *more]
    command = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert command.stdout.readline() == "row,class,score of yes,risk of yes\n"
    command.stdout.close()
    errors = command.stderr.read()
    command.wait(60)
    command.stderr.close()
    assert "error" not in errors
    assert "Traceback" not in errors
    assert "Exception" not in errors


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


def started(words, **more):
    return subprocess.run(
        [sys.executable, "-m", "hipad", *words],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **more,
    )


def without_stdout():
    os.close(1)


def without_streams():
    os.closerange(0, 3)


@pytest.mark.skipif(os.name != "posix", reason="streams are closed as shells of Unix do it")
def test_a_stdout_closed_before_the_start_ends_in_a_sentence(small, tmp_path):
    model = tmp_path / "m.json"
    words = ["fit", str(small), "--label", "ill", "--model", str(model), "--lambda1", "0.05"]
    for command in (words, ["predict", str(model), str(small)]):
        done = started(command, preexec_fn=without_stdout)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("error: expected an open standard output")
        assert "Traceback" not in done.stderr
        assert model.exists()
    told = ["predict", str(model), str(small), "--out", str(tmp_path / "answers.csv")]
    for closed in (without_stdout, without_streams):
        assert started(told, preexec_fn=closed).returncode == 0


@pytest.mark.parametrize("text", ["many", "0", "", "nan", "inf"])
def test_a_bad_limit_of_the_environment_is_a_sentence(text):
    done = started(["fit", "--help"], env={**os.environ, "HIPAD_LIMIT_ROWS": text})
    assert done.returncode == 1
    assert done.stderr.startswith("error: expected a number above zero in HIPAD_LIMIT_ROWS, got ")
    assert "Traceback" not in done.stderr


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


def test_ctrl_c_says_what_was_written(tmp_path, monkeypatch, capsys):
    def run(options):
        if options.model:
            write_text(tmp_path / "model.json", "{}")
        raise KeyboardInterrupt

    monkeypatch.setattr("hipad.cli.models.run_fit", run)
    words = ["fit", PIMA, "--label", "Diagnosis", "--model"]
    assert main([*words, "m.json"]) == INTERRUPTED
    assert f"stopped: written before that: {tmp_path / 'model.json'}\n" == capsys.readouterr().err
    assert main([*words, ""]) == INTERRUPTED
    assert capsys.readouterr().err == "stopped: nothing was written\n"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_an_experiment_that_is_stopped_says_which_fits_stay(tmp_path):
    results = tmp_path / "results.jsonl"
    command = subprocess.Popen(
        [
            sys.executable, "-m", "hipad", "curve", PIMA, "--label", "Diagnosis",
            "--rules", str(FOLDER / "pima" / "pima.rules"), "--draws", "400", "--sizes", "8",
            "--results", str(results), "--workers", "1",
        ],
        stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also in the background
    )  # fmt: skip
    end = time.monotonic() + 120
    while time.monotonic() < end and command.poll() is None:
        time.sleep(0.1)
        if results.exists() and len(results.read_text().splitlines()) > 2:
            break
    command.send_signal(signal.SIGINT)
    _, told = command.communicate(timeout=120)
    assert command.returncode == INTERRUPTED, told
    assert "Traceback" not in told
    assert f"fits are finished and stay in {results}: run the same command again" in told
    assert f"stopped: written before that: {results}" in told


def test_without_a_results_file_fits_are_lost_and_that_is_said():
    assert interrupted(3, 400, None).endswith("with --results FILE they would have been kept")
