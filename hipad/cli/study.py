"""Rules of a file on a table, studied for `check` and `fit`; tables of three classes or more."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from hipad.cli.inputs import label_of, read_text
from hipad.cli.main import EXAMPLE, REFUSED, sentence
from hipad.data import ColumnRole, MissingValues, Prepared, Table, TestRows
from hipad.data.preprocessing import MAX_LEVELS
from hipad.data.roles import check_known, labels_of, named_without_features
from hipad.data.written_numbers import Text
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.model_io import Origin
from hipad.estimator.problem_factory import rule_weights
from hipad.estimator.training_data import shares, standardised_design
from hipad.evaluation.metrics import classes_line, named_outcomes
from hipad.evaluation.rule_study import Study, StudyRows, WeightRule, first_look, study_rules
from hipad.exceptions import DataError
from hipad.rules import Box, Budget, CompiledRule, FeatureIndex, Finding, RuleSet, read_rules
from hipad.rules.compiler import read_for
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.suggestions import remedies
from hipad.utils import FloatArray, IntArray, count

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
    """The text of a file with rules; one without any is refused."""
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
    told = {at: resolved(rule, table.classes, labels[at]) for at, rule in compiled.items()}
    named = (
        found.rules
        if first.errors
        else named_outcomes(found.rules, table.classes, positive_chosen=chosen)
    )
    return WrittenRules(named, first, told, text, name_table, table.classes)


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
        told = f"{name!r} is no feature, as its role is {(roles or {})[name].role}"
        print(f"note: {told}: --feature {name!r} makes it one", file=sys.stderr)
    return REFUSED


def as_seen(table: CheckedTable) -> StudyRows:
    """The rows as a run with the model's parameters sees them."""
    box = Box.observed(table.X)
    mean, scale = (None, None)
    if table.model.standardize:
        design = standardised_design(table.X, table.y, np.ones(len(table.y)))
        mean, scale = design.mean, design.scale
    balanced = "balanced" if table.model.class_weight == "balanced" else None
    p = shares(table.y, np.ones(len(table.y)), balanced)
    lo, hi = (np.asarray(end, dtype=np.float64) for end in (box.lo, box.hi))
    return StudyRows((table.X, table.y), None, lo, hi, mean, scale, p, table.gaps)


def usual_lambda1(patients: StudyRows) -> float:
    """A value of lambda1 for those who have none yet: a share of where no feature is left."""
    gradient = patients.gradient(np.arange(len(patients.lo)))
    return SHARE * float(np.abs(gradient).max(initial=0.0))


def weights(table: CheckedTable) -> WeightRule:
    """What a rule counts for in a run on these rows with the model's parameters."""
    model = table.model
    total = table.n_patients or len(table.y)
    return partial(rule_weights, total=total, rule_weight=model.rule_weight, rho=model.rho)


def studied(
    said: WrittenRules,
    table: CheckedTable,
    patients: StudyRows,
    lambda1: float,
    *,
    advice: bool = True,
) -> Study:
    """The rules that are switched on, tried on the rows and against each other."""
    on = {at: rule for at, rule in said.compiled.items() if rule.rule.enabled}
    budget = Budget(PATIENCE)
    own = weights(table)
    steps = study_rules(said.first, on, patients, lambda1=lambda1, weights=own, budget=budget)
    *_, last = steps if advice else islice(steps, 2)
    return last


def findings(study: Study, table: CheckedTable) -> Iterator[str]:
    """What is odd about the rules, each with a patient that shows it."""
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
    """The first few values of a finding's patient."""
    values = list(finding.witness.named(index).items()) if finding.witness is not None else []
    shown = ", ".join(f"{name} = {value:.4g}" for name, value in values[:MOST_SHOWN])
    return shown + (", ..." if len(values) > MOST_SHOWN else "")


# --------------------------------------------------------------------------------------------------
# Tables and models of three classes or more, none of which is the positive one.
#
# Columns are prepared without regard to labels. So a table is prepared as for one class against the
# rest, and then has all its labels back.


def classes_of(table: Table, options: argparse.Namespace) -> tuple[str, ...]:
    """The classes to tell apart where there are three or more; () where it is one against another.

    There may be as many as a text column may have levels: a label of more is hardly one.
    """
    if options.positive is not None:
        return ()
    names = [name for name in np.unique(labels_of(table, label_of(table, options))) if name]
    return tuple(map(str, names)) if 2 < len(names) <= MAX_LEVELS else ()


def with_all_labels(train: Prepared) -> Prepared:
    """The training rows with the labels that they have in the table."""
    y = labels_of(train.table, train.options.label)[train.rows]
    steps = tuple(step for step in train.steps if step.option != "positive")
    return replace(train, y=y, steps=steps)


def labels_of_test(test: TestRows, table: Table, label: str, classes: Sequence[str]) -> Text:
    """The labels of test rows, which must be among the classes of the training rows."""
    labels = labels_of(table, label, classes)[test.rows]
    check_known(labels, set(classes), label)
    return labels


def class_lines(clf: HIPADClassifier) -> list[str]:
    """Features and certificates of all classes' models, and what was made of rules."""
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
    """How many answers are right, of all rows and of each class."""
    return classes_line(clf.predict(X), truth, clf.classes_.tolist(), part=part)


def answer_columns(clf: HIPADClassifier, X: Any, classes: Sequence[str]) -> dict[str, list[Any]]:
    """For each row its class, and the score and risk of every class."""
    scores, risks = clf.decision_function(X), clf.predict_proba(X)
    columns: dict[str, list[Any]] = {"class": [classes[k] for k in np.argmax(scores, axis=1)]}
    columns |= {f"score of {name}": scores[:, k].tolist() for k, name in enumerate(classes)}
    return columns | {f"risk of {name}": risks[:, k].tolist() for k, name in enumerate(classes)}


def two_classes(origin: Origin) -> tuple[str, str]:
    """The classes of a model, for a command that takes two; DataError where there are more."""
    if len(origin.classes) != 2:
        raise DataError(
            f"expected a model of two classes, got one of {len(origin.classes)}: fit one class "
            "against the rest, with --positive"
        )
    negative, positive = origin.classes
    return negative, positive
