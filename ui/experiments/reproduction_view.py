"""The paper, repeated: its tables and its figure, beside what it printed."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData
from hipad.experiments.report import RepeatPlan, Section, data_folder, gather, repeat_sections
from hipad.experiments.reproduction import NAME as FIGURE
from hipad.experiments.reproduction import is_folder
from hipad.experiments.runner import Task
from ui import charts
from ui.experiments import experiment_panel
from ui.experiments.experiments_state import Experiment
from ui.state import AppState
from ui.text import plain

NAME: Final = "paper"
PARTS: Final = {
    "figure1": "Figure 1: the choice of features settles early",
    "ksvm-s-10k": "Table 2: ksvm-s, 10,000 features",
    "ksvm-s-50k": "Table 2: ksvm-s, 50,000 features",
    "table1": "Table 1: real data",
}
FIRST: Final = ("figure1", "ksvm-s-10k")
FIRST_SEEDS: Final = 2


def show(state: AppState) -> None:
    """Which parts, then the tables as they fill."""
    st.caption(
        "HIPAD compared with ADMM alone and LIBSVM on the data of the paper, with the published "
        "figures beside ours. All settings are chosen on training data. On the command line: "
        "hipad reproduce all."
    )
    possible = [part for part in PARTS if part != "table1" or _has_data()]
    if len(possible) < len(PARTS):
        st.caption(
            "Table 1 needs real data sets that are not part of the program. Set "
            "HIPAD_BENCHMARK_DATA to a folder with LIBSVM or NPZ files and restart the app."
        )
    parts = st.multiselect(
        "Parts",
        possible,
        list(FIRST),
        format_func=PARTS.__getitem__,
        key="lab_parts",
        help="50,000 features and the real data take minutes.",
    )
    seeds = FIRST_SEEDS
    if state.expert:
        seeds = int(st.number_input("Repeats", 1, 50, FIRST_SEEDS, key="lab_seeds", width=160))
    if not parts:
        return
    plan = functools.cache(lambda: gather(parts, None, seeds))

    def tasks() -> tuple[Sequence[Task], Mapping[str, ExperimentData]]:
        made = plan()
        return made.tasks, made.data_by_name

    experiment_panel.show_experiment(
        state,
        NAME,
        (tuple(parts), seeds),
        tasks,
        draw,
        title="The HIPAD paper, repeated",
        made=plan,
    )


def _has_data() -> bool:
    try:
        return is_folder(data_folder(None))
    except DataError:
        return False


def draw(work: Experiment) -> Sequence[Section]:
    """A table for each part, and the figure."""
    plan: RepeatPlan = work.notes["made"]()
    found = [done for done in list(work.fits.found) if not done.failed]
    sections = repeat_sections(found, plan)
    for section in sections:
        st.subheader(section.title, anchor=False)
        for sentence in section.sentences if work.job.is_final else ():
            st.markdown(plain(sentence, 1_000))
        experiment_panel.section_table(section, plainly=True)
    for done in found:
        if done.task.data == FIGURE:
            own = done.figures
            marks = [("the paper's test", own["paper"]), ("settled", own["settled"])]
            chart, text = experiment_panel.early_chart(
                own["support_sizes"], [*marks, ("the support's test", own["ours"])]
            )
            charts.show(chart, key="lab_early", text=text)
    return sections
