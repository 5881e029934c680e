"""The Workbench page: move a threshold or a worth, and see what it changes against a model."""

from __future__ import annotations

import streamlit as st

from hipad.exceptions import HipadError
from ui import charts
from ui.bench import adding, changes, crosswise, keeping, kept, sliders, tuning
from ui.dataset import Dataset
from ui.jobs import JobStatus
from ui.models import TrainedModel
from ui.page_frame import need_data
from ui.state import AppState, app_state
from ui.text import plain


def first_model(state: AppState) -> None:
    """Without a model there is nothing to compare with: offer to fit one."""
    job = state.job
    if tuning.is_refitting(state):
        st.info("The kept models are being fitted again; this page goes on when they are ready.")
        return
    if job is not None and job.is_active:
        st.info("The first model is being fitted; this page goes on when it is ready.")
        return
    if job is not None and job.status is JobStatus.FAILED:
        st.error(f"The run could not be done: {plain(job.error, 600)}", icon=":material/error:")
    st.info(
        "The workbench compares with a model. Fit one with the rules and settings as they are.",
        icon=":material/tune:",
    )
    if st.button(
        "Fit the first model",
        type="primary",
        icon=":material/play_arrow:",
        key="bench_first",
        help="Runs once; every slider move then refits from it at once.",
    ):
        state.launch()
        st.rerun()


def compare(state: AppState, data: Dataset, base: TrainedModel) -> None:
    """Sliders on the left, what they change on the right."""
    tuning.follow_rules(state)
    left, right = st.columns([1, 2], gap="large")
    with left, st.container(key="bench_sliders"):
        sliders.show(state, data, base)
    with right, st.container(key="bench_changes"):
        other = kept.choose_shown(state)
        if other is None and tuning.must_ask(state, base) and not kept.refit(state):
            return
        try:
            other = other or tuning.tuned(state, base)
        except HipadError as error:
            st.error(f"These rules cannot be used: {plain(error, 600)}", icon=":material/error:")
            st.page_link("pages/rules.py", label="Mend them", icon=":material/arrow_forward:")
            return
        show_changes(state, base, other)
    adding.show(state, base)
    kept.kept(state)


def show_changes(state: AppState, base: TrainedModel, other: TrainedModel) -> None:
    """Everything that differs between two models."""
    found = tuning.compared(state, base, other)
    changes.figures(found, expert=state.expert)
    if found.data.judged.part == "test":
        st.caption(
            "Figures on test patients flatter whoever tunes by them: move sliders by the training "
            "patients, and look at the test patients last."
        )
    crosswise.show(state, base, other)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        keeping.show(state, other, key="bench")
    chart, text = changes.weights(found)
    charts.show(chart, key="bench_blocks", text=text)
    changes.margins(found, tuning.present_rules(state))
    changes.features(found)
    changes.patients(found)


state = app_state()
st.title("Workbench", anchor=False)
if need_data(state):
    assert state.data is not None
    base = tuning.pinned(state)
    if base is None:
        first_model(state)
    else:
        compare(state, state.data, base)
