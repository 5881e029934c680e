"""The command line: `hipad` or `python -m hipad`, then app, fit, predict, check or reproduce."""

from hipad.cli.main import console, main

__all__ = ["console", "main"]
