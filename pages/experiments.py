"""The Experiments page: the worth of rules, wrong rules, a plan, tuning, the paper repeated."""

from __future__ import annotations

import streamlit as st

from hipad.exceptions import HipadError
from ui import tour
from ui.experiments import (
    comparison_view,
    experiment_panel,
    learning_curve_view,
    plan_view,
    reproduction_view,
    sensitivity_view,
    tuning_view,
)
from ui.experiments.experiments_state import COMPARE, EXPERIMENT_PARTS, PAPER, PLAN, TUNE, WORTH
from ui.page_frame import need_data, need_rules
from ui.state import AppState, app_state
from ui.text import plain


def show(state: AppState, part: str) -> None:
    """The experiment that was chosen."""
    if part == PAPER:
        reproduction_view.show(state)
        return
    if not need_data(state):
        return
    if part == TUNE:
        tuning_view.show(state)
    elif part == COMPARE:
        comparison_view.show(state)
    elif part == PLAN:
        plan_view.show(state, experiment_panel.everybody(state))
    elif need_rules(state):
        material = experiment_panel.everybody(state)
        if part == WORTH:
            learning_curve_view.show(state, material, begins=tour.at() == tour.WORTH)
        else:
            sensitivity_view.show(state, material)


state = app_state()
st.title("Experiments", anchor=False)
state.lab.part = str(
    st.segmented_control(
        "Experiment",
        EXPERIMENT_PARTS,
        default=state.lab.part,
        required=True,
        key=f"lab_part_{state.lab.rule_turn}",
        label_visibility="collapsed",
        help="Each experiment fits many models. You can stop it and continue later.",
    )
)
if state.data is not None or state.lab.part == PAPER:
    experiment_panel.show_workers_panel(state)
try:
    show(state, state.lab.part)
except HipadError as error:
    st.error(plain(error, 600), icon=":material/error:")
