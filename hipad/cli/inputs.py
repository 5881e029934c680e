"""What the commands read (tables, rules, blocks), where they may write, and progress on stderr."""

from __future__ import annotations

import argparse
import difflib
import shlex
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar, get_args

import numpy as np

from hipad.data import (
    Missing,
    Options,
    Prepared,
    Role,
    Table,
    Turn,
    prepare,
    read_apart,
    symbol_blocks,
    with_labels,
    with_symbols,
)
from hipad.data.file_format import ENCODINGS, FOUND_OUT, FileFormat, ThreeDigits
from hipad.data.preprocessing import ColumnRecipe, roles_for
from hipad.estimator.model_io import Origin, StoredModel
from hipad.estimator.settings import SELECTION
from hipad.exceptions import DataError, RuleError, unopened
from hipad.rules import FeatureIndex, read_blocks
from hipad.rules.compiled_rule import first_outcome
from hipad.solvers import Progress
from hipad.utils import IntArray, listed, some

# --------------------------------------------------------------------------------------------------
# Progress on stderr: one line that is rewritten, and nothing at all outside a terminal.


WIDTH = 24  # characters of the bar
PAUSE = 0.1  # seconds between two drawings
Item = TypeVar("Item")


class Bar:
    """A line of progress; leaving the `with` block clears it."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream if stream is not None else sys.stderr
        self.shown = self.stream.isatty()
        self.last = 0.0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def show(self, text: str, done: float | None = None, *, always: bool = False) -> None:
        """Draw a text and, where it is known, how much is done."""
        now = time.monotonic()
        if not self.shown or (now - self.last < PAUSE and not always):
            return
        self.last = now
        self.stream.write(f"\r\x1b[K{drawn(done)}{text}"[:120])
        self.stream.flush()

    def progress(self, record: Progress, of: str = "") -> None:
        """Draw a step of a fit; `of` says of which, where there are several."""
        if record.phase == 0:
            most = SELECTION.n_lambda1 * len(SELECTION.ridges)
            self.show(
                f"{of}choosing lambda1 and lambda2: value {record.iteration}",
                record.iteration / most,
            )
            return
        doing = "finding features" if record.phase == 1 else "accurate classifier"
        self.show(
            f"{of}{doing}: step {record.iteration:,}, {record.support_size:,} features, "
            f"objective {record.shared:.4g}"
        )


def drawn(done: float | None) -> str:
    """Return the bar itself.

    >>> drawn(0.5)
    '[############            ] '
    """
    if done is None:
        return ""
    return "[" + ("#" * round(min(max(done, 0.0), 1.0) * WIDTH)).ljust(WIDTH) + "] "


def counted(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield the items, with a bar that counts them."""
    total = len(items) if isinstance(items, Sized) else 0
    with Bar() as bar:
        for n, item in enumerate(items, 1):
            bar.show(f"{what} {n} of {total}", (n - 1) / total if total else None, always=True)
            yield item


# --------------------------------------------------------------------------------------------------
# What the commands read: tables, rules and blocks; and where they may write.


