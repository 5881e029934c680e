"""Open the app in the browser."""

from __future__ import annotations

import argparse
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec

from hipad.errors import DataError
from hipad.places import APP

NEEDED = ("streamlit", "plotly", "openpyxl", "pyarrow")


def add_options(parser: argparse.ArgumentParser) -> None:
    """`--port` and `--no-browser`."""
    parser.add_argument("--port", type=int, help="where to serve the app")
    parser.add_argument("--no-browser", action="store_true", help="serve only, open no browser")


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        raise DataError(
            f"the app needs {', '.join(lacking)}, not installed here: pip install 'hipad[app]'"
        )
    with suppress(KeyboardInterrupt):
        return subprocess.call(command(options), cwd=APP.parent)
    return 0


def command(options: argparse.Namespace) -> list[str]:
    """The call of Streamlit."""
    words = [sys.executable, "-m", "streamlit", "run", str(APP)]
    words += [f"--server.port={options.port}"] if options.port else []
    return words + (["--server.headless=true"] if options.no_browser else [])
