"""Fit a classifier to a table and rules, and save it.

Ctrl-C stops the fit and keeps the model so far; its certificate says that it was stopped, and so
does the exit code.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from hipad.arrays import IntArray
from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    check_output,
    preparation,
    prepared_table,
    read_data,
    read_described,
    role_lines,
)
from hipad.cli.studying import (
    CheckedTable,
    WrittenRules,
    as_seen,
    findings,
    read_rule_file,
    refuse,
    studied,
    written,
)
from hipad.cli.talking.bar import Bar
from hipad.cli.talking.sentences import INTERRUPTED, RULES_HELP
from hipad.data import (
    FORMATS,
    Matched,
    Prepared,
    facing,
    learning_rows,
    match_test,
    match_unlabelled,
    split,
)
from hipad.data.classes import CERTAIN
from hipad.data.writing import STDOUT
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.files.model_file import Origin, save_model
from hipad.estimator.parameters import CHOICES
from hipad.estimator.run import FitRun
from hipad.evaluation.averaging import averaged_candidates
from hipad.evaluation.orientation import Oriented
from hipad.rules import FeatureIndex, RuleSet
from hipad.rules.compiling.outcomes import first_outcome
from hipad.solver import Status
from hipad.wording import count

EPILOG = RULES_HELP
NUMBERS = {
    "lambda1": 'sparsity, a number or "auto"',
    "lambda2": "ridge: correlated features share their weight",
    "patients": 'what a rule counts for, a number, "auto" or "equal"',
    "stiffness": 'how closely rules are followed, a number or "auto"',
}
SWITCHES = {
    "calibrate": "put the average training patient of each class at +1 and -1",
    "standardize": "scale columns to mean 0 and deviation 1",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Data, rules, where to save, and the classifier's parameters."""
    parser.add_argument("data", metavar="DATA", help=f"a table: {', '.join(FORMATS)}")
    add_table_options(parser)
    parser.add_argument("--rules", metavar="FILE", help="one rule per line (default: none)")
    add_rule_options(parser)
    parser.add_argument("--model", metavar="OUT.json", required=True, help="where to save")
    test = parser.add_mutually_exclusive_group()
    test.add_argument("--test", metavar="FILE", help="a table to test on (default: none)")
    test.add_argument(
        "--split", metavar="SHARE", type=float, help="hold back a share for testing (default: 0)"
    )
    parser.add_argument(
        "--unlabelled",
        metavar="FILE",
        help="a table of further rows without a label, used for what the rules say and never for "
        "judging (default: none; rows of DATA without a label are used in any case)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the split (default: 0)")
    add_parameters(parser)


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """The parameters of HIPADClassifier; those that are not given keep its defaults."""
    own = parser.add_argument_group("parameters", argument_default=argparse.SUPPRESS)
    usual = HIPADClassifier().get_params(deep=False)
    for name, help in NUMBERS.items():
        own.add_argument(f"--{name}", type=number_or_word, help=f"{help} (default: {usual[name]})")
    for name, choices in CHOICES.items():
        meanings = "; ".join(f"{word}: {meaning}" for word, meaning in choices.items())
        own.add_argument(
            f"--{name}", choices=tuple(choices), help=f"{meanings} (default: {usual[name]})"
        )
    own.add_argument(
        "--class-weight",
        choices=("balanced", "none"),
        help=f"balanced: each class counts one half (default: {usual['class_weight'] or 'none'})",
    )
    for name, help in SWITCHES.items():
        said = f"{help} (default: {'yes' if usual[name] else 'no'})"
        own.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=said)


def number_or_word(text: str) -> float | str:
    """A number where it is one; the classifier knows which words it takes."""
    try:
        return float(text)
    except ValueError:
        return text


def run(options: argparse.Namespace) -> int:
    """Read, fit, save, report."""
    read = [options.data, options.test, options.unlabelled, options.rules, options.blocks]
    check_output(options.model, read)
    words = sys.stderr if options.model in STDOUT else sys.stdout
    text = read_rule_file(options.rules) if options.rules else ""
    train, test = read_rows(options, text)
    more = read_unlabelled(options.unlabelled, train)
    for line in role_lines(train.table, train.options):
        print(line, file=words)
    for step in (*train.steps, *(() if more is None else more.steps)):
        if step.option != "roles":
            print(f"data: {step}", file=words)
    if train.groups is not None:
        told = f"{count(len(train.y), 'row')} of {count(train.n_patients, 'patient')}"
        print(f"data: {told} to learn from, by {train.group}", file=words)
    print(train.positive_line, file=words)
    table = as_checked(train)
    blocks = blocks_of(options.blocks, table.index, train.table)
    said = written(text, table, blocks, chosen=train.decided_by in CERTAIN)
    if said.first.errors:
        return refuse(options.rules, said.first.errors, train.roles)
    for line in said.lines:
        print(line, file=words)
    clf = fitted(build(options, said.rules, blocks), train, more)
    origin = Origin(train.options.label, train.classes, train.recipe, train.decided_by, train.group)
    save_model(clf, Path(options.model), origin=origin)
    print(report(clf, train, test), file=words)
    for line in odd(clf, table, said) if said.compiled else ():
        print(line, file=words)
    print(f"saved: {options.model}", file=words)
    if clf.certificate_.status is Status.STOPPED:
        print("stopped: the saved model is what the fit had reached", file=sys.stderr)
        return INTERRUPTED
    return 0


