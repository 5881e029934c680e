"""Commands that run experiments: curve, plan, sensitivity, tune and reproduce."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count

from hipad.cli.inputs import (
    Bar,
    add_old_names,
    add_rule_options,
    add_table_options,
    blocks_of,
    prepared_table,
    read_text,
    role_lines,
)
from hipad.data.table import write_text
from hipad.estimator.settings import USUAL_GRID
from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData, rules_for
from hipad.experiments.report import (
    PARTS,
    SYNTHETIC,
    Section,
    curve_section,
    failure_sections,
    fits_csv,
    gather,
    page,
    plain_table,
    plan_section,
    repeat_sections,
    sweep_section,
    tuning_sections,
)
from hipad.experiments.runner import Done, ProgressEstimate, ResultsCache, Task, perform
from hipad.experiments.sensitivity import (
    SIZES,
    PerturbedRule,
    curve_tasks,
    curves,
    strangers_to,
    sweep,
    sweep_tasks,
    threshold_versions,
    worth_of_rules,
    worth_versions,
    wrong_versions,
)
from hipad.experiments.study_plan import (
    DRAWS,
    FEWEST_DRAWS,
    Target,
    plan_sizes,
    plan_tasks,
    study_plan,
)
from hipad.experiments.tuning import SCORES, honest_estimate, tune_tasks, tuned
from hipad.rules import ColumnValues, FeatureIndex, RuleSet, parse_rules
from hipad.utils import listed

# --------------------------------------------------------------------------------------------------
# What the commands that run experiments share: who works, where results go, progress.


def add_data_options(parser: argparse.ArgumentParser, *, needs_rules: bool) -> None:
    """Add options: the table, and the rules on it."""
    parser.add_argument("data", metavar="DATA", help="a table, as for fit")
    add_table_options(parser)
    without = "" if needs_rules else " (default: no rules)"
    parser.add_argument(
        "--rules", metavar="FILE", required=needs_rules, help=f"one rule per line{without}"
    )
    add_rule_options(parser)


def add_work_options(parser: argparse.ArgumentParser) -> None:
    """Add options: workers, results, handouts."""
    own = parser.add_argument_group("work")
    own.add_argument(
        "--workers", type=int, help="processes on this machine (as many as it has cores)"
    )
    own.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler, for example tcp://host:8786"
    )
    own.add_argument(
        "--results", metavar="FILE", help="keep every fit; run again to go on where it stopped"
    )
    own.add_argument("--html", metavar="FILE", help="write a page with tables and pictures")
    own.add_argument("--csv", metavar="FILE", help="write the figures of every fit")


def experiment_data(options: argparse.Namespace) -> ExperimentData:
    """Return the table, rules and blocks that the command line names."""
    text = read_text(options.rules) if options.rules else ""
    ready = prepared_table(options.data, options, text)
    for line in (*role_lines(ready.table, ready.options), ready.positive_line):
        print(line, file=sys.stderr)
    index = FeatureIndex(ready.feature_names)
    blocks = blocks_of(options.blocks, index, ready.table)
    y = np.where(np.asarray(ready.y).astype(str) == ready.classes[1], 1.0, -1.0)
    return ExperimentData(
        Path(options.data).name,
        ready.X,
        y,
        tuple(ready.feature_names),
        blocks,
        rules_for(text, index, blocks, ready.classes, ColumnValues(ready.X, ready.gaps)),
        labels=ready.classes,
        groups=ready.groups,
        gaps=ready.gaps,
    )


def outcomes_of(
    tasks: Sequence[Task], data_by_name: Mapping[str, ExperimentData], options: argparse.Namespace
) -> list[Done]:
    """Do the tasks with a bar; what fails is told on stderr, and by `hand_out`."""
    workers = cpu_count() if options.workers is None else options.workers
    if workers < 1:
        raise DataError(f"expected --workers of 1 or more, got {workers}")
    cache = ResultsCache(Path(options.results) if options.results else None)
    there = set(cache.found)
    pace, found = ProgressEstimate(len(tasks)), []
    with Bar() as bar:
        bar.show(str(pace), 0.0, always=True)
        work = {"workers": workers, "scheduler": options.scheduler}
        try:
            for done in perform(tasks, data_by_name, cache, **work):
                found.append(done)
                pace.add(again=done.key in there, failed=done.failed)
                bar.show(str(pace), pace.share)
        except KeyboardInterrupt:
            print(interrupted(len(found), len(tasks), options.results), file=sys.stderr)
            raise
    for done in found:
        if done.failed:
            text = f"{done.task.data}, seed {done.task.seed}, {dict(done.task.settings)}"
            print(f"failed: {text}: {done.error}", file=sys.stderr)
    return found


def interrupted(done: int, total: int, results: str | None) -> str:
    """Return what is left of an experiment that was stopped."""
    if results:
        return (
            f"{done:,} of {total:,} fits are finished and stay in {results}: run the same command "
            "again to go on"
        )
    return (
        f"{done:,} of {total:,} fits were finished and are lost: with --results FILE they would "
        "have been kept"
    )


def hand_out(
    title: str, sections: Sequence[Section], found: Sequence[Done], options: argparse.Namespace
) -> None:
    """Print the tables; write the page and the CSV where they are asked for."""
    sections = [*failure_sections(found), *sections]
    for section in sections:
        print(section.title)
        if section.rows:
            print(plain_table(section.head, section.rows))
        for sentence in section.sentences:
            print(sentence)
        print()
    if options.html:
        write_text(Path(options.html), page(title, sections))
        print(f"written: {options.html}")
    if options.csv:
        write_text(Path(options.csv), fits_csv(found))
        print(f"written: {options.csv}")


# --------------------------------------------------------------------------------------------------
# hipad curve


def add_curve_options(parser: argparse.ArgumentParser) -> None:
    """Add options: table, rules, sizes, draws."""
    add_data_options(parser, needs_rules=True)
    parser.add_argument("--draws", type=int, default=20, help="draws at each size (20)")
    text = " ".join(map(str, SIZES))
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), help=f"labelled per class ({text})"
    )
    add_work_options(parser)


def run_curve(options: argparse.Namespace) -> int:
    """Learning curves on your own table: with rules, without, the rules alone, and LIBSVM.

    For several numbers of labelled rows, rows are drawn at random, models are fitted to them, and
    all other rows are tested. At the end stands what the rules are worth in labelled patients.
    """
    if options.draws < 2 or min(options.sizes) < 2:
        raise DataError("expected --draws and --sizes of 2 or more: a curve needs several of each")
    data = experiment_data(options)
    sizes = sorted(set(options.sizes))
    tasks = curve_tasks(data, draws=options.draws, sizes=sizes)
    found = outcomes_of(tasks, {data.name: data}, options)
    section = curve_section(f"Learning curves of {data.name}", curves(found), worth_of_rules(found))
    hand_out(section.title, [section], found, options)
    return 0


# --------------------------------------------------------------------------------------------------
# hipad plan


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """Table, rules, target, draws."""
    add_data_options(parser, needs_rules=False)
    parser.add_argument(
        "--target",
        metavar="FIGURE=VALUE",
        required=True,
        help="auroc=0.8, balanced=0.75, sensitivity=0.85 or specificity=0.9; with +-0.05 also how "
        "closely it is to be measured",
    )
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"draws at each size ({DRAWS})")
    parser.add_argument(
        "--sizes", type=int, nargs="+", help="labelled patients (default: up to half of the table)"
    )
    parser.add_argument(
        "--parameters", type=int, help="candidate parameters for Riley's criteria (all columns)"
    )
    parser.add_argument(
        "--fixed",
        type=float,
        metavar="LAMBDA1",
        help="one lambda1 for all fits, which is much faster; without it each is tuned for itself",
    )
    parser.add_argument("--out", metavar="FILE", help="write the paragraph for the protocol")
    add_work_options(parser)


def run_plan(options: argparse.Namespace) -> int:
    """Plan: how many labelled patients a figure needs, with your rules and without.

        hipad plan DATA --label COLUMN --rules FILE --target auroc=0.8
        hipad plan DATA --label COLUMN --rules FILE --target sensitivity=0.85+-0.05

    Models learn from more and more patients of your table and are tested on the others. The curve
    through their figures says with how many patients the target is reached, with a 95 % interval
    over draws and patients; where it lies beyond the curve, that is said. Beside it stand Riley's
    criteria. At the end comes a paragraph for the protocol of the study.
    """
    target = Target.read(options.target)
    if options.draws < FEWEST_DRAWS:
        raise DataError(f"expected --draws of {FEWEST_DRAWS} or more, got {options.draws}")
    if options.parameters is not None and options.parameters < 1:
        raise DataError(f"expected --parameters of 1 or more, got {options.parameters}")
    data = experiment_data(options)
    sizes = sorted(set(options.sizes)) if options.sizes else plan_sizes(data)
    if len(sizes) < 3 or sizes[0] < 4:
        raise DataError("expected three --sizes or more, each of 4 patients or more, for a curve")
    own = {} if options.fixed is None else {"lambda1": options.fixed}
    tasks = plan_tasks(data, draws=options.draws, sizes=sizes, options=own)
    found = outcomes_of(tasks, {data.name: data}, options)
    plan = study_plan(data, found, target, parameters=options.parameters)
    section = plan_section(f"Labelled patients for a study like {data.name}", plan)
    hand_out(section.title, [section], found, options)
    print(plan.paragraph())
    if options.out:
        write_text(Path(options.out), plan.paragraph())
        print(f"written: {options.out}")
    return 0


# --------------------------------------------------------------------------------------------------
# hipad sensitivity


FOLDS = 5


def add_sensitivity_options(parser: argparse.ArgumentParser) -> None:
    """Add options: table, rules, which rule, what to sweep."""
    add_data_options(parser, needs_rules=True)
    parser.add_argument(
        "--rule",
        metavar="N",
        help="the rule's line in its file, 3.2 for the second rule of line 3, or its name "
        "(default: the first rule)",
    )
    parser.add_argument(
        "--condition", type=int, metavar="N", help="whose threshold, where the rule has several"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--thresholds", type=float, nargs="+", metavar="VALUE", help="to try")
    what.add_argument("--worths", type=float, nargs="+", metavar="PATIENTS", help="to try")
    parser.add_argument("--draws", type=int, default=10, help="draws (10)")
    parser.add_argument(
        "--labelled", type=int, metavar="N", help="labelled rows of each class (default: 4 of 5)"
    )
    add_work_options(parser)


def run_sensitivity(options: argparse.Namespace) -> int:
    """What if a rule is wrong: sweep its threshold, worth or outcome, and see when it harms.

        hipad sensitivity DATA --label COLUMN --rules FILE --rule 1 --thresholds 100 126 150

    Every version of the rule is fitted with its weight as it is (learnt where none is written),
    as a certainty, and left out, each tuned for itself, on the same draws. Without values to
    sweep, the rule is tried as written, about features that have nothing to do with it, and with
    the other outcome.
    """
    data = experiment_data(options)
    axis, versions = versions_of(data, options)
    rows = {"labelled": options.labelled} if options.labelled else {"fold": [0, FOLDS]}
    tasks = sweep_tasks(data, versions, draws=options.draws, rows=rows)
    found = outcomes_of(tasks, {data.name: data}, options)
    rules = parse_rules(data.rules)
    title = f"What if {rules.labels[position_of(rules, options.rule)]} of {data.name} is wrong"
    sections = [
        sweep_section(title, axis, sweep(found, versions)),
        sweep_section("Area under ROC", axis, sweep(found, versions, "area"), "area under ROC"),
    ]
    hand_out(title, sections, found, options)
    return 0


def position_of(rules: RuleSet, wanted: str | None) -> int:
    """Return the position of the rule on a line, or of this name."""
    asked = rules.numbers[0] if wanted is None and len(rules) else str(wanted)
    for known in (rules.numbers, [rule.name for rule in rules]):
        if asked in known:
            return known.index(asked)
    shown = listed(list(rules.numbers), "or", limit=12)
    raise DataError(f"expected --rule {shown}, the line of a rule, got {wanted}")


def versions_of(
    data: ExperimentData, options: argparse.Namespace
) -> tuple[str, Sequence[PerturbedRule]]:
    """Return what is swept, and every version of the rules."""
    position = position_of(parse_rules(data.rules), options.rule)
    if options.thresholds:
        place = None if options.condition is None else options.condition - 1
        return "threshold", threshold_versions(data.rules, position, options.thresholds, place)
    if options.worths:
        return "worth in patients", worth_versions(data.rules, position, options.worths)
    negative, positive = map(str, data.labels)
    strangers = strangers_to(data, np.random.default_rng(0))
    own = data.blocks, data.feature_names
    return "advice", wrong_versions(data.rules, position, (negative, positive), strangers, *own)


# --------------------------------------------------------------------------------------------------
# hipad tune


def add_tune_options(parser: argparse.ArgumentParser) -> None:
    """Add options: table, rules, grid, folds."""
    add_data_options(parser, needs_rules=False)
    own = parser.add_argument_group("grid")
    own.add_argument(
        "--count",
        type=int,
        default=USUAL_GRID["lambda1"],
        metavar="N",
        help="values of lambda1 (%(default)s)",
    )
    own.add_argument("--lambda1", type=float, nargs="+", metavar="VALUE", help="or these values")
    own.add_argument(
        "--lambda2", type=float, nargs="+", default=list(USUAL_GRID["lambda2"]), metavar="VALUE"
    )
    own.add_argument("--worth", nargs="+", default=["auto"], metavar="PATIENTS", help="of a rule")
    own.add_argument("--rho", nargs="+", default=["auto"], metavar="VALUE")
    add_old_names(own)
    folds = parser.add_argument_group("folds")
    folds.add_argument("--folds", type=int, default=5, help="stratified folds (5)")
    folds.add_argument("--repeats", type=int, default=1, help="other folds, so many times (1)")
    folds.add_argument("--score", choices=SCORES, default="balanced")
    folds.add_argument("--quick", action="store_true", help="without the honest estimate")
    add_work_options(parser)


def run_tune(options: argparse.Namespace) -> int:
    """Tune: try settings by cross-validation on your own table, with the rules as second criterion.

        hipad tune DATA --label COLUMN --rules FILE --lambda2 0.1 1 10 --worth auto 5 20

    Every combination is judged on each fold in turn. Of the settings that are as good as the
    best, the one is chosen that keeps most rules, and then the one with the fewest features. At
    the end stands an honest estimate: the choice made anew without each fold, and judged on it.
    """
    if options.folds < 2 or options.repeats < 1:
        raise DataError("expected --folds of 2 or more and --repeats of 1 or more")
    data = experiment_data(options)
    grid = {
        "lambda1": options.lambda1 or options.count,
        "lambda2": options.lambda2,
        "rule_weight": amounts("--worth", options.worth),
        "rho": amounts("--rho", options.rho),
    }
    tasks = tune_tasks(
        data,
        grid,
        folds=options.folds,
        repeats=options.repeats,
        honest=not options.quick,
        score=options.score,
    )
    found = outcomes_of(tasks, {data.name: data}, options)
    title, honest = f"Settings for {data.name}", honest_estimate(found, options.score)
    hand_out(title, tuning_sections(title, tuned(found), honest, options.score), found, options)
    return 1 if any(done.failed for done in found) else 0


def amounts(option: str, given: list[str]) -> list[Any]:
    """Return numbers of 0 or more, and the word auto.

    >>> amounts("--worth", ["auto", "5"])
    ['auto', 5.0]
    """
    values: list[Any] = []
    for text in given:
        try:
            values.append("auto" if text == "auto" else float(text))
        except ValueError:
            raise DataError(f"expected numbers or auto for {option}, got {text!r}") from None
        if values[-1] != "auto" and not 0 <= values[-1] < np.inf:
            raise DataError(f"expected 0 or more for {option}, got {text}")
    return values


# --------------------------------------------------------------------------------------------------
# Repeat the paper: its tables and its figure, beside the figures that it printed.
#
# table1: HIPAD, ADMM and LIBSVM on the real data sets that are there. table2: the same with rules
# on ksvm-s, ten draws of each size. figure1: the early convergence of the support. All parameters
# are chosen on the training rows, among models with at most as many features as in the paper.
# Seconds are processor time of one fit at the chosen parameters.


def add_reproduce_options(parser: argparse.ArgumentParser) -> None:
    """Add options: which part of the paper, on which data, how often."""
    parser.add_argument("experiment", choices=(*PARTS, "all", *SYNTHETIC))
    parser.add_argument(
        "--data", metavar="FOLDER", help="data sets of table 1, as NPZ or LIBSVM files"
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="draws (10; fewer of large data)")
    add_work_options(parser)


def run_reproduce(options: argparse.Namespace) -> int:
    """Repeat the paper: its tables and its figure, beside the figures that it printed.

    table1: HIPAD, ADMM and LIBSVM on the real data sets that are there. table2: the same with
    rules on ksvm-s, ten draws of each size. figure1: the early convergence of the support. All
    parameters are chosen on the training rows, among models with at most as many features as in
    the paper. Seconds are processor time of one fit at the chosen parameters.
    """
    if options.seeds is not None and options.seeds < 1:
        raise DataError(f"expected --seeds of 1 or more, got {options.seeds}")
    parts = PARTS if options.experiment == "all" else (options.experiment,)
    plan = gather(parts, options.data, options.seeds)
    found = outcomes_of(plan.tasks, plan.data_by_name, options)
    sections = repeat_sections(found, plan)
    hand_out("The HIPAD paper, repeated", sections, found, options)
    return 1 if any(done.failed for done in found) else 0
