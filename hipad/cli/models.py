"""Fit a classifier, save it, ask a saved one for answers, and write it for other programs."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import numpy as np

from hipad.cli.check import (
    CheckedTable,
    WrittenRules,
    answer_columns,
    as_seen,
    class_lines,
    classes_of,
    findings,
    judged,
    labels_of_test,
    read_rule_file,
    refuse,
    studied,
    two_classes,
    with_all_labels,
    written,
)
from hipad.cli.column_files import (
    add_column_options,
    columns_to_predict,
    is_column_file,
    is_column_file_to_predict,
    run_column_fit,
)
from hipad.cli.inputs import (
    Bar,
    add_format_options,
    add_old_names,
    add_rule_options,
    add_table_options,
    blocks_of,
    check_output,
    later_format,
    model_format,
    origin_of,
    preparation,
    prepared_from,
    prepared_table,
    read_data,
    read_described,
    role_lines,
)
from hipad.cli.main import INTERRUPTED, REFUSED, sentence
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
    to_csv,
)
from hipad.data.roles import CERTAIN, labels_of, later_row_ids, row_groups
from hipad.data.table import STDOUT, write_bytes, write_text
from hipad.estimator.base import ClassRuns
from hipad.estimator.calibration import check_prevalence
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.fit import FitRun
from hipad.estimator.model_io import (
    Opening,
    Origin,
    TableFile,
    model_schema,
    read_model,
    save_model,
)
from hipad.estimator.parameters import CHOICES
from hipad.evaluation.active_learning import LabelSuggestion, label_next
from hipad.evaluation.comparison import averaged_candidates
from hipad.evaluation.cross_validation import SealedTest, data_digest
from hipad.evaluation.curves import training_rows
from hipad.evaluation.metrics import PositiveClassView, classes_line, few_features_sentence, judge
from hipad.exceptions import DataError, HipadError, RuleError
from hipad.export import EXPORTS, export_model
from hipad.rules import FeatureIndex, RuleSet
from hipad.rules.compiled_rule import first_outcome
from hipad.solvers import Status
from hipad.utils import IntArray, count, number

# --------------------------------------------------------------------------------------------------
# Fit a classifier to a table and rules, and save it.
#
# Of three classes or more all are told apart, unless `--positive` names one to tell from the rest.
#
# Ctrl-C stops the fit and keeps the model so far; its certificate says that it was stopped, and so
# does the exit code.


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
    """Add options: data, rules, where to save, and the classifier's parameters."""
    parser.add_argument(
        "data",
        metavar="DATA",
        help=f"a table ({', '.join(FORMATS)}), or a file that is read by columns (PLINK .bed, a "
        "column store, .npy, Zarr)",
    )
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
        "--open-test",
        metavar="REASON",
        help="judge the model by the test rows, and say why now: each opening is counted and kept "
        "with the model (default: they stay sealed; figures are of training rows held out)",
    )
    parser.add_argument(
        "--unlabelled",
        metavar="FILE",
        help="a table of further rows without a label, used for what the rules say and never for "
        "judging (default: none; rows of DATA without a label are used in any case)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the split (default: 0)")
    add_column_options(parser)
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
    """Return a number where it is one; the classifier knows which words it takes."""
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
    if is_column_file(options.data, options):
        found = run_column_fit(options, words)
        return REFUSED if found is None else end_of_fit(options, found, words)
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
    seal = seal_of(options, test)
    origin = Origin(
        train.options.label,
        train.classes,
        train.recipe,
        train.decided_by,
        train.group,
        train.table.reading.later,
        table_file(options, train),
        *kept(seal),
    )
    save_model(clf, Path(options.model), origin=origin)
    print(report(clf, train, test if options.open_test else None), file=words)
    if seal is not None:
        print(sealed_line(seal, options.open_test), file=words)
    for line in odd(clf, table, said) if said.compiled else ():
        print(line, file=words)
    return end_of_fit(options, clf, words)


def table_file(options: argparse.Namespace, train: Prepared) -> TableFile:
    """Return what later commands need to find the same training rows again."""
    name, digest = Path(options.data).name, train.table.sha256
    return TableFile(name, digest, train.options, options.split, options.seed)


