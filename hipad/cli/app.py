"""Open the app in the browser."""

from __future__ import annotations

import argparse
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import hipad
from hipad.errors import DataError

SCRIPT = Path(hipad.__file__).resolve().parents[1] / "app.py"


def add_options(parser: argparse.ArgumentParser) -> None:
    """`--port` and `--no-browser`."""
    parser.add_argument("--port", type=int, help="where to serve the app")
    parser.add_argument("--no-browser", action="store_true", help="serve only, open no browser")


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    if not SCRIPT.exists():
        raise DataError(f"expected {SCRIPT.name} beside the package: it comes with the source tree")
    with suppress(KeyboardInterrupt):
        return subprocess.call(command(options), cwd=SCRIPT.parent)
    return 0


def command(options: argparse.Namespace) -> list[str]:
    """The call of Streamlit."""
    words = [sys.executable, "-m", "streamlit", "run", str(SCRIPT)]
    words += [f"--server.port={options.port}"] if options.port else []
    return words + (["--server.headless=true"] if options.no_browser else [])
