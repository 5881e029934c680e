"""From the arguments of the shell to a command and its exit code.

0: done; 1: the input cannot be used, and a sentence on stderr says why; 2: wrong usage; 130:
stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from hipad import __version__
from hipad.cli.talking.sentences import INTERRUPTED, REFUSED, sentence
from hipad.errors import HipadError

COMMANDS = (
    "app",
    "fit",
    "predict",
    "next",
    "rules",
    "check",
    "curve",
    "doubt",
    "tune",
    "reproduce",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    lost = open_streams()
    try:
        try:  # the commands come here, where a bad variable of the environment ends in a sentence
            options = build_parser().parse_args(arguments)
            written_files().clear()
            code: int = options.run(options)
        finally:
            sys.stdout.flush()
        if lost is not None:
            lost.check()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
            return leave_quietly()
        print(f"error: {sentence(error)}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print(f"stopped: {told_written()}", file=sys.stderr)
        return INTERRUPTED
    return code


def written_files() -> list[str]:
    """Return the files that were written so far; imported late, as commands are."""
    found: list[str] = import_module("hipad.data.writing").WRITTEN
    return found


def told_written() -> str:
    """Return what a command has written that was stopped before its end."""
    written = written_files()
    if not written:
        return "nothing was written"
    return f"written before that: {', '.join(written)}"


class Nowhere(io.StringIO):
    """Takes the place of a stream that was closed before the start; notes whether it was needed."""

    used = False

    def write(self, text: str) -> int:
        self.used = self.used or bool(text)
        return len(text)

    def check(self) -> None:
        """Refuse to call a command done whose words nobody could read."""
        if self.used:
            raise HipadError(
                "expected an open standard output, got a closed one, so what the command says is "
                "lost: give it a file, or /dev/null"
            )


def open_streams() -> Nowhere | None:
    """Replace streams that were closed before the start; tells where words for stdout then go."""
    if sys.stdout is not None and sys.stderr is not None:
        return None
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:  # the next file would get its number, and words meant for a reader
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = sys.stderr or Nowhere()
    if sys.stdout is not None:
        return None
    sys.stdout = lost = Nowhere()
    return lost


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
