"""The paper, repeated: which fits each of its parts needs, and the sections that tell of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
DATA = "HIPAD_BENCHMARK_DATA"  # a folder with the real data sets, where none is named


@dataclass(frozen=True)
class RepeatPlan:
    """The data, the lines of both tables, and every fit that they need."""

    materials: Mapping[str, Material]
    real: Sequence[Entry]
    synthetic: Sequence[Entry]
    tasks: Sequence[Task]


def gather(parts: Sequence[str], folder: str | None, seeds: int | None) -> RepeatPlan:
    """What some parts of the paper need; the folder holds the real data of table 1."""
    materials: dict[str, Material] = {}
    real: list[Entry] = []
    tasks: list[Task] = []
    if "table1" in parts:
        materials |= real_material(data_folder(folder))
        real = _drawn(available(TABLE1, materials), seeds)
        tasks += table_tasks(real)
    synthetic = [entry for entry in TABLE2 if "table2" in parts or entry.name in parts]
    if synthetic:
        materials |= synthetic_material()
        synthetic = _drawn(synthetic, seeds)
        tasks += table_tasks(synthetic, KSVM_OPTIONS)
    if "figure1" in parts:
        materials[FIGURE] = FewRows()
        tasks += figure_tasks()
    return RepeatPlan(materials, real, synthetic, tasks)


def _drawn(entries: Sequence[Entry], seeds: int | None) -> list[Entry]:
    """The same lines with other numbers of draws; a data set with one split has one."""
    if seeds is None:
        return list(entries)
    return [replace(e, draws=seeds if e.rows or e in TABLE2 else e.draws) for e in entries]


def told(found: Sequence[Done], plan: RepeatPlan) -> list[Section]:
    """A section for each part that was run."""
    sections = []
    if plan.real:
        sections.append(paper_section("Table 1: real data", table_lines(plan.real, found)))
    if plan.synthetic:
        title = "Table 2: rules on synthetic data"
        sections.append(paper_section(title, table_lines(plan.synthetic, found)))
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