def fit_all(
    options: argparse.Namespace, table: Table, classes: tuple[str, ...], text: str, words: TextIO
) -> int:
    """Return the same for three classes or more, all of them told apart."""
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
    seal = seal_of(options, test)
    digest, openings = kept(seal)
    origin = Origin(
        train.options.label,
        classes,
        train.recipe,
        group=train.group,
        file_format=train.table.reading.later,
        file=table_file(options, train),
        test_digest=digest,
        openings=openings,
    )
    save_model(clf, Path(options.model), origin=origin)
    lines = [*class_lines(clf), judged(clf, train.X, train.y, "training")]
    if seal is not None:
        lines.append(sealed_line(seal, options.open_test))
    if options.open_test and test is not None and test.y is not None:
        source = table if options.test is None else read_data(options.test)
        truth = labels_of_test(test, source, train.options.label, classes)
        lines.append(judged(clf, test.X, truth, "test"))
    lines += [*map(str, clf.rule_report_), *map(str, clf.knowledge_report_)]
    print("\n".join(lines), file=words)
    return end_of_fit(options, clf, words)


def seal_of(options: argparse.Namespace, test: TestRows | None) -> SealedTest | None:
    """Return the record of the test rows, with the openings of the model that is replaced."""
    if test is None or test.y is None or not len(test.y):
        return None
    seal = SealedTest(data_digest(test.X, test.y))
    path = Path(options.model)
    if options.model not in STDOUT and path.exists():
        with suppress(HipadError):
            before = read_model(path).origin
            if before is not None and before.test_digest == seal.digest:
                seal = replace(seal, openings=before.openings)
    if options.open_test is None:
        return seal
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return seal.opened(options.open_test, len(seal.openings), now)


def kept(seal: SealedTest | None) -> tuple[str, tuple[Opening, ...]]:
    """Return what a model's file keeps of it."""
    return ("", ()) if seal is None else (seal.digest, seal.openings)


def sealed_line(seal: SealedTest, reason: str | None) -> str:
    """Say whether the test rows judged the model, and how often they were looked at."""
    if reason is None:
        return f'test: {seal.words}; --open-test "the rules are final" judges by these rows'
    return f"test set: {seal.words}"


def end_of_fit(options: argparse.Namespace, clf: HIPADClassifier, words: TextIO) -> int:
    """Say where the model is, and whether the fit came to its end; the exit code."""
    print(f"saved: {options.model}", file=words)
    if clf.certificate_.status is Status.STOPPED:
        print("stopped: the saved model is what the fit had reached", file=sys.stderr)
        return INTERRUPTED
    return 0


def odd(clf: HIPADClassifier, table: CheckedTable, said: WrittenRules) -> Iterator[str]:
    """Yield what is odd about the rules, with the strength they had in the fit."""
    table = replace(table, model=clf)
    study = studied(said, table, as_seen(table), float(clf.lambda1_), advice=False)
    yield from findings(study, table)


def read_rows(
    options: argparse.Namespace, table: Table, rules: str = ""
) -> tuple[Prepared, TestRows | None]:
    """Return training rows, and test rows where they are asked for."""
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
    """Return further rows without a label, where a file of them is given."""
    if path is None:
        return None
    table = read_data(path, stated=train.table.reading.later)
    return match_unlabelled(train, facing(table, train.feature_names))


def build(
    options: argparse.Namespace, rules: RuleSet | str, blocks: dict[str, IntArray]
) -> HIPADClassifier:
    """Return the classifier that the options describe."""
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
    with suppress(DataError):  # too few rows of a class
        held = training_rows(clf, sign=model.sign)
        truth = np.where(held.positive, train.classes[1], train.classes[0])
        fresh = judge(held.scores, truth, train.classes, part="held out", groups=held.groups)
        lines.append(f"{fresh} (training rows, by models that have not seen them)")
    if test is not None and test.y is not None and len(test.y):
        lines.append(str(model.judge(test.X, test.y, part="test", groups=test.groups)))
    lines += [*map(str, clf.rule_report_), *map(str, clf.knowledge_report_)]
    if candidates := averaged_candidates(clf):
        lines += ["averaged, by how well each predicts rows that it did not see:"]
        lines += [f"  {candidate}" for candidate in candidates]
    return "\n".join(lines)