MOST_REMARKS: Final = 10
MOST_NAMED: Final = 10_000  # columns of a model that are named to the reader
SEPARATOR_WORDS: Final = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "blank": " "}
DECIMAL_WORDS: Final = {"point": ".", "comma": ","}
TURNS: Final[dict[str, Turn]] = {"auto": "auto", "yes": True, "no": False}


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add options: how to understand a table."""
    parser.add_argument(
        "--label",
        metavar="COLUMN",
        help="the column with the classes (default: the one that the file's format names)",
    )
    parser.add_argument(
        "--positive",
        metavar="CLASS",
        help="the positive class, which the words positive and negative in rules then refer to "
        "(default: by the usual words, as in case and control, else the class of the first rule, "
        "else the rarer one); of three classes or more, the one that is told from all others",
    )
    parser.add_argument(
        "--missing",
        choices=get_args(Missing),
        default="median",
        help="what to do about gaps (default: median)",
    )
    add_role_options(parser)
    add_turn_option(parser)
    add_format_options(parser)
    parser.add_argument(
        "--labels",
        metavar="FILE",
        help="a table with patients' IDs and their classes, beside DATA (default: none)",
    )
    parser.add_argument(
        "--symbols",
        metavar="FILE",
        help="a table with names of features and their gene symbols, beside DATA (default: none)",
    )


def add_role_options(parser: argparse.ArgumentParser) -> None:
    """Add options: roles of columns; those that are not named are guessed, and told."""
    parser.add_argument(
        "--group",
        "--groups",
        metavar="COLUMN",
        help="rows with the same value are of one patient: never split between learning and "
        "judging, and counted as one (default: an ID in which values repeat)",
    )
    for option, help in (
        ("--id", "names a row or a patient, is no feature"),
        ("--exclude", "not a feature"),
        ("--feature", "a feature, whatever it looks like; answers a question about it"),
    ):
        parser.add_argument(
            option,
            metavar="COLUMN",
            action="append",
            default=[],
            help=f"{help}; may be given more than once (default: by names and values)",
        )


def decided_roles(options: argparse.Namespace, table: Table) -> dict[str, Role]:
    """Return roles that the command line names; DataError where a column is none, or has two."""
    given = [
        *(("--feature", name, Role.FEATURE) for name in options.feature),
        *(("--exclude", name, Role.LEFT_OUT) for name in options.exclude),
        *(("--id", name, Role.ID) for name in options.id),
        *([("--group", options.group, Role.GROUP)] if options.group else []),
    ]
    found: dict[str, Role] = {}
    for option, name, role in given:
        if name not in table.names:
            near = near_names(name, table.names)
            hint = f"did you mean {listed(list(map(repr, near)), 'or')}?" if near else ""
            remedy = hint or f"there are {some(table.names)}"
            raise DataError(
                f"expected {option} to be a column of the table, got {name!r}: {remedy}"
            )
        if found.get(name, role) is not role:
            raise DataError(
                f"expected one role of {name!r}, got {found[name]} and {role}: give one of them"
            )
        found[name] = role
    return found


def role_lines(table: Table, options: Options) -> list[str]:
    """The roles of columns that are no plain features, and what is to be decided before a run."""
    roles = roles_for(table, options, questions=True)
    lines = [
        f"role: {name}: {one.role} ({one.reason})"
        for name, one in roles.items()
        if one.role is not Role.OUTCOME and not one.question and one.role is not Role.FEATURE
    ]
    for name, one in roles.items():
        if one.question:
            taken = "taken as a feature" if one.role is Role.FEATURE else "no feature"
            lines.append(
                f"question: {one.question} ({one.reason}; {taken}; --feature {name!r} keeps it, "
                f"--exclude {name!r} leaves it out)"
            )
    return lines


def add_format_options(parser: argparse.ArgumentParser) -> None:
    """Add options: how a file is written, where the reader should not find out by itself."""
    own = parser.add_argument_group(
        "how the file is written", "what is not given is found from the content, and told by check"
    )
    own.add_argument("--encoding", choices=tuple(ENCODINGS), help="of a text file (default: found)")
    own.add_argument(
        "--separator", choices=tuple(SEPARATOR_WORDS), help="between two cells (default: found)"
    )
    own.add_argument(
        "--decimal", choices=tuple(DECIMAL_WORDS), help="the decimal sign (default: found)"
    )
    own.add_argument(
        "--three-digits",
        choices=get_args(ThreeDigits),
        help="what the sign in 1,234 is where nothing in the table tells (default: asked)",
    )
    own.add_argument(
        "--header-row",
        metavar="LINE",
        type=int,
        help="the line with the names; 0: there is none (default: found)",
    )
    own.add_argument(
        "--footer-rows",
        metavar="N",
        type=int,
        help="lines at the end that are no rows (default: found)",
    )
    own.add_argument(
        "--gap-word",
        metavar="WORD",
        action="append",
        help="stands for a missing value, in every column; may be given more than once, and takes "
        "the place of the usual list (default: NA, n/a, k.A., ? and the like)",
    )
    own.add_argument(
        "--column-gap",
        metavar="COLUMN=WORD",
        action="append",
        default=[],
        help="stands for a missing value in one column, such as age=999 (default: none)",
    )
    own.add_argument(
        "--text-column",
        metavar="COLUMN",
        action="append",
        default=[],
        help="read as text; may be given more than once (default: found)",
    )
    own.add_argument(
        "--number-column",
        metavar="COLUMN",
        action="append",
        default=[],
        help="read as numbers, what is none as missing; may be given more than once "
        "(default: found)",
    )
    own.add_argument("--sheet", metavar="NAME", help="of a workbook (default: the first)")


def file_format(options: argparse.Namespace) -> FileFormat:
    """Return what the options state about how the file is written."""
    gaps: dict[str, tuple[str, ...]] = {}
    for each in getattr(options, "column_gap", ()):
        column, equals, word = each.rpartition("=")
        if not equals or not column:
            raise DataError(f"expected --column-gap COLUMN=WORD, such as age=999, got {each!r}")
        gaps[column] = (*gaps.get(column, ()), word)
    words = getattr(options, "gap_word", None)
    return FileFormat(
        encoding=getattr(options, "encoding", None),
        separator=SEPARATOR_WORDS.get(getattr(options, "separator", None) or ""),
        decimal=DECIMAL_WORDS.get(getattr(options, "decimal", None) or ""),
        three_digits=getattr(options, "three_digits", None),
        header_row=getattr(options, "header_row", None),
        footer_rows=getattr(options, "footer_rows", None),
        gap_words=None if words is None else tuple(words),
        column_gaps=gaps,
        as_text=tuple(getattr(options, "text_column", ())),
        as_numbers=tuple(getattr(options, "number_column", ())),
        sheet=getattr(options, "sheet", None),
    )


def later_format(known: FileFormat, options: argparse.Namespace) -> FileFormat:
    """What is known of an earlier file of the table, and what the options state of this one."""
    return known.with_change(file_format(options).to_dict())


def model_format(origin: Origin, options: argparse.Namespace) -> FileFormat:
    """Return how a file is to be read for a model: its columns mean what they meant in training."""
    recipe = origin.recipe
    numbers = recipe.number_names if len(recipe.number_names) <= MOST_NAMED else ()
    both = replace(origin.file_format, as_text=tuple(recipe.levels), as_numbers=numbers)
    return later_format(both, options)


def understood(table: Table) -> list[str]:
    """Return how a file was understood, line by line."""
    lines = [f"file: {line}" for line in table.reading.lines()]
    lies = "one row per gene, turned" if table.turned else "one row per patient"
    if table.row_ids:
        lines.append(f"file: IDs: {some(table.row_ids[:2])} ...")
    return [f"file: format: {table.format}", *lines, f"file: orientation: {lies}"]


def option_words(change: Mapping[str, Any]) -> str:
    """Return a change of a file's format as options of the command line."""
    words = []
    for name, value in change.items():
        if name == "column_gaps":
            words += [
                f"--column-gap {shlex.quote(f'{c}={w}')}"
                for c, some_ in value.items()
                for w in some_
            ]
        elif name == "gap_words":
            return "--gap-word WORD for each gap word"
        elif name in ("as_text", "as_numbers"):
            option = "--text-column" if name == "as_text" else "--number-column"
            words += [f"{option} {shlex.quote(column)}" for column in value]
        else:
            words.append(f"--{name.replace('_', '-')} {shlex.quote(str(value))}")
    return " ".join(words)


