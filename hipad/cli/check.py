"""What rules do on a table and what is odd about them, and how to write rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np

from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    known_label,
    origin_of,
    prepared_table,
    read_described,
    role_lines,
    understood,
)
from hipad.cli.main import RULES_HELP
from hipad.cli.study import (
    CheckedTable,
    as_seen,
    findings,
    read_rule_file,
    refuse,
    studied,
    two_classes,
    usual_lambda1,
    written,
)
from hipad.data import facing
from hipad.data.roles import CERTAIN, DecidedBy, labels_of, positive_line
from hipad.estimator.model_io import read_model
from hipad.evaluation.metrics import PositiveClassView
from hipad.evaluation.rule_study import RuleCheck, Study, StudyRows
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.lexer import quote_label, quote_name
from hipad.rules.suggestions import example_rules, manual_text
from hipad.utils import count, listed

# --------------------------------------------------------------------------------------------------
# hipad check


NAME_IT = "--positive names another one"
MOST_LISTED = 10  # rows that contradict a rule


def add_check_options(parser: argparse.ArgumentParser) -> None:
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


def run_check(options: argparse.Namespace) -> int:
    """What rules do on a table, what is odd about them and, with a model, how far they hold.

    Findings and suggestions do not change the exit code. Rules that cannot be used do.
    """
    text = read_rule_file(options.rules)
    table, steps, decided_by = (
        modelled_table(options) if options.model else plain_table(options, text)
    )
    blocks = blocks_of(options.blocks, table.index, table.table)
    chosen = decided_by in CERTAIN
    said = written(text, table, blocks, chosen=chosen)
    if said.first.errors:
        return refuse(options.rules, said, table.roles)
    patients = as_seen(table)
    given = table.lambda1 if options.lambda1 is None else options.lambda1
    lambda1 = usual_lambda1(patients) if given is None else given
    study = studied(said, table, patients, lambda1)
    lines = [
        *understood(table.table),
        *steps,
        positive_line(table.classes, decided_by) + ("" if chosen else f"; {NAME_IT}"),
        *said.lines,
        *rule_lines(study, table, patients),
        *findings(study, table),
    ]
    if given is None:
        lines.append(f"note: lambda1 = {lambda1:.3g} was assumed; --lambda1 tells another")
    print("\n".join(lines))
    return 0


def plain_table(
    options: argparse.Namespace, rules: str
) -> tuple[CheckedTable, list[str], DecidedBy]:
    """A table by itself, what was done to make numbers of it, and what tells the positive class."""
    table = prepared_table(options.data, options, rules)
    told = [f"data: {step}" for step in table.steps if step.option != "roles"]
    lines = [*role_lines(table.table, table.options), *told]
    return CheckedTable.of(table), lines, table.decided_by


def modelled_table(options: argparse.Namespace) -> tuple[CheckedTable, list[str], DecidedBy]:
    """A table in the columns of a model, which knows its positive class."""
    stored = read_model(options.model)
    clf, origin = stored.classifier, origin_of(stored)
    table = read_described(options.data, options, origin)
    table = facing(table, origin.recipe.number_names)
    label = options.label or origin.label or table.label
    if not label:
        raise DataError("expected --label COLUMN, the column with the classes: name it")
    classes = two_classes(origin)
    truth = labels_of(table, known_label(table, label), classes)
    X, kept, gaps = origin.recipe.measured(table, np.flatnonzero(truth != ""))
    y = np.where(truth[kept] == classes[1], 1.0, -1.0)
    model = PositiveClassView(clf, classes)
    checked = CheckedTable(
        X,
        y,
        kept + 1,
        classes,
        clf.feature_index_,
        table,
        clf,
        float(clf.lambda1_),
        model.weights,
        model.intercept,
        gaps=gaps,
    )
    return checked, ["data: gaps filled as the model's training rows were"], "model"


def rule_lines(study: Study, table: CheckedTable, seen: StudyRows) -> Iterator[str]:
    """Each rule with what it does on the rows, what the model makes of it, and advice."""
    records = seen.report(study.active, table.w, table.b)
    for check, record in zip(study.checks, records, strict=True):
        yield f"{record.label}: {check.compiled.resolved_text}"
        yield f"  {check.train}"
        if len(check.train.wrong):
            yield f"  contradicted by {row_list(table.rows[check.train.wrong])}"
        yield from (f"  {line}" for line in record.lines)
        yield from (f"  {line}" for line in advice(check))
    off = [rule for rule in study.rules if not rule.enabled]
    if off:
        yield f"note: {count(len(off), 'rule')} switched off"
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
    """Better thresholds, whether a feature of it enters, and what it must be worth for that."""
    yield from (f"suggestion: {better}" for better in check.better)
    if check.gradient is not None:
        yield str(check.gradient)
    if check.rule.worth is None and check.gradient is not None and not check.gradient.enters:
        yield "its weight is learnt by a fit; this was said of 15 % of the rows"
    elif check.needed_patients is not None:
        needed = f"{check.needed_patients:.3g} patients"
        yield f"suggestion: for a feature of it to enter it must be worth more than {needed}"
    elif check.gradient is not None and check.weights is not None and check.gradient.enters:
        worth = check.gradient.sigma_needed * check.weights.n_samples
        yield (
            f"a feature of it enters from a worth of {worth:.3g} patients on"
            if worth
            else "the data alone bring a feature of it in, whatever its worth"
        )


# --------------------------------------------------------------------------------------------------
# hipad rules


MOST_NAMES = 12


def add_rules_options(parser: argparse.ArgumentParser) -> None:
    """The table, or the manual."""
    parser.add_argument(
        "--help-for", metavar="DATA", help="a table: examples in its columns and classes"
    )
    parser.add_argument("--manual", action="store_true", help="the whole manual (Markdown)")
    add_table_options(parser)
    add_rule_options(parser)


def run_rules(options: argparse.Namespace) -> int:
    """How to write rules: examples in the columns and classes of a table, and the manual.

    With --help-for DATA, six rules made from the table, each of which can be used as it stands.
    """
    if options.help_for is None:
        print(manual_text() or RULES_HELP)
        return 0
    table = prepared_table(options.help_for, options)
    index = FeatureIndex(table.feature_names)
    blocks = blocks_of(options.blocks, index, table.table)
    name_table = NameTable(index, blocks, ColumnValues(table.X))
    found = example_rules(name_table, table.classes)
    width = max((len(rule.text) for rule in found), default=0)
    print("\n".join(f"{rule.text:<{width}}  # {rule.shows}" if "#" not in rule.text else rule.text
                    for rule in found))  # fmt: skip
    names = [quote_name(name) for name in table.feature_names]
    print(f"features: {listed(names, limit=MOST_NAMES)}", file=sys.stderr)
    if blocks:
        print(f"blocks: {listed(list(map(quote_name, blocks)), limit=MOST_NAMES)}", file=sys.stderr)
    said = listed([quote_label(str(label)) for label in table.classes])
    print(f"classes: {said}; hipad rules --manual shows the whole language", file=sys.stderr)
    if options.manual:
        print(manual_text() or RULES_HELP)
    return 0
