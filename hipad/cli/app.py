"""Open the app in the browser."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from contextlib import suppress

from hipad.utils import APP, require

NEEDED = ("streamlit", "plotly", "pandas", "openpyxl", "h5py")


def add_app_options(parser: argparse.ArgumentParser) -> None:
    """`--port` and `--no-browser`."""
    parser.add_argument("--port", type=int, help="where to serve the app; 0 is any free port")
    parser.add_argument("--no-browser", action="store_true", help="serve only, open no browser")


def run_app(options: argparse.Namespace) -> int:
    """Open the app in the browser."""
    require(NEEDED, "the app")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            return subprocess.call(command(options), cwd=APP.parent)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def command(options: argparse.Namespace) -> list[str]:
    """The call of Streamlit."""
    words = [sys.executable, "-m", "streamlit", "run", str(APP)]
    words += [f"--server.port={options.port}"] if options.port is not None else []
    return words + (["--server.headless=true"] if options.no_browser else [])
