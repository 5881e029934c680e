"""Repeat the paper: its tables and its figure, beside the figures that it printed.

table1: HIPAD, ADMM and LIBSVM on the real data sets that are there. table2: the same with rules on
ksvm-s, ten draws of each size. figure1: the early convergence of the support. All parameters are
chosen on the training rows. Seconds are processor time of one fit at the chosen parameters.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hipad.cli.experimenting import add_work_options, hand_out, outcomes_of
from hipad.errors import DataError
from hipad.experiments.figure import NAME as FIGURE
from hipad.experiments.figure import FewRows, figure_tasks
from hipad.experiments.handouts.handout import Section
from hipad.experiments.handouts.sections import figure_section, paper_section
from hipad.experiments.material import Material
from hipad.experiments.paper import (
    KSVM_OPTIONS,
    TABLE1,
    TABLE2,
    Entry,
    available,
    real_material,
    synthetic_material,
    table_lines,
    table_tasks,
)
from hipad.experiments.task import Done, Task
from hipad.places import ROOT

PARTS = ("table1", "table2", "figure1")
SYNTHETIC = tuple(entry.name for entry in TABLE2)
DATA = "HIPAD_BENCHMARK_DATA"  # a folder with the real data sets, where --data is not given


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which part of the paper, on which data, how often."""
    parser.add_argument("experiment", choices=(*PARTS, "all", *SYNTHETIC))
    parser.add_argument(
        "--data", metavar="FOLDER", help="data sets of table 1, as NPZ or LIBSVM files"
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="draws (10; fewer of large data)")
    add_work_options(parser)


def run(options: argparse.Namespace) -> int:
    """Fit everything, then print the tables beside the paper's."""
    if options.seeds is not None and options.seeds < 1:
        raise DataError(f"expected --seeds of 1 or more, got {options.seeds}")
    parts = PARTS if options.experiment == "all" else (options.experiment,)
    materials, real, synthetic, tasks = gather(parts, options)
    found = outcomes_of(tasks, materials, options)
    sections = told(found, real, synthetic)
    hand_out("The HIPAD paper, repeated", sections, found, options)
    return 1 if any(done.failed for done in found) else 0


def gather(
    parts: Sequence[str], options: argparse.Namespace
) -> tuple[dict[str, Material], list[Entry], list[Entry], list[Task]]:
    """The data, the lines of both tables, and every fit that they need."""
    materials: dict[str, Material] = {}
    real: list[Entry] = []
    tasks: list[Task] = []
    if "table1" in parts:
        materials |= real_material(data_folder(options.data))
        real = _drawn(available(TABLE1, materials), options.seeds)
        tasks += table_tasks(real)
    synthetic = [entry for entry in TABLE2 if "table2" in parts or entry.name in parts]
    if synthetic:
        materials |= synthetic_material()
        synthetic = _drawn(synthetic, options.seeds)
        tasks += table_tasks(synthetic, KSVM_OPTIONS)
    if "figure1" in parts:
        materials[FIGURE] = FewRows()
        tasks += figure_tasks()
    return materials, real, synthetic, tasks


def _drawn(entries: Sequence[Entry], seeds: int | None) -> list[Entry]:
    """The same lines with other numbers of draws; a data set with one split has one."""
    if seeds is None:
        return list(entries)
    return [replace(e, draws=seeds if e.rows or e in TABLE2 else e.draws) for e in entries]


def told(found: Sequence[Done], real: Sequence[Entry], synthetic: Sequence[Entry]) -> list[Section]:
    """A section for each part that was run."""
    sections = []
    if real:
        sections.append(paper_section("Table 1: real data", table_lines(real, found)))
    if synthetic:
        title = "Table 2: rules on synthetic data"
        sections.append(paper_section(title, table_lines(synthetic, found)))
    early = [done for done in found if done.task.data == FIGURE and not done.failed]
    return sections + [figure_section(done) for done in early]


def data_folder(given: str | None) -> Path:
    """Where real data sets lie: as given, as the environment says, or beside the project."""
    if given or os.environ.get(DATA):
        return Path(given or os.environ[DATA])
    beside = ROOT.parent / "shared" / "data"
    if not beside.is_dir():
        raise DataError(
            "table 1 needs real data sets, which do not come with the program: name a folder "
            f"with LIBSVM or NPZ files by --data FOLDER or by the variable {DATA}"
        )
    return beside
