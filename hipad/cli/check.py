"""Rules on a table: what they do there and what is odd about them; how to write rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    known_label,
    label_of,
    origin_of,
    prepared_table,
    read_described,
    read_text,
    role_lines,
    understood,
)
from hipad.cli.main import EXAMPLE, REFUSED, RULES_HELP, sentence
from hipad.data import ColumnRole, MissingValues, Prepared, Table, TestRows, facing
from hipad.data.preprocessing import MAX_LEVELS
from hipad.data.roles import (
    CERTAIN,
    DecidedBy,
    check_known,
    labels_of,
    named_without_features,
    positive_line,
)
from hipad.data.written_numbers import Text
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.model_io import Origin, read_model
from hipad.estimator.problem_factory import rule_weights, shares, standardised_design
from hipad.evaluation.metrics import PositiveClassView, classes_line, named_outcomes
from hipad.evaluation.rule_study import (
    RuleCheck,
    Study,
    StudyRows,
    WeightRule,
    first_look,
    study_rules,
)
from hipad.exceptions import DataError
from hipad.rules import Box, Budget, CompiledRule, FeatureIndex, Finding, RuleSet, read_rules
from hipad.rules.compiler import read_for
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.lexer import quote_label, quote_name
from hipad.rules.suggestions import example_rules, manual_text, remedies
from hipad.utils import FloatArray, IntArray, count, listed

# --------------------------------------------------------------------------------------------------
# Rules of a file on a table: read, resolved to its classes, and studied; for `check` and `fit`.
#
# Every mistake of a file is told at once, with its line. A rule is shown with the class that it
# says, also where the file says positive or negative.


MOST_MENDED: Final = 5  # mistakes that are told with remedies
MOST_SHOWN = 4  # features of a witness patient
PATIENCE = 60.0  # seconds for the whole study
SHARE = 0.1  # of the lambda1 at which the data alone keep no feature, where none is given

Compiled = dict[int, CompiledRule]


@dataclass(frozen=True)
class CheckedTable:
    """A table as numbers with outcomes +1 (positive) and -1, and a model where one is given.

    `rows` are the rows of the file, counted from one; `w` and `b` point to the positive class.
    """

    X: Any
    y: FloatArray
    rows: IntArray
    classes: tuple[str, str]
    index: FeatureIndex
    table: Table
    model: HIPADClassifier = field(default_factory=HIPADClassifier)
    lambda1: float | None = None
    w: FloatArray | None = None
    b: float = 0.0
    n_patients: int | None = None  # where several rows are of one patient
    gaps: MissingValues | None = None  # cells of X of which the file has no value
    roles: Mapping[str, ColumnRole] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Prepared) -> CheckedTable:
        """Return prepared rows as rules are tried on them."""
        return cls(
            rows.X,
            np.where(rows.y == rows.classes[1], 1.0, -1.0),
            rows.rows + 1,
            rows.classes,
            FeatureIndex(rows.feature_names),
            rows.table,
            n_patients=rows.n_patients,
            gaps=rows.gaps,
            roles=rows.roles,
        )


def read_rule_file(path: str) -> str:
    """Return the text of a file with rules; one without any is refused."""
    text = read_text(path)
    found = read_rules(text)
    if not len(found.rules) and not found.rules.statements and not found.errors:
        raise DataError(f"{path} has no rules: write one per line, as in {EXAMPLE}")
    return text


@dataclass(frozen=True, eq=False)
class WrittenRules:
    """What a text says on a table: rules by position, statements about features, mistakes.

    Outcomes are class names; a rule that stands for several, such as max(K) >= 3, is these.
    """

    rules: RuleSet
    first: Study
    compiled: Compiled
    text: str
    name_table: NameTable
    classes: tuple[str, str]

    @property
    def lines(self) -> Iterator[str]:
        """What each statement about features comes to."""
        for each in self.first.stated:
            off = "" if each.statement.enabled else "off "
            yield f"{off}{each.statement.text}: {each.meaning}"


def written(
    text: str, table: CheckedTable, blocks: dict[str, IntArray], *, chosen: bool
) -> WrittenRules:
    """A text on a table; positive and negative are outcomes if the positive class was chosen."""
    values = ColumnValues(table.X, table.gaps)
    known: dict[str, Any] = {"values": values, "positive_chosen": chosen}
    name_table = NameTable(table.index, blocks, values, decimal=table.table.decimal)
    found = read_for(text, name_table, table.classes)
    first, compiled = first_look(found, table.index, blocks, table.classes, **known)
    labels = found.rules.labels
    labelled = {at: resolved(rule, table.classes, labels[at]) for at, rule in compiled.items()}
    named = (
        found.rules
        if first.errors
        else named_outcomes(found.rules, table.classes, positive_chosen=chosen)
    )
    return WrittenRules(named, first, labelled, text, name_table, table.classes)


def resolved(rule: CompiledRule, classes: tuple[str, str], label: str) -> CompiledRule:
    """The rule with the name of its class as outcome, however it was written, and its label."""
    named = replace(rule.rule, outcome=classes[int(rule.sign > 0)])
    return replace(rule, rule=named, label=label)


def refuse(path: str, said: WrittenRules, roles: Mapping[str, ColumnRole] | None = None) -> int:
    """Tell every mistake, with lines that could stand in its place; the exit code.

    A column that is no feature by its role is named.
    """
    lines, errors = said.text.splitlines(), said.first.errors
    for n, error in enumerate(errors):
        print(f"error: {path}: {sentence(error)}", file=sys.stderr)
        if n < MOST_MENDED and error.line is not None and error.line <= len(lines):
            line = lines[error.line - 1]
            for remedy in remedies(line, error, said.name_table, said.classes):
                print(f"  write: {remedy.text}".replace("\n", "\n         "), file=sys.stderr)
    for name in named_without_features(errors, roles or {}):
        text = f"{name!r} is no feature, as its role is {(roles or {})[name].role}"
        print(f"note: {text}: --feature {name!r} makes it one", file=sys.stderr)
    return REFUSED


def as_seen(table: CheckedTable) -> StudyRows:
    """Return the rows as a run with the model's parameters sees them."""
    box = Box.observed(table.X)
    mean, scale = (None, None)
    if table.model.standardize:
        design = standardised_design(table.X, table.y, np.ones(len(table.y)))
        mean, scale = design.mean, design.scale
    balanced = "balanced" if table.model.class_weight == "balanced" else None
    p = shares(table.y, np.ones(len(table.y)), balanced)
    lo, hi = (np.asarray(end, dtype=np.float64) for end in (box.lo, box.hi))
    return StudyRows((table.X, table.y), None, lo, hi, mean, scale, p, table.gaps)


