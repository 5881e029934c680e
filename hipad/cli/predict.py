"""Answers of a saved model for the rows of a table, as CSV.

One line per row: its number in the table, the class, the score, which is above zero for the
positive class, and the risk, which is the probability of that class. Risks are at the prevalence of
the training patients, or at `--prevalence`. Where the table has the label column, stderr tells how
many answers are right.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from hipad.cli.inputs import (
    add_format_options,
    check_output,
    model_format,
    origin_of,
    read_data,
)
from hipad.data import FORMATS, Table, facing, to_csv
from hipad.data.classes import labels_of
from hipad.data.writing import write_text
from hipad.estimator.files.model_file import Origin, read_model
from hipad.estimator.risks.risk_curve import check_prevalence
from hipad.evaluation.judging import judge
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
    model = Oriented(stored.classifier, origin.classes)
    X, rows = origin.recipe.matrix(table, np.arange(table.n_rows))
    if not len(rows):
        print("note: no row is without gaps, so there are no answers", file=sys.stderr)
    scores = model.scores(X) if len(rows) else np.zeros(0)
    answers = [origin.classes[int(score > 0)] for score in scores]
    positive = origin.classes[1]
    columns = {
        **({"patient": [ids[i] for i in rows]} if (ids := table.ids) else {}),
        "row": (rows + 1).tolist(),
        "class": answers,
        f"score of {positive}": scores.tolist(),
    }
    if stored.classifier.risk_source_.known:
        risks = model.risks(scores, options.prevalence)
        columns[f"risk of {positive}"] = risks.tolist()
    else:
        print("note: the model was saved without risks: fit it again to get them", file=sys.stderr)
    text = to_csv(columns)
    if options.out:
        write_text(Path(options.out), text, not_over=[Path(options.model), Path(options.data)])
        print(f"saved: {options.out}, {len(rows):,} of {table.n_rows:,} rows", file=sys.stderr)
    else:
        sys.stdout.write(text)
    tell_accuracy(table, origin, rows, scores)
    return 0


def tell_accuracy(table: Table, origin: Origin, rows: np.ndarray, scores: np.ndarray) -> None:
    """Compare with the labels where the table has them."""
    if origin.label not in table.names:
        return
    truth = labels_of(table, origin.label, origin.classes)[rows]
    known = truth != ""
    if known.any():
        found = judge(scores[known], truth[known], origin.classes, part="labels")
        print(found, file=sys.stderr)
