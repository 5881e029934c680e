"""The README keeps its promises: its example runs, its commands and links are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def fenced(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_example_runs_and_is_as_good_as_promised():
    (example,) = fenced("python")
    check = "\nassert accuracy >= 0.985 and 150 <= clf.support_.size <= 220"
    done = subprocess.run(
        [sys.executable, "-c", example + check], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "right with" in done.stdout


def test_the_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    commands = re.findall(r"^make (\w+)", "\n".join(fenced("sh")), flags=re.MULTILINE)
    assert commands == ["run", "test"]
    for command in commands:
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE)


def test_links_point_at_files_that_are_there():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
