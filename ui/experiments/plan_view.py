"""Plan a study: how many labelled rows a figure needs, with the rules and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go
import streamlit as st

from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData
from hipad.experiments.report import NAMES, Section, plan_section
from hipad.experiments.study_plan import (
    FEWEST_DRAWS,
    FIGURES,
    StudyPlan,
    Target,
    plan_sizes,
    plan_tasks,
    study_plan,
)
from ui import charts
from ui.experiments import experiment_panel
from ui.experiments.experiments_state import Experiment
from ui.state import AppState
from ui.text import plain

NAME: Final = "plan"
FIRST_DRAWS: Final = 6
FIRST_TARGET: Final = 0.8


def show(state: AppState, data: ExperimentData) -> None:
    """What is to be reached, then the plan as its curves grow."""
    assert state.data is not None
    rows = state.data.row_word()
    st.caption(
        f"How many labelled {rows} does a study like this one need? Models learn from more and "
        f"more of your {rows}, with your rules and without, and are tested on the others. The "
        "curve through their figures says with how many the target is reached."
    )
    target = _target()
    draws = FIRST_DRAWS
    if state.expert:
        draws = int(
            st.number_input(
                "Repeats", FEWEST_DRAWS, 200, FIRST_DRAWS, key="lab_draws_plan",
                help="At each size. More repeats make the interval narrower, down to what the "
                f"{rows} of the table allow.", width=160,
            )
        )  # fmt: skip
    sizes, options = plan_sizes(data), experiment_panel.options_of(state)
    experiment_panel.show_experiment(
        state,
        NAME,
        (data.fingerprint, draws, options),
        lambda: (
            plan_tasks(data, draws=draws, sizes=sizes, options=options),
            {data.name: data},
        ),
        lambda work: draw(work, data, target),
        title=f"Labelled {rows} for a study like {data.name}",
    )


def _target() -> Target:
    """The fields of the target; the fits are the same for every one."""
    first, second, third = st.columns(3)
    figure = first.selectbox(
        "Figure",
        list(FIGURES),
        format_func=lambda name: FIGURES[name].words.capitalize(),
        key="lab_plan_figure",
        help="Sensitivity and specificity are those of the answers of the model.",
    )
    value = second.number_input(
        "To reach", 0.51, 0.99, FIRST_TARGET, 0.01, key="lab_plan_value",
        help="What the model should reach on new data.",
    )  # fmt: skip
    margin = third.number_input(
        "Known within ±", 0.01, 0.2, 0.05, 0.01, key="lab_plan_margin",
        help="Half the width of the 95 % interval of the figure.",
    )  # fmt: skip
    return Target(str(figure), round(float(value), 4), round(float(margin), 4))


def draw(work: Experiment, data: ExperimentData, target: Target) -> Sequence[Section]:
    """The answer, the curves with the target, the paragraph."""
    plan = _so_far(work, data, target)
    if plan is None:
        if work.job.is_active:
            st.caption(f"The plan appears after {FEWEST_DRAWS} repeats.")
        return []
    answer, *others = plan.sentences
    st.info(plain(answer, 400), icon=":material/fact_check:")
    for sentence in others:
        st.markdown(plain(sentence, 600))
    chart, text = plan_chart(plan)
    charts.show(chart, key="lab_plan", text=text)
    section = plan_section("Labelled patients", plan)
    experiment_panel.section_table(section)
    if not work.job.is_active:
        with st.expander("Paragraph for the protocol"):
            st.code(plan.paragraph(), language=None, wrap_lines=True)
        st.download_button(
            "Paragraph (text)",
            plan.paragraph,
            "sample_size.txt",
            "text/plain",
            icon=":material/download:",
            key="lab_plan_text",
            on_click="ignore",
            help="The sample size, how it was found, and Riley's criteria, for your protocol.",
        )
    return [section]


def _so_far(work: Experiment, data: ExperimentData, target: Target) -> StudyPlan | None:
    """The plan from the draws that are whole, as soon as there are enough."""
    found = list(work.fits.found)
    key = hash((target, len(found)))
    if key not in work.memo:
        work.memo.clear()
        try:
            work.memo[key] = study_plan(data, found, target)
        except DataError:
            work.memo[key] = None
    kept: StudyPlan | None = work.memo[key]
    return kept


def plan_chart(plan: StudyPlan) -> tuple[go.Figure, str]:
    """The curves with their intervals, and the target as a line."""
    own, words = plan.curves, plan.target.words
    chart = charts.figure("Learning curves", x="labelled (log scale)", y=words)
    low, high = own.interval()
    for k, method in enumerate(own.methods):
        name = NAMES[method]
        half = {"type": "data", "array": high[k] - own.means[k], "thickness": 1}
        half |= {"arrayminus": own.means[k] - low[k], "symmetric": False}
        chart.add_scatter(
            x=list(own.sizes),
            y=list(own.means[k]),
            error_y=half,
            mode="lines+markers",
            name=name,
            line_color=charts.colour(experiment_panel.COLOURS[name]),
        )
    chart.add_hline(plan.target.value, line_dash="dash", line_color=charts.rest_colour())
    chart.update_xaxes(type="log", tickvals=list(own.sizes), ticktext=[f"{n:,}" for n in own.sizes])
    return chart, f"{words.capitalize()} by labelled rows. {' '.join(plan.sentences)}"
