"""The command line: `python -m hipad app | fit | predict | check | reproduce`."""

from hipad.cli.main import main

__all__ = ["main"]
