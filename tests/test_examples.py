"""The examples run as they stand, and print what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
PROMISED = {
    "gene_rules.py": r"without rules: \d+\.\d%.*with rules: +\d+\.\d%",
    "grid_search.py": r"best: (?:None|Glucose).*on new patients 0\.[678]\d",
    "watching.py": r"phase 1.*paused; and on.*phase 2.*9\d\.\d% right with \d+ features",
    "command_line.sh": r"right.*diabetic",
}
PATIENCE = 300  # seconds: only catches what hangs


def surroundings(shims: Path) -> dict[str, str]:
    """A PATH on which `hipad` is this tree's, as an installed package would put it there."""
    shim = shims / "hipad"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hipad "$@"\n')
    shim.chmod(0o755)
    path = os.pathsep.join([str(shims), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(FOLDER.parent)}


def test_every_example_is_run_and_told_of():
    scripts = {path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".sh")}
    table = re.findall(r"^\| \[([\w.]+)\]\(\1\) \|", (FOLDER / "README.md").read_text(), re.M)
    assert scripts == set(PROMISED) == set(table)


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_prints_what_it_promises(name, tmp_path):
    program = sys.executable if name.endswith(".py") else "sh"
    done = subprocess.run(
        [program, str(FOLDER / name)],
        cwd=tmp_path,
        env=surroundings(tmp_path),
        timeout=PATIENCE,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(PROMISED[name], done.stdout, re.DOTALL), done.stdout
    assert "Warning" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"hipad"}  # nothing is left behind
