"""Fit a classifier to a table and rules, and save it.

Of three classes or more all are told apart, unless `--positive` names one to tell from the rest.

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
from typing import Any, TextIO

from hipad.cli.inputs import (
    Bar,
    add_old_names,
    add_rule_options,
    add_table_options,
    blocks_of,
    check_output,
    later_format,
    preparation,
    prepared_from,
    read_data,
    read_described,
    role_lines,
)
from hipad.cli.main import INTERRUPTED, REFUSED, sentence
from hipad.cli.study import (
    CheckedTable,
    WrittenRules,
    as_seen,
    class_lines,
    classes_of,
    findings,
    judged,
    labels_of_test,
    read_rule_file,
    refuse,
    studied,
    with_all_labels,
    written,
)
from hipad.data import (
    FORMATS,
    Prepared,
    Table,
    TestRows,
    facing,
    learning_gaps,
    learning_groups,
    learning_rows,
    match_test,
    match_unlabelled,
    split,
)
from hipad.data.roles import CERTAIN
from hipad.data.table import STDOUT
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.fit import FitRun
from hipad.estimator.model_io import Origin, TableFile, save_model
from hipad.estimator.multiclass import ClassRuns
from hipad.estimator.parameters import CHOICES
from hipad.evaluation.comparison import averaged_candidates
from hipad.evaluation.metrics import PositiveClassView, few_features_sentence
from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, RuleSet
from hipad.rules.compiled_rule import first_outcome
from hipad.solvers import Status
from hipad.utils import IntArray, count

NUMBERS = {
    "lambda1": 'sparsity, a number, "auto", or "sparse" for the fewest features about as good',
    "lambda2": "ridge: correlated features share their weight",
    "rule_weight": 'how many rows a rule counts for, a number, "auto" or "equal"',
    "rho": 'how closely rules are followed, a number or "auto"',
}
LAYER_OF = {
    "scope": "rule_settings",
    "phase2_solver": "solver",
    "phase1_stop": "solver",
    "choice": "selection",
    "calibrate": "selection",
}  # the others are parameters of the classifier itself
SWITCHES = {
    "calibrate": "put the average training patient of each class at +1 and -1",
    "standardize": "scale columns to mean 0 and deviation 1",
}


def add_fit_options(parser: argparse.ArgumentParser) -> None:
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
    usual = HIPADClassifier().get_params()
    for name, help in NUMBERS.items():
        said = f"{help} (default: {usual[name]})"
        own.add_argument(option_of(name), dest=name, type=number_or_word, help=said)
    for name, choices in CHOICES.items():
        meanings, path = (
            "; ".join(f"{word}: {said}" for word, said in choices.items()),
            path_of(name),
        )
        own.add_argument(
            option_of(name),
            dest=path,
            choices=tuple(choices),
            help=f"{meanings} (default: {usual[path]})",
        )
    own.add_argument(
        "--class-weight",
        choices=("balanced", "none"),
        help=f"balanced: each class counts one half (default: {usual['class_weight'] or 'none'})",
    )
    for name, help in SWITCHES.items():
        path = path_of(name)
        said = f"{help} (default: {'yes' if usual[path] else 'no'})"
        own.add_argument(f"--{name}", dest=path, action=argparse.BooleanOptionalAction, help=said)
    add_old_names(own)


def option_of(name: str) -> str:
    """Return the option of a parameter.

    >>> option_of("rule_weight")
    '--rule-weight'
    """
    return "--" + name.replace("_", "-")


def path_of(name: str) -> str:
    """Return a parameter as `set_params` takes it.

    >>> path_of("rho"), path_of("scope")
    ('rho', 'rule_settings__scope')
    """
    return f"{LAYER_OF[name]}__{name}" if name in LAYER_OF else name


def number_or_word(text: str) -> float | str:
    """A number where it is one; the classifier knows which words it takes."""
    try:
        return float(text)
    except ValueError:
        return text


def run_fit(options: argparse.Namespace) -> int:
    """Fit a classifier to a table and rules, and save it.

    Of three classes or more all are told apart, unless `--positive` names one to tell from the
    rest.

    Ctrl-C stops the fit and keeps the model so far; its certificate says that it was stopped, and
    so does the exit code.
    """
    read = [options.data, options.test, options.unlabelled, options.rules, options.blocks]
    check_output(options.model, read)
    words = sys.stderr if options.model in STDOUT else sys.stdout
    text = read_rule_file(options.rules) if options.rules else ""
    table_read = read_described(options.data, options)
    if classes := classes_of(table_read, options):
        return fit_all(options, table_read, classes, text, words)
    train, test = read_rows(options, table_read, text)
    more = read_unlabelled(options.unlabelled, train)
    for line in role_lines(train.table, train.options):
        print(line, file=words)
    for step in (*train.steps, *(() if more is None else more.steps)):
        if step.option != "roles":
            print(f"data: {step}", file=words)
    if train.groups is not None:
        whom = f"{count(len(train.y), 'row')} of {count(train.n_patients, 'patient')}"
        print(f"data: {whom} to learn from, by {train.group}", file=words)
    print(train.positive_line, file=words)
    table = CheckedTable.of(train)
    blocks = blocks_of(options.blocks, table.index, train.table)
    said = written(text, table, blocks, chosen=train.decided_by in CERTAIN)
    if said.first.errors:
        return refuse(options.rules, said, train.roles)
    for line in said.lines:
        print(line, file=words)
    clf = fitted(build(options, said.rules, blocks), train, more)
    origin = Origin(
        train.options.label,
        train.classes,
        train.recipe,
        train.decided_by,
        train.group,
        train.table.reading.later,
        table_file(options, train),
    )
    save_model(clf, Path(options.model), origin=origin)
    print(report(clf, train, test), file=words)
    for line in odd(clf, table, said) if said.compiled else ():
        print(line, file=words)
    return told(options, clf, words)


def fit_all(
    options: argparse.Namespace, table: Table, classes: tuple[str, ...], text: str, words: TextIO
) -> int:
    """The same for three classes or more, all of them told apart."""
    one = argparse.Namespace(**{**vars(options), "positive": classes[0]})
    train, test = read_rows(one, table)
    train, more = with_all_labels(train), read_unlabelled(options.unlabelled, train)
    for step in (*train.steps, *(() if more is None else more.steps)):
        print(f"data: {step}", file=words)
    print(f"classes: {', '.join(classes)}; each is told from all others", file=words)
    blocks = blocks_of(options.blocks, FeatureIndex(train.feature_names), train.table)
    try:
        clf = fitted(build(options, text, blocks), train, more)
    except RuleError as error:
        print(f"error: {options.rules}: {sentence(error)}", file=sys.stderr)
        return REFUSED
    origin = Origin(
        train.options.label,
        classes,
        train.recipe,
        group=train.group,
        file_format=train.table.reading.later,
        file=table_file(options, train),
    )
    save_model(clf, Path(options.model), origin=origin)
    lines = [*class_lines(clf), judged(clf, train.X, train.y, "training")]
    if test is not None and test.y is not None:
        source = table if options.test is None else read_data(options.test)
        truth = labels_of_test(test, source, train.options.label, classes)
        lines.append(judged(clf, test.X, truth, "test"))
    lines += [*map(str, clf.rule_report_), *map(str, clf.knowledge_report_)]
    print("\n".join(lines), file=words)
    return told(options, clf, words)


def table_file(options: argparse.Namespace, train: Prepared) -> TableFile:
    """What later commands need to find the same training rows again."""
    name, digest = Path(options.data).name, train.table.sha256
    return TableFile(name, digest, train.options, options.split, options.seed)


def told(options: argparse.Namespace, clf: HIPADClassifier, words: TextIO) -> int:
    """Say where the model is, and whether the fit came to its end; the exit code."""
    print(f"saved: {options.model}", file=words)
    if clf.certificate_.status is Status.STOPPED:
        print("stopped: the saved model is what the fit had reached", file=sys.stderr)
        return INTERRUPTED
    return 0


def odd(clf: HIPADClassifier, table: CheckedTable, said: WrittenRules) -> Iterator[str]:
    """What is odd about the rules, with the strength they had in the fit."""
    table = replace(table, model=clf)
    study = studied(said, table, as_seen(table), float(clf.lambda1_), advice=False)
    yield from findings(study, table)


def read_rows(
    options: argparse.Namespace, table: Table, rules: str = ""
) -> tuple[Prepared, TestRows | None]:
    """Training rows, and test rows where they are asked for."""
    if options.split is not None:
        wanted = preparation(table, options, use_unlabelled=True)
        outcome = first_outcome(rules)
        parts = split(table, wanted, options.split, options.seed, outcome=outcome)
        return parts.train, parts.test
    prepared = prepared_from(table, options, rules, use_unlabelled=True)
    if options.test is None:
        return prepared, None
    test = read_data(options.test, stated=later_format(prepared.table.reading.later, options))
    return prepared, match_test(prepared, facing(test, prepared.feature_names))


def read_unlabelled(path: str | None, train: Prepared) -> TestRows | None:
    """Further rows without a label, where a file of them is given."""
    if path is None:
        return None
    table = read_data(path, stated=train.table.reading.later)
    return match_unlabelled(train, facing(table, train.feature_names))


def build(
    options: argparse.Namespace, rules: RuleSet | str, blocks: dict[str, IntArray]
) -> HIPADClassifier:
    """The classifier that the options describe."""
    clf = HIPADClassifier(rules, blocks=blocks)
    names = set(clf.get_params()) - {"rules", "blocks"}
    given: dict[str, Any] = {key: value for key, value in vars(options).items() if key in names}
    if given.get("class_weight") == "none":
        given["class_weight"] = None
    return clf.set_params(**given)


def fitted(clf: HIPADClassifier, train: Prepared, more: TestRows | None = None) -> HIPADClassifier:
    """Fit with a bar; Ctrl-C keeps the model so far. `more` are further rows without a label."""
    X, y = learning_rows(train.X, train.y, train.unlabelled, None if more is None else more.X)
    groups = learning_groups(train, len(y))
    gaps = learning_gaps(train, more)
    watch = clf.fit_iter(X, y, groups=groups, feature_names=train.feature_names, gaps=gaps)
    with Bar() as bar, stopping(watch):
        for record in watch:
            if isinstance(watch, ClassRuns):
                bar.progress(record, f"class {watch.label}: ")
            else:
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


def report(clf: HIPADClassifier, train: Prepared, test: TestRows | None) -> str:
    """Features, certificate, answers and rules in a few lines."""
    lines = [
        f"features: {clf.support_.size:,} of {clf.n_features_in_:,} kept at lambda1 "
        f"{clf.lambda1_:.4g}",
    ]
    if few := few_features_sentence(clf.path_):
        lines.append(f"few features: {few}")
    lines.append(f"solver: {clf.solver_}")
    lines.append(f"certificate: {clf.certificate_}")
    if clf.certificate_.message:
        lines.append(f"note: {clf.certificate_.message}")
    model = PositiveClassView(clf, train.classes)
    own = None if train.groups is None else train.groups[: len(train.y)]
    lines.append(str(model.judge(train.X, train.y, part="training", groups=own)))
    if test is not None and test.y is not None and len(test.y):
        lines.append(str(model.judge(test.X, test.y, part="test", groups=test.groups)))
    lines += [*map(str, clf.rule_report_), *map(str, clf.knowledge_report_)]
    if candidates := averaged_candidates(clf):
        lines += ["averaged, by how well each predicts rows that it did not see:"]
        lines += [f"  {candidate}" for candidate in candidates]
    return "\n".join(lines)
