"""What rules do on a table, what is odd about them and, with a model, how far they hold.

Findings and suggestions do not change the exit code. Rules that cannot be used do.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    known_label,
    origin_of,
    prepared_table,
    read_described,
)
from hipad.cli.sentences import RULES_HELP
from hipad.cli.studying import (
    CheckedTable,
    as_seen,
    findings,
    read_rule_file,
    refuse,
    studied,
    usual_lambda1,
    written,
)
from hipad.data import facing
from hipad.data.classes import labels_of
from hipad.errors import DataError
from hipad.estimator.files.model_file import read_model
from hipad.evaluation.orientation import Oriented
from hipad.evaluation.patients import Patients
from hipad.evaluation.study import RuleCheck, Study
from hipad.rules import FeatureIndex, RuleCounts
from hipad.wording import count, listed

EPILOG = RULES_HELP
MOST_LISTED = 10  # rows that contradict a rule


def add_options(parser: argparse.ArgumentParser) -> None:
    """Rules, table and model."""
    parser.add_argument("rules", metavar="RULES", help="one rule per line")
    parser.add_argument("--data", metavar="DATA", required=True, help="the table to try them on")
    add_table_options(parser)
    add_rule_options(parser)
    parser.add_argument(
        "--model", metavar="MODEL", help="a saved model, to see how far rules hold (default: none)"
    )
    parser.add_argument(
        "--lambda1",
        type=float,
        help="the sparsity of a run, to see whether rules are strong enough (default: the model's, "
        "or a tenth of the value at which the data alone keep no feature)",
    )


def run(options: argparse.Namespace) -> int:
    """Read the rules, then try them; every mistake in the rules is told at once."""
    text = read_rule_file(options.rules)
    table, steps = modelled_table(options) if options.model else plain_table(options)
    blocks = blocks_of(options.blocks, table.index, table.table)
    chosen = options.positive is not None or bool(options.model)
    said = written(text, table, blocks, chosen=chosen)
    if said.first.errors:
        return refuse(options.rules, said.first.errors)
    patients = as_seen(table)
    given = table.lambda1 if options.lambda1 is None else options.lambda1
    lambda1 = usual_lambda1(patients) if given is None else given
    study = studied(said, table, patients, lambda1)
    lines = [
        *(f"data: {step}" for step in steps),
        class_line(table.classes, chosen),
        *said.lines,
        *rule_lines(study, table, patients),
        *findings(study, table),
    ]
    if given is None:
        lines.append(f"note: lambda1 = {lambda1:.3g} was assumed; --lambda1 tells another")
    print("\n".join(lines))
    return 0


def class_line(classes: tuple[str, str], chosen: bool) -> str:
    """The two classes; which of them is positive only where somebody said so."""
    if chosen:
        return f"classes: {classes[1]} (positive) and {classes[0]} (negative)"
    return f"classes: {listed(sorted(classes))}; --positive names the one to call positive"


def plain_table(options: argparse.Namespace) -> tuple[CheckedTable, list[str]]:
    """A table by itself, and what was done to make numbers of it."""
    table = prepared_table(options.data, options)
    y = np.where(table.y == table.classes[1], 1.0, -1.0)
    index = FeatureIndex(table.feature_names)
    checked = CheckedTable(table.X, y, table.rows + 1, table.classes, index, table.table)
    return checked, list(map(str, table.steps))


def modelled_table(options: argparse.Namespace) -> tuple[CheckedTable, list[str]]:
    """A table in the columns of a model."""
    stored, table = read_model(options.model), read_described(options.data, options)
    clf, origin = stored.classifier, origin_of(stored)
    table = facing(table, origin.recipe.number_names)
    label = options.label or origin.label or table.label
    if not label:
        raise DataError("expected --label COLUMN, the column with the classes: name it")
    truth = labels_of(table, known_label(table, label))
    X, kept = origin.recipe.matrix(table, np.flatnonzero(truth != ""))
    y = np.where(truth[kept] == origin.classes[1], 1.0, -1.0)
    model = Oriented(clf, origin.classes)
    checked = CheckedTable(
        X,
        y,
        kept + 1,
        origin.classes,
        clf.feature_index_,
        table,
        clf,
        float(clf.lambda1_),
        model.weights,
        model.intercept,
    )
    return checked, ["gaps filled as the model's training rows were"]


def rule_lines(study: Study, table: CheckedTable, seen: Patients) -> Iterator[str]:
    """Each rule with what it does on the rows, what the model makes of it, and advice."""
    records = seen.report(study.active, table.w, table.b)
    for check, record in zip(study.checks, records, strict=True):
        yield f"{record.label}: {check.compiled.resolved_text}"
        yield f"  {with_gaps(check, table)}"
        if len(check.train.wrong):
            yield f"  contradicted by {row_list(table.rows[check.train.wrong])}"
        yield from (f"  {line}" for line in record.lines)
        yield from (f"  {line}" for line in advice(check))
    off = [rule for rule in study.rules if not rule.enabled]
    if off:
        yield f"note: {count(len(off), 'rule')} switched off"
    if study.untried:
        yield f"note: there was no time to try {study.untried:,} more rules"


def with_gaps(check: RuleCheck, table: CheckedTable) -> RuleCounts:
    """What the rule does on the rows, and how often it does so through a value that was filled."""
    gaps = table.gaps(check.compiled.columns)
    return replace(check.train, filled=check.train.fired[gaps[check.train.fired]])


def row_list(rows: np.ndarray) -> str:
    """Rows of the file, the first of them by number.

    >>> row_list(np.array([3, 8]))
    'rows 3, 8'
    """
    more = len(rows) - MOST_LISTED
    shown = ", ".join(map(str, rows[:MOST_LISTED].tolist()))
    return f"{'row' if len(rows) == 1 else 'rows'} {shown}" + (f" and {more:,} more" * (more > 0))


def advice(check: RuleCheck) -> Iterator[str]:
    """Better thresholds, whether a feature of it enters, and what it must be worth for that."""
    yield from (f"suggestion: {better}" for better in check.better)
    if check.pull is not None:
        yield str(check.pull)
    if check.needed_patients is not None:
        needed = f"{check.needed_patients:.3g} patients"
        yield f"suggestion: for a feature of it to enter it must be worth more than {needed}"
    elif check.pull is not None and check.knobs is not None and check.pull.enters:
        worth = check.pull.sigma_needed * check.knobs.n_samples
        yield (
            f"a feature of it enters from a worth of {worth:.3g} patients on"
            if worth
            else "the data alone bring a feature of it in, whatever its worth"
        )
