"""What the commands that run experiments share: who works, where results go, progress."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from joblib import cpu_count

from hipad.cli.inputs import (
    add_rule_options,
    add_table_options,
    blocks_of,
    prepared_table,
    read_text,
    role_lines,
)
from hipad.cli.talking.bar import Bar
from hipad.data.writing import write_text
from hipad.errors import DataError
from hipad.experiments.handouts.handout import (
    Section,
    failure_sections,
    fits_csv,
    page,
    plain_table,
)
from hipad.experiments.ledger import Ledger
from hipad.experiments.material import Material, rules_for
from hipad.experiments.pace import Pace
from hipad.experiments.task import Done, Task
from hipad.experiments.workers import perform
from hipad.rules import ColumnValues, FeatureIndex


def add_material_options(parser: argparse.ArgumentParser, *, needs_rules: bool) -> None:
    """The table, and the rules on it."""
    parser.add_argument("data", metavar="DATA", help="a table, as for fit")
    add_table_options(parser)
    without = "" if needs_rules else " (default: no rules)"
    parser.add_argument(
        "--rules", metavar="FILE", required=needs_rules, help=f"one rule per line{without}"
    )
    add_rule_options(parser)


def add_work_options(parser: argparse.ArgumentParser) -> None:
    """Workers, results, handouts."""
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


def material_of(options: argparse.Namespace) -> Material:
    """The table, rules and blocks that the command line names."""
    text = read_text(options.rules) if options.rules else ""
    ready = prepared_table(options.data, options, text)
    for line in (*role_lines(ready.table, ready.options), ready.positive_line):
        print(line, file=sys.stderr)
    index = FeatureIndex(ready.feature_names)
    blocks = blocks_of(options.blocks, index, ready.table)
    y = np.where(np.asarray(ready.y).astype(str) == ready.classes[1], 1.0, -1.0)
    return Material(
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
    tasks: Sequence[Task], materials: Mapping[str, Material], options: argparse.Namespace
) -> list[Done]:
    """Do the tasks with a bar; what fails is told on stderr, and by `hand_out`."""
    workers = cpu_count() if options.workers is None else options.workers
    if workers < 1:
        raise DataError(f"expected --workers of 1 or more, got {workers}")
    ledger = Ledger(Path(options.results) if options.results else None)
    there = set(ledger.found)
    pace, found = Pace(len(tasks)), []
    with Bar() as bar:
        bar.show(str(pace), 0.0, always=True)
        work = {"workers": workers, "scheduler": options.scheduler}
        try:
            for done in perform(tasks, materials, ledger, **work):
                found.append(done)
                pace.add(again=done.key in there, failed=done.failed)
                bar.show(str(pace), pace.share)
        except KeyboardInterrupt:
            print(interrupted(len(found), len(tasks), options.results), file=sys.stderr)
            raise
    for done in found:
        if done.failed:
            told = f"{done.task.data}, seed {done.task.seed}, {dict(done.task.settings)}"
            print(f"failed: {told}: {done.error}", file=sys.stderr)
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
