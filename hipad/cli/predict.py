"""Answers of a saved model for the rows of a table, as CSV.

One line per row: its number in the table, the class, the score, which is above zero for the
positive class, and the risk, which is the probability of that class. A model of several classes
gives score and risk of each, and the class is the one of the largest score. Risks are at the
prevalence of the training patients, or at `--prevalence`. Where the table has the label column,
stderr tells how many answers are right.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hipad.cli.all_classes import answer_columns, two_classes
from hipad.cli.inputs import (
    add_format_options,
    check_output,
    model_format,
    origin_of,
    read_data,
)
from hipad.data import FORMATS, Table, facing, to_csv
from hipad.data.classes import labels_of
from hipad.data.roles import row_groups
from hipad.data.writing import write_text
from hipad.errors import DataError
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.files.model_file import Origin, read_model
from hipad.estimator.risks.risk_curve import check_prevalence
from hipad.evaluation.judging import classes_line, judge
from hipad.evaluation.orientation import Oriented


def add_options(parser: argparse.ArgumentParser) -> None:
    """Model, table, where to write."""
    parser.add_argument("model", metavar="MODEL", help="a model that `fit` saved")
    parser.add_argument("data", metavar="DATA", help=f"a table: {', '.join(FORMATS)}")
    parser.add_argument(
        "--prevalence",
        metavar="SHARE",
        type=float,
        help="share of the positive class where the rows come from; moves the risks only",
    )
    add_format_options(parser)
    parser.add_argument("--out", metavar="CSV", help="where to write; without it to stdout")


def run(options: argparse.Namespace) -> int:
    """Read both, predict, write."""
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
        found = answers(Oriented(stored.classifier, two_classes(origin)), X, options.prevalence)
    text = to_csv({**columns, **found})
    if options.out:
        write_text(Path(options.out), text, not_over=[Path(options.model), Path(options.data)])
        print(f"saved: {options.out}, {len(rows):,} of {table.n_rows:,} rows", file=sys.stderr)
    else:
        sys.stdout.write(text)
    tell_accuracy(table, origin, rows, found)
    return 0


def answers(model: Oriented, X: Any, prevalence: float | None) -> dict[str, list[Any]]:
    """For each row its class, and the score and risk of the positive one."""
    scores = model.scores(X) if X.shape[0] else np.zeros(0)
    positive = model.classes[1]
    columns: dict[str, list[Any]] = {
        "class": [model.classes[int(score > 0)] for score in scores],
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
    judged = judge(scores, truth[known], classes, part="labels", groups=groups)
    print(judged, file=sys.stderr)
