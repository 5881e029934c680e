"""Which patients to label next: the rows without a label that would tell most, as CSV.

    hipad next --data TABLE --label COLUMN --rules FILE     # fits the rows that have a label
    hipad next MODEL --data TABLE                           # by a model that `fit` saved

Without MODEL the rows of TABLE that have a label are fitted, and the others are listed; so are
those of `--unlabelled`. A saved model does not know the candidates that it averages: then nearness
to the border alone decides. Of a table with a label column the rows without a label are listed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hipad.cli.all_classes import two_classes
from hipad.cli.fit import (
    add_parameters,
    build,
    fitted,
    read_unlabelled,
)
from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    check_output,
    model_format,
    origin_of,
    prepared_table,
    read_data,
)
from hipad.cli.studying import CheckedTable, read_rule_file, refuse, written
from hipad.cli.talking.sentences import RULES_HELP
from hipad.data import FORMATS, Matched, Prepared, Table, facing, learning_rows, to_csv
from hipad.data.classes import CERTAIN, labels_of
from hipad.data.writing import write_text
from hipad.errors import DataError
from hipad.estimator.files.model_file import read_model
from hipad.evaluation.labelling import LabelSuggestion, label_next
from hipad.evaluation.orientation import Oriented

EPILOG = RULES_HELP


def add_options(parser: argparse.ArgumentParser) -> None:
    """A model or a table to fit, and how many rows to list."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help="a model that `fit` saved")
    parser.add_argument(
        "--data", metavar="TABLE", required=True, help=f"a table: {', '.join(FORMATS)}"
    )
    parser.add_argument("--count", type=int, default=10, help="rows to list (default: 10)")
    parser.add_argument("--out", metavar="CSV", help="where to write; without it to stdout")
    parser.add_argument(
        "--unlabelled", metavar="FILE", help="a table of further rows without a label"
    )
    add_table_options(parser)
    parser.add_argument("--rules", metavar="FILE", help="one rule per line (default: none)")
    add_rule_options(parser)
    add_parameters(parser)


def run(options: argparse.Namespace) -> int:
    """Fit or read a model, rank, write."""
    if options.out:
        read = [options.model, options.data, options.unlabelled, options.rules, options.blocks]
        check_output(options.out, read)
    if options.model is not None:
        return by_model(options)
    text = read_rule_file(options.rules) if options.rules else ""
    train = prepared_table(options.data, options, text, use_unlabelled=True)
    more = read_unlabelled(options.unlabelled, train)
    X, names = unlabelled_of(train, more, options.unlabelled)
    if not len(names):
        raise DataError(
            "expected rows without a label, got none: leave the label of some rows empty, or give "
            "--unlabelled FILE"
        )
    table = CheckedTable.of(train)
    blocks = blocks_of(options.blocks, table.index, train.table)
    said = written(text, table, blocks, chosen=train.decided_by in CERTAIN)
    if said.first.errors:
        return refuse(options.rules, said, train.roles)
    clf = fitted(build(options, said.rules, blocks), train, more)
    write(options, label_next(clf, X, options.count), names, Oriented(clf, train.classes))
    return 0


def by_model(options: argparse.Namespace) -> int:
    """The rows of a table by a saved model."""
    stored = read_model(options.model)
    origin = origin_of(stored)
    classes = two_classes(origin)
    table = read_data(options.data, stated=model_format(origin, options))
    table = facing(table, origin.recipe.number_names)
    rows = np.arange(table.n_rows)
    if origin.label in table.names:
        rows = rows[labels_of(table, origin.label, classes) == ""]
        if not len(rows):
            raise DataError(
                f"expected rows without a label in {origin.label!r}, got none: leave some empty, "
                "or take the column away to rank all rows"
            )
    X, rows = origin.recipe.matrix(table, rows)
    found = label_next(stored.classifier, X, options.count)
    write(options, found, called(table, rows), Oriented(stored.classifier, classes))
    return 0


def unlabelled_of(
    train: Prepared, more: Matched | None, path: str | None
) -> tuple[Any, list[tuple[str, int, str]]]:
    """The rows without a label of both tables, each by ID, number of its row, and file."""
    names = called(train.table, train.unlabelled_rows)
    if more is not None and path is not None:
        file = Path(path).name
        names += [("", int(row) + 1, file) for row in more.rows]
    parts = [part for part in (train.unlabelled, None if more is None else more.X)
             if part is not None]  # fmt: skip
    if not parts:
        return train.X[:0], names
    first, *others = parts
    return learning_rows(first, np.empty(0, dtype=object), *others)[0], names


def called(table: Table, rows: Any) -> list[tuple[str, int, str]]:
    """Rows by their ID, where the table has them, and their number."""
    ids = table.row_ids
    return [(ids[i] if ids else "", i + 1, "") for i in rows.tolist()]


def write(
    options: argparse.Namespace,
    found: list[LabelSuggestion],
    names: list[tuple[str, int, str]],
    model: Oriented,
) -> None:
    """The list as CSV, the first to label first."""
    told = [names[one.row] for one in found]
    columns: dict[str, list[Any]] = {}
    if any(name for name, _, _ in told):
        columns["patient"] = [name for name, _, _ in told]
    columns["row"] = [row for _, row, _ in told]
    if any(file for _, _, file in told):
        columns["file"] = [file for _, _, file in told]
    columns["doubt"] = [round(one.score, 4) for one in found]
    columns[f"score of {model.classes[1]}"] = [
        round(model.sign * one.decision_value, 6) for one in found
    ]
    columns["reason"] = [one.reason for one in found]
    text = to_csv(columns)
    if options.out:
        write_text(Path(options.out), text, not_over=[Path(options.data)])
        print(f"saved: {options.out}, {len(found):,} of {len(names):,} rows", file=sys.stderr)
    else:
        sys.stdout.write(text)
