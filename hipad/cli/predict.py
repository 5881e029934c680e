"""Answers of a saved model for the rows of a table, and which rows to label next, as CSV."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hipad.cli.fit import add_parameters, build, fitted, read_unlabelled
from hipad.cli.inputs import (
    add_format_options,
    add_rule_options,
    add_table_options,
    blocks_of,
    check_output,
    model_format,
    origin_of,
    prepared_table,
    read_data,
)
from hipad.cli.study import (
    CheckedTable,
    answer_columns,
    read_rule_file,
    refuse,
    two_classes,
    written,
)
from hipad.data import FORMATS, Prepared, Table, TestRows, facing, learning_rows, to_csv
from hipad.data.roles import CERTAIN, labels_of, row_groups
from hipad.data.table import write_text
from hipad.estimator.calibration import check_prevalence
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.model_io import Origin, read_model
from hipad.evaluation.active_learning import LabelSuggestion, label_next
from hipad.evaluation.metrics import PositiveClassView, classes_line, judge
from hipad.exceptions import DataError
from hipad.utils import number

# --------------------------------------------------------------------------------------------------
# Answers of a saved model for the rows of a table, as CSV.
#
# One line per row: its number in the table, the class, the score, which is above zero for the
# positive class, and the risk, which is the probability of that class. A model of several classes
# gives score and risk of each, and the class is the one of the largest score. A model with a risk
# threshold answers with the positive class from that risk on, and the heading of the column says
# so. Risks are at the prevalence of the training patients, or at `--prevalence`. Where the table
# has the label column, stderr tells how many answers are right.


def add_predict_options(parser: argparse.ArgumentParser) -> None:
    """Model, table, where to write."""
    parser.add_argument("model", metavar="MODEL", help="a model that `fit` saved")
    parser.add_argument("data", metavar="DATA", help=f"a table: {', '.join(FORMATS)}")
    parser.add_argument(
        "--prevalence",
        metavar="SHARE",
        type=float,
        help="share of the positive class where the rows come from; moves the risks, and answers "
        "of a model with a risk threshold",
    )
    add_format_options(parser)
    parser.add_argument("--out", metavar="CSV", help="where to write; without it to stdout")


def run_predict(options: argparse.Namespace) -> int:
    """Answers of a saved model for the rows of a table, as CSV.

    One line per row: its number in the table, the class, the score, which is above zero for the
    positive class, and the risk, which is the probability of that class. A model of several
    classes gives score and risk of each, and the class is the one of the largest score. A model
    with a risk threshold answers with the positive class from that risk on, and the heading of
    the column says so. Risks are at the prevalence of the training patients, or at
    `--prevalence`. Where the table has the label column, stderr tells how many answers are right.
    """
    check_prevalence(options.prevalence)
    if options.out:
        check_output(options.out, [options.model, options.data])
    stored = read_model(options.model)
    origin = origin_of(stored)
    table = read_data(options.data, stated=model_format(origin, options))
    table = facing(table, origin.recipe.number_names)
    X, rows = origin.recipe.matrix(table, np.arange(table.n_rows))
    if not len(rows):
        print("note: no row is without gaps, so there are no answers", file=sys.stderr)
    columns = {
        **({"patient": [ids[i] for i in rows]} if (ids := table.ids) else {}),
        "row": (rows + 1).tolist(),
    }
    if len(origin.classes) > 2:
        found = all_answers(stored.classifier, X, origin, options.prevalence)
    else:
        found = answers(
            PositiveClassView(stored.classifier, two_classes(origin)), X, options.prevalence
        )
    text = to_csv({**columns, **found})
    if options.out:
        write_text(Path(options.out), text, not_over=[Path(options.model), Path(options.data)])
        print(f"saved: {options.out}, {len(rows):,} of {table.n_rows:,} rows", file=sys.stderr)
    else:
        sys.stdout.write(text)
    tell_accuracy(table, origin, rows, found)
    return 0


def answers(model: PositiveClassView, X: Any, prevalence: float | None) -> dict[str, list[Any]]:
    """For each row its class, and the score and risk of the positive one."""
    scores = model.scores(X) if X.shape[0] else np.zeros(0)
    positive = model.classes[1]
    named, threshold = "class", model.threshold
    if threshold is not None:
        named = f"answer ({positive} from risk {number(100 * threshold, 3)} % on)"
    columns: dict[str, list[Any]] = {
        named: [model.classes[int(said)] for said in model.answers(scores, prevalence)],
        f"score of {positive}": scores.tolist(),
    }
    if model.classifier.risk_source_.known:
        columns[f"risk of {positive}"] = model.risks(scores, prevalence).tolist()
    else:
        print("note: the model was saved without risks: fit it again to get them", file=sys.stderr)
    return columns


def all_answers(
    clf: HIPADClassifier, X: Any, origin: Origin, prevalence: float | None
) -> dict[str, list[Any]]:
    """For each row its class, and the score and risk of all of several classes."""
    if prevalence is not None:
        raise DataError(
            f"expected no --prevalence for a model of {len(origin.classes)} classes, got "
            f"{prevalence}: leave it out; it is the share of one positive class"
        )
    if not X.shape[0]:
        return {"class": []}
    return answer_columns(clf, X, origin.classes)


def tell_accuracy(
    table: Table, origin: Origin, rows: np.ndarray, found: dict[str, list[Any]]
) -> None:
    """Compare with the labels where the table has them."""
    if origin.label not in table.names:
        return
    truth = labels_of(table, origin.label, origin.classes)[rows]
    known = truth != ""
    if not known.any():
        return
    if len(origin.classes) > 2:
        said = np.array(found["class"])[known]
        print(classes_line(said, truth[known], origin.classes, part="labels"), file=sys.stderr)
        return
    classes = two_classes(origin)
    scores = np.array(found[f"score of {classes[1]}"])[known]
    has_group = bool(origin.group) and origin.group in table.names
    groups = row_groups(table, origin.group)[rows][known] if has_group else None
    said = np.array(next(iter(found.values())))[known] == classes[1]  # the first column
    judged = judge(scores, truth[known], classes, part="labels", groups=groups, answers=said)
    print(judged, file=sys.stderr)


# --------------------------------------------------------------------------------------------------
# hipad next


def add_next_options(parser: argparse.ArgumentParser) -> None:
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


def run_next(options: argparse.Namespace) -> int:
    """Which patients to label next: the rows without a label that would tell most, as CSV.

        hipad next --data TABLE --label COLUMN --rules FILE     # fits the rows that have a label
        hipad next MODEL --data TABLE                           # by a model that `fit` saved

    Without MODEL the rows of TABLE that have a label are fitted, and the others are listed; so
    are those of `--unlabelled`. A saved model does not know the candidates that it averages: then
    nearness to the border alone decides. Of a table with a label column the rows without a label
    are listed.
    """
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
    write(options, label_next(clf, X, options.count), names, PositiveClassView(clf, train.classes))
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
    write(options, found, called(table, rows), PositiveClassView(stored.classifier, classes))
    return 0


def unlabelled_of(
    train: Prepared, more: TestRows | None, path: str | None
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
    model: PositiveClassView,
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
