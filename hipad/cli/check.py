"""What rules do on a table, what is odd about them and, with a model, how far they hold.

Findings and suggestions do not change the exit code. Rules that cannot be used do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from hipad.arrays import FloatArray
from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    origin_of,
    prepared_table,
    read_data,
    read_text,
)
from hipad.cli.sentences import REFUSED, sentence
from hipad.data.classes import labels_of
from hipad.designs.scaling import standardisation
from hipad.errors import DataError, RuleError
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.files.model_file import read_model
from hipad.estimator.strength import knobs_of
from hipad.estimator.training import shares
from hipad.evaluation.orientation import Oriented
from hipad.evaluation.patients import Patients
from hipad.evaluation.study import GiveKnobs, RuleCheck, Study, first_look, study_rules
from hipad.rules import Box, Budget, FeatureIndex, Finding, read_rules, rule_report

MOST_SHOWN = 4  # features of a witness patient
MOST_LISTED = 10  # rows that contradict a rule
PATIENCE = 60.0  # seconds for the whole study


@dataclass(frozen=True)
class CheckedTable:
    """A table as numbers with outcomes +1 (positive) and -1, and a model where one is given.

    `rows` are the rows of the file, counted from one; `w` and `b` point to the positive class.
    """

    X: Any
    y: FloatArray
    rows: np.ndarray
    classes: tuple[str, str]
    index: FeatureIndex
    model: HIPADClassifier = field(default_factory=HIPADClassifier)
    lambda1: float | None = None
    w: FloatArray | None = None
    b: float = 0.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Rules, table and model."""
    parser.add_argument("rules", metavar="RULES", help="one rule per line")
    parser.add_argument("--data", metavar="DATA", required=True, help="the table to try them on")
    add_table_options(parser)
    add_rule_options(parser)
    parser.add_argument("--model", metavar="MODEL", help="a saved model, to see how far rules hold")
    parser.add_argument(
        "--lambda1", type=float, help="the sparsity of a run, to see whether rules are heard"
    )


def run(options: argparse.Namespace) -> int:
    """Read the rules, then try them; every mistake in the rules is told at once."""
    found = read_rules(read_text(options.rules))
    if found.errors:
        return refuse(options.rules, found.errors)
    table = modelled_table(options) if options.model else plain_table(options)
    blocks = blocks_of(options.blocks, table.index)
    first, compiled = first_look(found, table.index, blocks, table.classes)
    if first.errors:
        return refuse(options.rules, first.errors)
    on = {position: rule for position, rule in compiled.items() if rule.rule.enabled}
    lambda1 = table.lambda1 if options.lambda1 is None else options.lambda1
    patients = as_seen(table)
    *_, study = study_rules(
        first, on, patients, lambda1=lambda1, knobs=knobs(table), budget=Budget(PATIENCE)
    )
    print("\n".join([*rule_lines(study, table, patients), *findings(study, table)]))
    return 0


def refuse(path: str, errors: tuple[RuleError, ...]) -> int:
    """Tell every mistake; the exit code."""
    for error in errors:
        print(f"error: {path}: {sentence(error)}", file=sys.stderr)
    return REFUSED


def plain_table(options: argparse.Namespace) -> CheckedTable:
    """A table by itself."""
    table = prepared_table(options.data, options)
    y = np.where(table.y == table.classes[1], 1.0, -1.0)
    index = FeatureIndex(table.feature_names)
    return CheckedTable(table.X, y, table.rows + 1, table.classes, index)


def modelled_table(options: argparse.Namespace) -> CheckedTable:
    """A table in the columns of a model."""
    stored, table = read_model(options.model), read_data(options.data)
    clf, origin = stored.classifier, origin_of(stored)
    label = options.label or origin.label or table.label
    if not label:
        raise DataError("expected --label COLUMN, the column with the classes: name it")
    truth = labels_of(table, label)
    X, kept = origin.recipe.matrix(table, np.flatnonzero(truth != ""))
    y = np.where(truth[kept] == origin.classes[1], 1.0, -1.0)
    model = Oriented(clf, origin.classes)
    return CheckedTable(
        X,
        y,
        kept + 1,
        origin.classes,
        clf.feature_index_,
        clf,
        float(clf.lambda1_),
        model.weights,
        model.intercept,
    )


def as_seen(table: CheckedTable) -> Patients:
    """The rows as a run with the model's parameters sees them."""
    box = Box.observed(table.X)
    mean, scale = standardisation(table.X) if table.model.standardize else (None, None)
    balanced = "balanced" if table.model.class_weight == "balanced" else None
    p = shares(table.y, np.ones(len(table.y)), balanced)
    lo, hi = (np.asarray(end, dtype=np.float64) for end in (box.lo, box.hi))
    return Patients((table.X, table.y), None, lo, hi, mean, scale, p)


def knobs(table: CheckedTable) -> GiveKnobs:
    """What a rule counts for in a run on these rows with the model's parameters."""
    model = table.model
    return partial(knobs_of, total=len(table.y), patients=model.patients, stiffness=model.stiffness)


def rule_lines(study: Study, table: CheckedTable, seen: Patients) -> Iterator[str]:
    """Each rule with what it does on the rows, what the model makes of it, and advice."""
    records = rule_report(
        study.active,
        w=table.w,
        b=table.b,
        lo=seen.lo,
        hi=seen.hi,
        mean=seen.mean,
        scale=seen.scale,
    )
    for check, record in zip(study.checks, records, strict=True):
        yield f"{record.label}: {record.text}"
        yield f"  {check.train}"
        if len(check.train.wrong):
            yield f"  contradicted by {row_list(table.rows[check.train.wrong])}"
        yield from (f"  {line}" for line in record.lines)
        yield from (f"  {line}" for line in advice(check))
    if study.untried:
        yield f"note: there was no time to try {study.untried:,} more rules"


def row_list(rows: np.ndarray) -> str:
    """Rows of the file, the first of them by number.

    >>> row_list(np.array([3, 8]))
    'rows 3, 8'
    """
    more = len(rows) - MOST_LISTED
    shown = ", ".join(map(str, rows[:MOST_LISTED].tolist()))
    return f"{'row' if len(rows) == 1 else 'rows'} {shown}" + (f" and {more:,} more" * (more > 0))


def advice(check: RuleCheck) -> Iterator[str]:
    """Better thresholds, and whether the rule is heard where lambda1 is known."""
    yield from (f"suggestion: {better}" for better in check.better)
    if check.pull is not None:
        yield str(check.pull)
    if check.needed_patients is not None:
        needed = f"{check.needed_patients:.3g} patients"
        yield f"suggestion: for a feature of it to enter it must be worth more than {needed}"


def findings(study: Study, table: CheckedTable) -> Iterator[str]:
    """What is odd about the rules, each with a patient that shows it."""
    for finding in study.findings:
        yield str(finding)
        if finding.witness is not None:
            yield f"  for example {witness(finding, table.index)}"
    contested = 0 if study.overlap is None else len(study.overlap.contested)
    if contested:
        yield f"note: {contested:,} of {len(table.y):,} rows meet rules of both outcomes"


def witness(finding: Finding, index: FeatureIndex) -> str:
    """The first few values of a finding's patient."""
    values = list(finding.witness.named(index).items()) if finding.witness is not None else []
    shown = ", ".join(f"{name} = {value:.4g}" for name, value in values[:MOST_SHOWN])
    return shown + (", ..." if len(values) > MOST_SHOWN else "")
