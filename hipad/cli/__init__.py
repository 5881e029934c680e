"""The command line: `hipad` or `python -m hipad`, then the name of a command (main.py)."""

from hipad.cli.main import console, main

__all__ = ["console", "main"]
