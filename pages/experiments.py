"""The Experiments page: what rules are worth, what wrong ones do, tuning, the paper repeated."""

from __future__ import annotations

import streamlit as st

from hipad.exceptions import HipadError
from ui.experiments import crew, doubting, drawn_from, learning, repeating, trying
from ui.experiments.lab import LAB_PARTS, PAPER, TUNE, WORTH
from ui.needs import need_data, need_rules
from ui.state import AppState, app_state
from ui.words import plain


def show(state: AppState, part: str) -> None:
    """The experiment that was chosen."""
    if part == PAPER:
        repeating.show(state)
        return
    if not need_data(state):
        return
    if part == TUNE:
        trying.show(state)
    elif need_rules(state):
        material = drawn_from.everybody(state)
        (learning if part == WORTH else doubting).show(state, material)


state = app_state()
st.title("Experiments", anchor=False)
state.lab.part = str(
    st.segmented_control(
        "Experiment",
        LAB_PARTS,
        default=state.lab.part,
        required=True,
        key=f"lab_part_{state.lab.rule_turn}",
        label_visibility="collapsed",
        help="Each is a list of fits that you can stop and take up again.",
    )
)
if state.data is not None or state.lab.part == PAPER:
    crew.show(state)
try:
    show(state, state.lab.part)
except HipadError as error:
    st.error(plain(error, 600), icon=":material/error:")