def add_turn_option(parser: argparse.ArgumentParser) -> None:
    """Add options: how a table lies."""
    parser.add_argument(
        "--turned",
        choices=tuple(TURNS),
        default="auto",
        help="whether the table has a row for each gene and a column for each patient (default: "
        "auto, found from its names)",
    )


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """Add options: blocks beside the rules."""
    parser.add_argument(
        "--blocks",
        metavar="FILE",
        help="named groups of features: JSON, GMT, or K1 = x1:x50 lines (default: none)",
    )


def label_of(table: Table, options: argparse.Namespace) -> str:
    """Return the label column, as given or as the file's format knows it."""
    label = options.label or table.label
    if label is None:
        raise DataError("expected --label COLUMN, the column with the classes: name it")
    return known_label(table, str(label))


def known_label(table: Table, label: str) -> str:
    """Return the label, if it is a column; otherwise the nearest names are told."""
    if label in table.names:
        return label
    near = near_names(label, table.names)
    hint = f"did you mean {listed(list(map(repr, near)), 'or')}?" if near else some(table.names)
    raise DataError(f"expected --label to be a column of the table, got {label!r}: {hint}")


def near_names(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that are meant, most likely: in another case first, then spelt nearly so.

    >>> near_names("diagnosis", ["Glucose", "Diagnosis"])
    ['Diagnosis']
    """
    plain = {each: each.casefold().strip() for each in names}
    same = [each for each, folded in plain.items() if folded == name.casefold().strip()]
    if same:
        return same[:3]
    spelt = difflib.get_close_matches(name.casefold(), list(plain.values()), n=3)
    return [each for each, folded in plain.items() if folded in spelt][:3]


def read_data(path: str, turn: Turn = "auto", stated: FileFormat = FOUND_OUT) -> Table:
    """Return a table, read in a process of its own, with a bar; Ctrl-C ends both.

    What was noticed and what stays open is told on standard error.
    """
    name = Path(path).name
    with Bar() as bar:
        table = read_apart(
            Path(path),
            turn=turn,
            stated=stated,
            progress=lambda done, words: bar.show(f"reading {name}: {words}", done),
        )
    noticed = [remark for remark in table.remarks if not remark.startswith("turned:")]
    for remark in noticed[:MOST_REMARKS]:
        print(f"note: {name}: {remark}", file=sys.stderr)
    if len(noticed) > MOST_REMARKS:
        print(f"note: {name}: {len(noticed) - MOST_REMARKS:,} more remarks", file=sys.stderr)
    asked = table.reading.open_questions
    for question in asked[:MOST_REMARKS]:
        changes = [option_words(answer.change) for answer in question.answers]
        other = f"; else {listed(changes, 'or')}" if changes else ""
        print(f"question: {name}: {question.text}{other}", file=sys.stderr)
    if len(asked) > MOST_REMARKS:
        print(f"question: {name}: {len(asked) - MOST_REMARKS:,} more", file=sys.stderr)
    return table


def read_described(path: str, options: argparse.Namespace, origin: Origin | None = None) -> Table:
    """Return a table, turned as asked, with classes and symbols of the files beside it."""
    stated = file_format(options) if origin is None else model_format(origin, options)
    table = read_data(path, TURNS[options.turned], stated)
    if table.turned:
        turned = next(remark for remark in table.remarks if remark.startswith("turned:"))
        print(f"note: {Path(path).name}: {turned}; --turned no leaves it", file=sys.stderr)
    if options.labels:
        table = with_labels(table, read_data(options.labels, turn=False))
    if options.symbols:
        table = with_symbols(table, read_data(options.symbols, turn=False))
    return table


def prepared_table(
    path: str, options: argparse.Namespace, rules: str = "", *, use_unlabelled: bool = False
) -> Prepared:
    """Return a table as numbers; the first of the rules may tell which class is positive."""
    table = read_described(path, options)
    return prepared_from(table, options, rules, use_unlabelled=use_unlabelled)


def prepared_from(
    table: Table, options: argparse.Namespace, rules: str = "", *, use_unlabelled: bool = False
) -> Prepared:
    """Return the same for a table that was read."""
    wanted = preparation(table, options, use_unlabelled=use_unlabelled)
    return prepare(table, **asdict(wanted), outcome=first_outcome(rules))


def preparation(
    table: Table, options: argparse.Namespace, *, use_unlabelled: bool = False
) -> Options:
    """Return how to prepare a table. Constant columns stay: a rule may name them."""
    return Options(
        label=label_of(table, options),
        positive=options.positive,
        missing=options.missing,
        drop_constant=False,
        use_unlabelled=use_unlabelled,
        roles=decided_roles(options, table),
    )


def read_text(path: str) -> str:
    """Return a text file."""
    try:
        return Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected text in UTF-8, got other bytes: save it anew") from error
    except (OSError, ValueError) as error:
        raise unopened(path, error) from error


def symbol_columns(table: Table | None, index: FeatureIndex) -> dict[str, IntArray]:
    """Return a block for each gene symbol that a table knows."""
    found = {} if table is None else symbol_blocks(table)
    return {
        symbol: np.array(columns)
        for symbol, names in found.items()
        if (columns := [j for name in names if (j := index.position(name)) is not None])
    }


def blocks_of(
    path: str | None, index: FeatureIndex, table: Table | None = None
) -> dict[str, IntArray]:
    """Blocks of the table's gene symbols, and from a file; what is not in the data is told."""
    known = symbol_columns(table, index)
    if path is None:
        return known
    try:
        found = read_blocks(read_text(path), index)
    except RuleError as error:
        raise DataError(f"{path}: {error}") from error
    for remark in found.remarks:
        print(f"note: {path}: {remark}", file=sys.stderr)
    return {**known, **found.columns}


def origin_of(stored: StoredModel) -> Origin:
    """Return how tables of the model look; without a record of it, its features by their names."""
    if stored.origin is not None:
        return stored.origin
    clf = stored.classifier
    names = tuple(clf.feature_index_.name(j) for j in range(clf.n_features_in_))
    return Origin("", tuple(map(str, clf.classes_.tolist())), ColumnRecipe(names, {}))


def check_output(path: str, read: Iterable[str | None]) -> None:
    """Before the work: refuse a target without a folder, and a file that the command reads."""
    target = Path(path)
    if "\0" in path:
        raise DataError(f"{path!r} cannot be written: expected a path, got a NUL: name a file")
    if not target.resolve().parent.is_dir():
        raise DataError(f"{path} cannot be written: its folder is not there, make it first")
    if any(_is_same(target, Path(other)) for other in read if other):
        raise DataError(f"{path} cannot be written: this command reads it: give another name")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one of them is not there, or cannot be
        return False


# --------------------------------------------------------------------------------------------------
# Options under the names of earlier versions.


OLD_NAMES = {  # options of earlier versions, accepted for one release
    "--patients": "--rule-weight",
    "--stiffness": "--rho",
    "--engine": "--phase2-solver",
    "--switch": "--phase1-stop",
}


def add_old_names(parser: Any) -> None:
    """Accept options under the names of earlier versions, which `--help` leaves out."""
    now = {option: action for action in parser._actions for option in action.option_strings}
    for old, new in OLD_NAMES.items():
        if (action := now.get(new)) is not None:
            parser.add_argument(
                old,
                action=OldOption,
                new=new,
                dest=action.dest,
                nargs=action.nargs,
                type=action.type,
                choices=action.choices,
                default=argparse.SUPPRESS,
                help=argparse.SUPPRESS,
            )


class OldOption(argparse.Action):
    """Store the value under today's name, and warn."""

    def __init__(self, *arguments: Any, new: str, **further: Any) -> None:
        self.new = new
        super().__init__(*arguments, **further)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        text = f"{option_string} is accepted for one more release: write {self.new}"
        warnings.warn(text, FutureWarning, stacklevel=2)
        setattr(namespace, self.dest, values)