# --------------------------------------------------------------------------------------------------
# Answers of a saved model for the rows of a table, as CSV.
#
# One line per row: its number in the table, the class, the score, which is above zero for the
# positive class, and the risk, which is the probability of that class. A model of several classes
# gives score and risk of each, and the class is the one of the largest score. A model with a risk
# threshold answers with the positive class from that risk on, and the heading of the column says
# so. Risks are at the prevalence of the training patients, or at `--prevalence`. Where the table
# has the label column, stderr tells how many answers are right.


def add_predict_options(parser: argparse.ArgumentParser) -> None:
    """Add options: model, table, where to write."""
    parser.add_argument("model", metavar="MODEL", help="a model that `fit` saved")
    parser.add_argument("data", metavar="DATA", help=f"a table: {', '.join(FORMATS)}")
    parser.add_argument(
        "--prevalence",
        metavar="SHARE",
        type=float,
        help="share of the positive class where the rows come from; moves the risks, and answers "
        "of a model with a risk threshold",
    )
    add_format_options(parser)
    parser.add_argument("--out", metavar="CSV", help="where to write; without it to stdout")


def run_predict(options: argparse.Namespace) -> int:
    """Answers of a saved model for the rows of a table, as CSV.

    One line per row: its number in the table, the class, the score, which is above zero for the
    positive class, and the risk, which is the probability of that class. A model of several
    classes gives score and risk of each, and the class is the one of the largest score. A model
    with a risk threshold answers with the positive class from that risk on, and the heading of
    the column says so. Risks are at the prevalence of the training patients, or at
    `--prevalence`. Where the table has the label column, stderr tells how many answers are right.
    """
    check_prevalence(options.prevalence)
    if options.out:
        check_output(options.out, [options.model, options.data])
    stored = read_model(options.model)
    origin = origin_of(stored)
    if is_column_file_to_predict(options.data):
        X, table = columns_to_predict(options.data, stored, origin)
        rows = np.arange(table.n_rows)
    else:
        table = read_data(options.data, stated=model_format(origin, options))
        table = facing(table, origin.recipe.number_names)
        X, rows = origin.recipe.matrix(table, np.arange(table.n_rows))
    if not len(rows):
        print("note: no row is without gaps, so there are no answers", file=sys.stderr)
    features = {*origin.recipe.number_names, *origin.recipe.levels}
    ids, _ = later_row_ids(table, label=origin.label, group=origin.group, features=features)
    columns: dict[str, list[Any]] = {"patient": [ids[i] for i in rows]} if ids else {}
    columns["row"] = (rows + 1).tolist()
    if len(origin.classes) > 2:
        found = all_answers(stored.classifier, X, origin, options.prevalence)
    else:
        found = answers(
            PositiveClassView(stored.classifier, two_classes(origin)), X, options.prevalence
        )
    text = to_csv({**columns, **found})
    if options.out:
        write_text(Path(options.out), text, not_over=[Path(options.model), Path(options.data)])
        print(f"saved: {options.out}, {len(rows):,} of {table.n_rows:,} rows", file=sys.stderr)
    else:
        sys.stdout.write(text)
    print_accuracy(table, origin, rows, found)
    return 0


def answers(model: PositiveClassView, X: Any, prevalence: float | None) -> dict[str, list[Any]]:
    """Return for each row its class, and the score and risk of the positive one."""
    scores = model.scores(X) if X.shape[0] else np.zeros(0)
    positive = model.classes[1]
    named, threshold = "class", model.threshold
    if threshold is not None:
        named = f"answer ({positive} from risk {number(100 * threshold, 3)} % on)"
    columns: dict[str, list[Any]] = {
        named: [model.classes[int(said)] for said in model.answers(scores, prevalence)],
        f"score of {positive}": scores.tolist(),
    }
    if model.classifier.risk_source_.known:
        columns[f"risk of {positive}"] = model.risks(scores, prevalence).tolist()
    else:
        print("note: the model was saved without risks: fit it again to get them", file=sys.stderr)
    return columns


