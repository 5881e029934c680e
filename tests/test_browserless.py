"""A run of the tests on a machine without a browser says so where everybody looks: at the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BROWSER_TEST = "tests/browser/test_outside.py"


def last_line(folder: Path, *options: str, ci: str = "") -> str:
    """Of a run of browser tests where neither a program nor Playwright's own browser is found."""
    surroundings = {**os.environ, "PATH": str(folder), "CI": ci}
    surroundings |= {"PLAYWRIGHT_BROWSERS_PATH": str(folder), "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        [*command, BROWSER_TEST], cwd=ROOT, env=surroundings, capture_output=True, text=True
    )
    return done.stdout.strip().splitlines()[-1]


def test_the_last_line_says_what_did_not_run_and_how_to_get_a_browser(tmp_path):
    told = last_line(tmp_path, "-n", "1")  # with a worker, as `make test` does
    assert told.startswith("4 browser tests did not run, as no browser was found: ")
    assert "playwright install chromium" in told


def test_in_ci_that_is_a_failure(tmp_path):
    assert last_line(tmp_path, ci="true").startswith("4 errors")