def usual_lambda1(rows: StudyRows) -> float:
    """A value of lambda1 for those who have none yet: a share of where no feature is left."""
    gradient = rows.gradient(np.arange(len(rows.lo)))
    return SHARE * float(np.abs(gradient).max(initial=0.0))


def weights(table: CheckedTable) -> WeightRule:
    """Return what a rule counts for in a run on these rows with the model's parameters."""
    model = table.model
    total = table.n_patients or len(table.y)
    return partial(rule_weights, total=total, rule_weight=model.rule_weight, rho=model.rho)


def studied(
    said: WrittenRules,
    table: CheckedTable,
    rows: StudyRows,
    lambda1: float,
    *,
    advice: bool = True,
) -> Study:
    """Return the rules that are switched on, tried on the rows and against each other."""
    on = {at: rule for at, rule in said.compiled.items() if rule.rule.enabled}
    budget = Budget(PATIENCE)
    own = weights(table)
    steps = study_rules(said.first, on, rows, lambda1=lambda1, weights=own, budget=budget)
    *_, last = steps if advice else islice(steps, 2)
    return last


def findings(study: Study, table: CheckedTable) -> Iterator[str]:
    """Yield what is odd about the rules, each with a patient that shows it."""
    for finding in study.findings:
        yield str(finding)
        if finding.witness is not None:
            yield f"  for example {witness(finding, table.index)}"
    contested = 0 if study.overlap is None else len(study.overlap.contested)
    if contested:
        yield f"note: {contested:,} of {len(table.y):,} rows meet rules of both outcomes"
    if not study.findings and not contested:
        yield "nothing odd was found about the rules"


def witness(finding: Finding, index: FeatureIndex) -> str:
    """Return the first few values of a finding's patient."""
    values = list(finding.witness.named(index).items()) if finding.witness is not None else []
    shown = ", ".join(f"{name} = {value:.4g}" for name, value in values[:MOST_SHOWN])
    return shown + (", ..." if len(values) > MOST_SHOWN else "")