def as_checked(train: Prepared) -> CheckedTable:
    """The training rows as rules are tried on them."""
    y = np.where(train.y == train.classes[1], 1.0, -1.0)
    index = FeatureIndex(train.feature_names)
    return CheckedTable(
        train.X,
        y,
        train.rows + 1,
        train.classes,
        index,
        train.table,
        n_patients=train.n_patients,
    )


def odd(clf: HIPADClassifier, table: CheckedTable, said: WrittenRules) -> Iterator[str]:
    """What is odd about the rules, with the strength they had in the fit."""
    table = replace(table, model=clf)
    study = studied(said, table, as_seen(table), float(clf.lambda1_), advice=False)
    yield from findings(study, table)


def read_rows(options: argparse.Namespace, rules: str = "") -> tuple[Prepared, Matched | None]:
    """Training rows, and test rows where they are asked for."""
    if options.split is not None:
        table = read_described(options.data, options)
        wanted = preparation(table, options, use_unlabelled=True)
        outcome = first_outcome(rules)
        parts = split(table, wanted, options.split, options.seed, outcome=outcome)
        return parts.train, parts.test
    prepared = prepared_table(options.data, options, rules, use_unlabelled=True)
    if options.test is None:
        return prepared, None
    return prepared, match_test(prepared, facing(read_data(options.test), prepared.feature_names))


def read_unlabelled(path: str | None, train: Prepared) -> Matched | None:
    """Further rows without a label, where a file of them is given."""
    if path is None:
        return None
    return match_unlabelled(train, facing(read_data(path), train.feature_names))


def build(
    options: argparse.Namespace, rules: RuleSet, blocks: dict[str, IntArray]
) -> HIPADClassifier:
    """The classifier that the options describe."""
    clf = HIPADClassifier(rules, blocks=blocks)
    names = set(clf.get_params(deep=False)) - {"rules", "blocks"}
    given: dict[str, Any] = {key: value for key, value in vars(options).items() if key in names}
    if given.get("class_weight") == "none":
        given["class_weight"] = None
    return clf.set_params(**given)


def fitted(clf: HIPADClassifier, train: Prepared, more: Matched | None = None) -> HIPADClassifier:
    """Fit with a bar; Ctrl-C keeps the model so far. `more` are further rows without a label."""
    X, y = learning_rows(train.X, train.y, train.unlabelled, None if more is None else more.X)
    groups = train.groups
    if groups is not None and len(y) > len(groups):  # rows of another file are of other patients
        groups = np.r_[groups, groups.max() + 1 + np.arange(len(y) - len(groups))]
    watch = clf.start(X, y, groups=groups, feature_names=train.feature_names)
    with Bar() as bar, stopping(watch):
        for record in watch:
            bar.progress(record)
    return watch.finish()


@contextmanager
def stopping(watch: FitRun[Any]) -> Iterator[None]:
    """While this is open the first Ctrl-C stops the fit; a second one ends the program."""

    def stop(number: int, frame: FrameType | None) -> None:
        watch.stop()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def report(clf: HIPADClassifier, train: Prepared, test: Matched | None) -> str:
    """Features, certificate, answers and rules in a few lines."""
    lines = [
        f"features: {clf.support_.size:,} of {clf.n_features_in_:,} kept at lambda1 "
        f"{clf.lambda1_:.4g}",
        f"certificate: {clf.certificate_}",
    ]
    if clf.certificate_.message:
        lines.append(f"note: {clf.certificate_.message}")
    model = Oriented(clf, train.classes)
    own = None if train.groups is None else train.groups[: len(train.y)]
    lines.append(str(model.judge(train.X, train.y, part="training", groups=own)))
    if test is not None and test.y is not None and len(test.y):
        lines.append(str(model.judge(test.X, test.y, part="test", groups=test.groups)))
    lines += [*map(str, clf.rule_report_), *map(str, clf.knowledge_report_)]
    if candidates := averaged_candidates(clf):
        lines += ["averaged, by how well each predicts rows that it did not see:"]
        lines += [f"  {candidate}" for candidate in candidates]
    return "\n".join(lines)
