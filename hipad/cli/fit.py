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
from pathlib import Path
from types import FrameType
from typing import Any

from hipad.cli.bar import Bar
from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    preparation,
    prepared_table,
    read_data,
    read_text,
)
from hipad.cli.outputs import check_output
from hipad.cli.sentences import INTERRUPTED
from hipad.data import Matched, Prepared, match_test, split
from hipad.data.writing import STDOUT
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.files.model_file import Origin, save_model
from hipad.estimator.parameters import CHOICES
from hipad.estimator.run import FitRun
from hipad.evaluation.orientation import Oriented, named_outcomes
from hipad.rules import FeatureIndex
from hipad.solver import Status


def add_options(parser: argparse.ArgumentParser) -> None:
    """Data, rules, where to save, and the classifier's parameters."""
    parser.add_argument("data", metavar="DATA", help="CSV, XLSX, Parquet, NPZ or LIBSVM")
    add_table_options(parser)
    parser.add_argument("--rules", metavar="FILE", help="one rule per line")
    add_rule_options(parser)
    parser.add_argument("--model", metavar="OUT.json", required=True, help="where to save")
    test = parser.add_mutually_exclusive_group()
    test.add_argument("--test", metavar="FILE", help="a table to test on")
    test.add_argument("--split", metavar="SHARE", type=float, help="hold back a share for testing")
    parser.add_argument("--seed", type=int, default=0, help="of the split")
    add_parameters(parser)


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """The parameters of HIPADClassifier; those that are not given keep its defaults."""
    own = parser.add_argument_group("parameters", argument_default=argparse.SUPPRESS)
    for name, help in (
        ("lambda1", 'sparsity, or "auto"'),
        ("lambda2", "ridge"),
        ("patients", 'what a rule counts for, or "auto"'),
        ("stiffness", 'how closely rules are followed, or "auto"'),
    ):
        own.add_argument(f"--{name}", type=number_or_word, help=help)
    for name, choices in CHOICES.items():
        own.add_argument(f"--{name}", choices=tuple(choices))
    own.add_argument("--class-weight", choices=("balanced", "none"))
    own.add_argument("--calibrate", action=argparse.BooleanOptionalAction)
    own.add_argument("--standardize", action=argparse.BooleanOptionalAction)


def number_or_word(text: str) -> float | str:
    """A number where it is one; the classifier knows which words it takes."""
    try:
        return float(text)
    except ValueError:
        return text


def run(options: argparse.Namespace) -> int:
    """Read, fit, save, report."""
    check_output(options.model, [options.data, options.test, options.rules, options.blocks])
    words = sys.stderr if options.model in STDOUT else sys.stdout
    train, test = read_rows(options)
    for step in train.steps:
        print(f"data: {step}", file=words)
    clf = fitted(build(options, train), train)
    origin = Origin(train.options.label, train.classes, train.recipe)
    save_model(clf, Path(options.model), origin=origin)
    print(report(clf, train, test), file=words)
    print(f"saved: {options.model}", file=words)
    if clf.certificate_.status is Status.STOPPED:
        print("stopped: the saved model is what the fit had reached", file=sys.stderr)
        return INTERRUPTED
    return 0


def read_rows(options: argparse.Namespace) -> tuple[Prepared, Matched | None]:
    """Training rows, and test rows where they are asked for."""
    if options.split is not None:
        table = read_data(options.data)
        parts = split(table, preparation(table, options), options.split, options.seed)
        return parts.train, parts.test
    prepared = prepared_table(options.data, options)
    if options.test is None:
        return prepared, None
    return prepared, match_test(prepared, read_data(options.test))


def build(options: argparse.Namespace, train: Prepared) -> HIPADClassifier:
    """The classifier that the options describe."""
    rules = named_outcomes(read_text(options.rules) if options.rules else "", train.classes)
    blocks = blocks_of(options.blocks, FeatureIndex(train.feature_names))
    clf = HIPADClassifier(rules, blocks=blocks)
    names = set(clf.get_params(deep=False)) - {"rules", "blocks"}
    given: dict[str, Any] = {key: value for key, value in vars(options).items() if key in names}
    if given.get("class_weight") == "none":
        given["class_weight"] = None
    return clf.set_params(**given)


def fitted(clf: HIPADClassifier, train: Prepared) -> HIPADClassifier:
    """Fit with a bar; Ctrl-C keeps the model so far."""
    watch = clf.start(train.X, train.y, feature_names=train.feature_names)
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
    lines.append(str(model.judge(train.X, train.y, part="training")))
    if test is not None and test.y is not None and len(test.y):
        lines.append(str(model.judge(test.X, test.y, part="test")))
    return "\n".join([*lines, *map(str, clf.rule_report_)])