# --------------------------------------------------------------------------------------------------
# Tables and models of three classes or more, none of which is the positive one.
#
# Columns are prepared without regard to labels. So a table is prepared as for one class against the
# rest, and then has all its labels back.


def classes_of(table: Table, options: argparse.Namespace) -> tuple[str, ...]:
    """Return the classes to tell apart where there are three or more; () where it is one against
    another.

    There may be as many as a text column may have levels: a label of more is hardly one.
    """
    if options.positive is not None:
        return ()
    names = [name for name in np.unique(labels_of(table, label_of(table, options))) if name]
    return tuple(map(str, names)) if 2 < len(names) <= MAX_LEVELS else ()


def with_all_labels(train: Prepared) -> Prepared:
    """Return the training rows with the labels that they have in the table."""
    y = labels_of(train.table, train.options.label)[train.rows]
    steps = tuple(step for step in train.steps if step.option != "positive")
    return replace(train, y=y, steps=steps)


def labels_of_test(test: TestRows, table: Table, label: str, classes: Sequence[str]) -> Text:
    """Return the labels of test rows, which must be among the classes of the training rows."""
    labels = labels_of(table, label, classes)[test.rows]
    check_known(labels, set(classes), label)
    return labels


def class_lines(clf: HIPADClassifier) -> list[str]:
    """Return features and certificates of all classes' models, and what was made of rules."""
    lines = [
        f"features: {clf.support_.size:,} of {clf.n_features_in_:,} kept in "
        f"{count(len(clf.classes_), 'model')}, one for each class against the rest"
    ]
    for label, one in clf.class_models_.items():
        bounds = one.certificate_
        lines.append(
            f"  {label}: {count(one.support_.size, 'feature')} at lambda1 {one.lambda1_:.4g}; "
            f"{bounds.status}, at most {bounds.gap:.1e} (relative) above the optimum"
        )
    lines.append(f"certificate (the worst of all classes): {clf.certificate_}")
    if clf.certificate_.message:
        lines.append(f"note: {clf.certificate_.message}")
    return lines


def judged(clf: HIPADClassifier, X: Any, truth: Text, part: str) -> str:
    """Return how many answers are right, of all rows and of each class."""
    return classes_line(clf.predict(X), truth, clf.classes_.tolist(), part=part)


def answer_columns(clf: HIPADClassifier, X: Any, classes: Sequence[str]) -> dict[str, list[Any]]:
    """Return for each row its class, and the score and risk of every class."""
    scores, risks = clf.decision_function(X), clf.predict_proba(X)
    columns: dict[str, list[Any]] = {"class": [classes[k] for k in np.argmax(scores, axis=1)]}
    columns |= {f"score of {name}": scores[:, k].tolist() for k, name in enumerate(classes)}
    return columns | {f"risk of {name}": risks[:, k].tolist() for k, name in enumerate(classes)}


def two_classes(origin: Origin) -> tuple[str, str]:
    """Return classes of a model, for a command that takes two; DataError where there are more."""
    if len(origin.classes) != 2:
        raise DataError(
            f"expected a model of two classes, got one of {len(origin.classes)}: fit one class "
            "against the rest, with --positive"
        )
    negative, positive = origin.classes
    return negative, positive


# --------------------------------------------------------------------------------------------------
# hipad check


NAME_IT = "--positive names another one"
MOST_LISTED = 10  # rows that contradict a rule


def add_check_options(parser: argparse.ArgumentParser) -> None:
    """Add options: rules, table and model."""
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
    rows = as_seen(table)
    given = table.lambda1 if options.lambda1 is None else options.lambda1
    lambda1 = usual_lambda1(rows) if given is None else given
    study = studied(said, table, rows, lambda1)
    lines = [
        *understood(table.table),
        *steps,
        positive_line(table.classes, decided_by) + ("" if chosen else f"; {NAME_IT}"),
        *said.lines,
        *rule_lines(study, table, rows),
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
    notes = [f"data: {step}" for step in table.steps if step.option != "roles"]
    lines = [*role_lines(table.table, table.options), *notes]
    return CheckedTable.of(table), lines, table.decided_by


def modelled_table(options: argparse.Namespace) -> tuple[CheckedTable, list[str], DecidedBy]:
    """Return a table in the columns of a model, which knows its positive class."""
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
    """Yield each rule with what it does on the rows, what the model makes of it, and advice."""
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
    """Return rows of the file, the first of them by number.

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
    """Add options: the table, or the manual."""
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