def all_answers(
    clf: HIPADClassifier, X: Any, origin: Origin, prevalence: float | None
) -> dict[str, list[Any]]:
    """Return for each row its class, and the score and risk of all of several classes."""
    if prevalence is not None:
        raise DataError(
            f"expected no --prevalence for a model of {len(origin.classes)} classes, got "
            f"{prevalence}: leave it out; it is the share of one positive class"
        )
    if not X.shape[0]:
        return {"class": []}
    return answer_columns(clf, X, origin.classes)


def print_accuracy(
    table: Table, origin: Origin, rows: np.ndarray, found: dict[str, list[Any]]
) -> None:
    """Compare with the labels where the table has them."""
    if origin.label not in table.names:
        return
    truth = labels_of(table, origin.label, origin.classes)[rows]
    known = truth != ""
    if not known.any():
        return
    if len(origin.classes) > 2:
        said = np.array(found["class"])[known]
        print(classes_line(said, truth[known], origin.classes, part="labels"), file=sys.stderr)
        return
    classes = two_classes(origin)
    scores = np.array(found[f"score of {classes[1]}"])[known]
    has_group = bool(origin.group) and origin.group in table.names
    groups = row_groups(table, origin.group)[rows][known] if has_group else None
    said = np.array(next(iter(found.values())))[known] == classes[1]  # the first column
    judged = judge(scores, truth[known], classes, part="labels", groups=groups, answers=said)
    print(judged, file=sys.stderr)


# --------------------------------------------------------------------------------------------------
# hipad next


