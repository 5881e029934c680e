"""From the arguments of the shell to a command and its exit code.

0: done; 1: the input cannot be used, and a sentence on stderr says why; 2: wrong usage; 130:
stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from hipad import __version__
from hipad.cli.sentences import INTERRUPTED, REFUSED, sentence

COMMANDS = ("app", "fit", "predict", "check", "curve", "doubt", "tune", "reproduce")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = build_parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
            return leave_quietly()
        print(f"error: {sentence(error)}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("stopped: nothing was written", file=sys.stderr)
        return INTERRUPTED
    return code


def leave_quietly() -> int:
    """End without a message: the program that read our output, such as `head`, has closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return REFUSED


def console() -> NoReturn:
    """What the installed command `hipad` calls."""
    sys.exit(main())


def build_parser() -> argparse.ArgumentParser:
    """One sub-parser per command; each command module brings its own options."""
    parser = argparse.ArgumentParser(
        prog="hipad",
        description="Sparse classification with few labels, many features and expert rules.",
    )
    parser.add_argument("--version", action="version", version=f"hipad {__version__}")
    commands = parser.add_subparsers(metavar="command", required=True)
    for name in COMMANDS:
        command: ModuleType = import_module(f"hipad.cli.{name}")
        text = (command.__doc__ or "").strip()
        own = commands.add_parser(
            name,
            help=text.splitlines()[0],
            description=text,
            epilog=getattr(command, "EPILOG", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_options(own)
        own.set_defaults(run=command.run)
    return parser
