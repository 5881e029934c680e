"""What rules do on a table, what is odd about them and, with a model, how far they hold.

Findings are warnings: they do not change the exit code. Rules that cannot be read do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    origin_of,
    prepared_table,
    read_data,
    read_text,
)
from hipad.cli.sentences import sentence
from hipad.data.classes import labels_of
from hipad.designs.base import FloatArray
from hipad.designs.scaling import standardisation
from hipad.errors import DataError
from hipad.estimator.model_file import read_model
from hipad.rules import (
    Box,
    Budget,
    CompiledRule,
    FeatureIndex,
    Finding,
    check_rules,
    compile_rules,
    rule_counts,
    rule_errors,
    rule_overlap,
    rule_report,
)

MOST_SHOWN = 4  # features of a witness patient
PATIENCE = 60.0  # seconds for comparing the rules with each other


@dataclass(frozen=True)
class Rows:
    """A table as numbers with outcomes +1 (positive) and -1, and a model where one is given."""

    X: Any
    y: FloatArray
    classes: tuple[str, str]
    index: FeatureIndex
    w: FloatArray | None = None
    b: float = 0.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Rules, table and model."""
    parser.add_argument("rules", metavar="RULES", help="one rule a line")
    parser.add_argument("--data", metavar="DATA", required=True, help="the table to try them on")
    add_table_options(parser)
    add_rule_options(parser)
    parser.add_argument("--model", metavar="MODEL", help="a saved model, to see how far rules hold")


def run(options: argparse.Namespace) -> int:
    """Read the rules, then try them; every mistake in the rules is told at once."""
    text = read_text(options.rules)
    if mistakes := rule_errors(text):
        for mistake in mistakes:
            print(f"error: {options.rules}: {sentence(mistake)}", file=sys.stderr)
        return 1
    rows = modelled_rows(options) if options.model else plain_rows(options)
    rules = compile_rules(
        text,
        feature_names=rows.index,
        blocks=blocks_of(options.blocks, rows.index),
        classes=rows.classes,
    )
    print("\n".join([*rule_lines(rules, rows), *findings(rules, rows)]))
    return 0


def plain_rows(options: argparse.Namespace) -> Rows:
    """A table by itself."""
    table = prepared_table(options.data, options)
    y = np.where(table.y == table.classes[1], 1.0, -1.0)
    return Rows(table.X, y, table.classes, FeatureIndex(table.feature_names))


def modelled_rows(options: argparse.Namespace) -> Rows:
    """A table in the columns of a model; weights point to the positive class."""
    stored, table = read_model(options.model), read_data(options.data)
    clf, origin = stored.classifier, origin_of(stored)
    label = options.label or origin.label or table.label
    if not label:
        raise DataError("expected --label COLUMN, the column with the classes: name it")
    truth = labels_of(table, label)
    X, kept = origin.recipe.matrix(table, np.flatnonzero(truth != ""))
    negative, positive = origin.classes
    y = np.where(truth[kept] == positive, 1.0, -1.0)
    side = 1.0 if str(clf.classes_[1]) == positive else -1.0
    names = clf.feature_index_
    return Rows(X, y, (negative, positive), names, side * clf.coef_[0], side * clf.intercept_[0])


def rule_lines(rules: tuple[CompiledRule, ...], rows: Rows) -> Iterator[str]:
    """Each rule with what it does on the rows and what the model makes of it."""
    box = Box.observed(rows.X)
    mean, scale = standardisation(rows.X)
    records = rule_report(rules, w=rows.w, b=rows.b, lo=box.lo, hi=box.hi, mean=mean, scale=scale)
    for rule, record in zip(rules, records, strict=True):
        yield f"{record.label}: {record.text}"
        yield f"  {rule_counts(rule, rows.X, rows.y)}"
        yield from (f"  {line}" for line in record.lines)


def findings(rules: tuple[CompiledRule, ...], rows: Rows) -> Iterator[str]:
    """What is odd about the rules, each with a patient that shows it."""
    box = Box.observed(rows.X)
    mean, _ = standardisation(rows.X)
    for finding in check_rules(rules, box.lo, box.hi, mean=mean, budget=Budget(PATIENCE)):
        yield str(finding)
        if finding.witness is not None:
            yield f"  for example {witness(finding, rows.index)}"
    contested = len(rule_overlap(rules, rows.X).contested)
    if contested:
        yield f"note: {contested:,} of {len(rows.y):,} rows meet rules of both outcomes"


def witness(finding: Finding, index: FeatureIndex) -> str:
    """The first few values of a finding's patient."""
    values = list(finding.witness.named(index).items()) if finding.witness is not None else []
    shown = ", ".join(f"{name} = {value:.4g}" for name, value in values[:MOST_SHOWN])
    return shown + (", ..." if len(values) > MOST_SHOWN else "")