def add_next_options(parser: argparse.ArgumentParser) -> None:
    """Add options: a model or a table to fit, and how many rows to list."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help="a model that `fit` saved")
    parser.add_argument(
        "--data", metavar="TABLE", required=True, help=f"a table: {', '.join(FORMATS)}"
    )
    parser.add_argument("--count", type=int, default=10, help="rows to list (default: 10)")
    parser.add_argument("--out", metavar="CSV", help="where to write; without it to stdout")
    parser.add_argument(
        "--unlabelled", metavar="FILE", help="a table of further rows without a label"
    )
    add_table_options(parser)
    parser.add_argument("--rules", metavar="FILE", help="one rule per line (default: none)")
    add_rule_options(parser)
    add_parameters(parser)


def run_next(options: argparse.Namespace) -> int:
    """Which patients to label next: the rows without a label that would tell most, as CSV.

        hipad next --data TABLE --label COLUMN --rules FILE     # fits the rows that have a label
        hipad next MODEL --data TABLE                           # by a model that `fit` saved

    Without MODEL the rows of TABLE that have a label are fitted, and the others are listed; so
    are those of `--unlabelled`. A saved model does not know the candidates that it averages: then
    nearness to the border alone decides. Of a table with a label column the rows without a label
    are listed.
    """
    if options.out:
        read = [options.model, options.data, options.unlabelled, options.rules, options.blocks]
        check_output(options.out, read)
    if options.model is not None:
        return by_model(options)
    text = read_rule_file(options.rules) if options.rules else ""
    train = prepared_table(options.data, options, text, use_unlabelled=True)
    more = read_unlabelled(options.unlabelled, train)
    X, names = unlabelled_of(train, more, options.unlabelled)
    if not len(names):
        raise DataError(
            "expected rows without a label, got none: leave the label of some rows empty, or give "
            "--unlabelled FILE"
        )
    table = CheckedTable.of(train)
    blocks = blocks_of(options.blocks, table.index, train.table)
    said = written(text, table, blocks, chosen=train.decided_by in CERTAIN)
    if said.first.errors:
        return refuse(options.rules, said, train.roles)
    clf = fitted(build(options, said.rules, blocks), train, more)
    write(options, label_next(clf, X, options.count), names, PositiveClassView(clf, train.classes))
    return 0


def by_model(options: argparse.Namespace) -> int:
    """Return the rows of a table by a saved model."""
    stored = read_model(options.model)
    origin = origin_of(stored)
    classes = two_classes(origin)
    table = read_data(options.data, stated=model_format(origin, options))
    table = facing(table, origin.recipe.number_names)
    rows = np.arange(table.n_rows)
    if origin.label in table.names:
        rows = rows[labels_of(table, origin.label, classes) == ""]
        if not len(rows):
            raise DataError(
                f"expected rows without a label in {origin.label!r}, got none: leave some empty, "
                "or take the column away to rank all rows"
            )
    X, rows = origin.recipe.matrix(table, rows)
    found = label_next(stored.classifier, X, options.count)
    write(options, found, called(table, rows), PositiveClassView(stored.classifier, classes))
    return 0


def unlabelled_of(
    train: Prepared, more: TestRows | None, path: str | None
) -> tuple[Any, list[tuple[str, int, str]]]:
    """Return the rows without a label of both tables, each by ID, number of its row, and file."""
    names = called(train.table, train.unlabelled_rows)
    if more is not None and path is not None:
        file = Path(path).name
        names += [("", int(row) + 1, file) for row in more.rows]
    parts = [part for part in (train.unlabelled, None if more is None else more.X)
             if part is not None]  # fmt: skip
    if not parts:
        return train.X[:0], names
    first, *others = parts
    return learning_rows(first, np.empty(0, dtype=object), *others)[0], names


def called(table: Table, rows: Any) -> list[tuple[str, int, str]]:
    """Return rows by their ID, where the table has them, and their number."""
    ids = table.row_ids
    return [(ids[i] if ids else "", i + 1, "") for i in rows.tolist()]


def write(
    options: argparse.Namespace,
    found: list[LabelSuggestion],
    names: list[tuple[str, int, str]],
    model: PositiveClassView,
) -> None:
    """The list as CSV, the first to label first."""
    listed_names = [names[one.row] for one in found]
    columns: dict[str, list[Any]] = {}
    if any(name for name, _, _ in listed_names):
        columns["patient"] = [name for name, _, _ in listed_names]
    columns["row"] = [row for _, row, _ in listed_names]
    if any(file for _, _, file in listed_names):
        columns["file"] = [file for _, _, file in listed_names]
    columns["doubt"] = [round(one.score, 4) for one in found]
    columns[f"score of {model.classes[1]}"] = [
        round(model.sign * one.decision_value, 6) for one in found
    ]
    columns["reason"] = [one.reason for one in found]
    text = to_csv(columns)
    if options.out:
        write_text(Path(options.out), text, not_over=[Path(options.data)])
        print(f"saved: {options.out}, {len(found):,} of {len(names):,} rows", file=sys.stderr)
    else:
        sys.stdout.write(text)


# --------------------------------------------------------------------------------------------------
# A saved model in a form that other programs run.


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """Add options: model, form, where to write."""
    parser.add_argument("model", metavar="MODEL", help="a model that `fit` saved")
    forms = "; ".join(f"{name}: {form.words}" for name, form in EXPORTS.items())
    parser.add_argument("--to", metavar="FORM", choices=tuple(EXPORTS), required=True, help=forms)
    parser.add_argument(
        "--prevalence",
        metavar="SHARE",
        type=float,
        help="share of the positive class where the model will be used; moves the risks only",
    )
    parser.add_argument("--out", metavar="FILE", help="where to write (default: beside the model)")


def run_export(options: argparse.Namespace) -> int:
    """Write a saved model as SQL, spreadsheet, PMML, ONNX or model card.

    All forms give the same risks as `predict`. They read the raw columns of the table that the
    model was fitted to, and fill gaps as in training.
    """
    check_prevalence(options.prevalence)
    source = Path(options.model)
    target = Path(options.out) if options.out else source.with_suffix(EXPORTS[options.to].ending)
    check_output(str(target), [options.model])
    found = export_model(read_model(source), options.to, prevalence=options.prevalence)
    content = found.encode("utf-8") if isinstance(found, str) else found
    write_bytes(target, content, not_over=[source])
    print(f"saved: {target}", file=sys.stderr)
    return 0


# --------------------------------------------------------------------------------------------------
# `hipad schema`: the JSON Schema of model files.


def add_schema_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the schema is that of the files which this version writes."""


def run_schema(options: argparse.Namespace) -> int:
    """The JSON Schema (draft 2020-12) of the model files that `hipad fit --save` writes."""
    print(json.dumps(model_schema(), indent=1))
    return 0
