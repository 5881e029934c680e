"""The command line: from the arguments of the shell to a command and its exit code."""

from __future__ import annotations

import argparse
import inspect
import io
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Final, NamedTuple, NoReturn

from hipad import __version__
from hipad.exceptions import HipadError, RuleError
from hipad.utils import APP, require

# --------------------------------------------------------------------------------------------------
# Errors in words, and the exit codes.


REFUSED: Final = 1  # the input cannot be used
EXAMPLE: Final = "Glucose >= 126 and BMI >= 30 => diabetic"
RULES_HELP: Final = f"""a rule:
  {EXAMPLE}
  name: mean(ABL1, ABL2) >= 9.5 => "BCR/ABL" worth 20 patients   # a note
before => a condition on features or blocks in the units of the data, after it a class label"""
INTERRUPTED: Final = 130  # Ctrl-C, as shells have it: 128 and the number of the signal


def sentence(error: Exception) -> str:
    """Return what went wrong, on one line, with the place in the rules where there is one."""
    text = " ".join(str(error).replace("\0", r"\0").split()) or type(error).__name__
    if isinstance(error, RuleError) and error.line is not None:
        place = f"line {error.line}" + (f", column {error.column}" if error.column else "")
        return text if text.startswith("line ") else f"{place}: {text}"
    return text


# --------------------------------------------------------------------------------------------------
# From the arguments of the shell to a command and its exit code.
#
# 0: done; 1: the input cannot be used, and a sentence on stderr says why; 2: wrong usage; 130:
# stopped by Ctrl-C.


class Command(NamedTuple):
    """A command: where `add_<name>_options` and `run_<name>` stand, and its line in the help."""

    module: str
    summary: str
    about_rules: bool = False  # whether its help ends with how a rule is written


COMMANDS: Final = {
    "app": Command("main", "open the app in the browser"),
    "fit": Command(
        "models", "fit a classifier to a table and rules, and save it", about_rules=True
    ),
    "predict": Command("models", "answers of a saved model for the rows of a table, as CSV"),
    "export": Command("models", "a saved model as SQL, spreadsheet, PMML, ONNX or model card"),
    "report": Command("report", "everything of a model or session in one HTML file"),
    "next": Command("models", "which rows to label next, as CSV", about_rules=True),
    "rules": Command("check", "how to write rules, with examples from a table", about_rules=True),
    "check": Command("check", "what rules do on a table, and what is odd", about_rules=True),
    "curve": Command("experiments", "learning curves on a table: with rules, without, LIBSVM"),
    "plan": Command("experiments", "how many labelled patients a study needs, with an interval"),
    "sensitivity": Command("experiments", "what if a rule is wrong: sweep its threshold or weight"),
    "tune": Command("experiments", "try settings by cross-validation on a table"),
    "reproduce": Command("experiments", "repeat the paper: its tables and its figure"),
    "schema": Command("models", "the JSON Schema of model files"),
}
OLD_COMMANDS: Final = {"doubt": "sensitivity"}  # names of earlier versions, for one release


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    lost = open_streams()
    try:
        try:  # the commands come here, where a bad variable of the environment ends in a sentence
            words = _todays_command(sys.argv[1:] if arguments is None else list(arguments))
            options = build_parser(words).parse_args(words)
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
        print(f"stopped: {written_summary()}", file=sys.stderr)
        return INTERRUPTED
    return code


def _todays_command(words: list[str]) -> list[str]:
    """Return the words with a command under today's name, and warn of an earlier one."""
    new = OLD_COMMANDS.get(words[0]) if words else None
    if new is None:
        return words
    text = f"hipad {words[0]} is accepted for one more release: write hipad {new}"
    warnings.warn(text, FutureWarning, stacklevel=2)
    return [new, *words[1:]]


def written_files() -> list[str]:
    """Return the files that were written so far; imported late, as commands are."""
    found: list[str] = import_module("hipad.data.table").WRITTEN
    return found


def written_summary() -> str:
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
    """Return what the installed command `hipad` calls."""
    sys.exit(main())


def build_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser; the options of a command are there if `arguments` begin with its name.

    Without a command all have theirs. So a call imports no more than its own command needs.
    """
    parser = argparse.ArgumentParser(
        prog="hipad",
        description="Sparse classification with few labels, many features and expert rules.",
    )
    parser.add_argument("--version", action="version", version=f"hipad {__version__}")
    commands = parser.add_subparsers(metavar="command", required=True)
    called = [word for word in arguments[:1] if word in COMMANDS or word.startswith("-")]
    for name, command in COMMANDS.items():
        own = commands.add_parser(
            name,
            help=command.summary,
            epilog=RULES_HELP if command.about_rules else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if called and name not in called:
            continue
        module = import_module(f"hipad.cli.{command.module}")
        run = getattr(module, f"run_{name}")
        own.description = inspect.getdoc(run)
        getattr(module, f"add_{name}_options")(own)
        own.set_defaults(run=run)
    return parser


# --------------------------------------------------------------------------------------------------
# Open the app in the browser.


NEEDED = ("streamlit", "plotly", "pandas", "openpyxl", "h5py")


def add_app_options(parser: argparse.ArgumentParser) -> None:
    """Add options: `--port` and `--no-browser`."""
    parser.add_argument("--port", type=int, help="where to serve the app; 0 is any free port")
    parser.add_argument("--no-browser", action="store_true", help="serve only, open no browser")


def run_app(options: argparse.Namespace) -> int:
    """Open the app in the browser."""
    require(NEEDED, "the app")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            return subprocess.call(streamlit_call(options), cwd=APP.parent)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def streamlit_call(options: argparse.Namespace) -> list[str]:
    """Return the call of Streamlit."""
    words = [sys.executable, "-m", "streamlit", "run", str(APP)]
    words += [f"--server.port={options.port}"] if options.port is not None else []
    return words + (["--server.headless=true"] if options.no_browser else [])
