"""The Workbench page: move a threshold or a worth, and see what it changes against a model."""

from __future__ import annotations

import streamlit as st

from hipad.errors import HipadError
from workbench import charts
from workbench.dataset import Dataset
from workbench.jobs import Status
from workbench.models import Model
from workbench.parts import bench_changes, bench_fitting, bench_models, bench_sliders, keeping
from workbench.parts.empty import need_data
from workbench.state import AppState, app_state
from workbench.words import plain


def first_model(state: AppState) -> None:
    """Without a model there is nothing to compare with: offer to fit one."""
    job = state.job
    if job is not None and job.is_active:
        st.info("The first model is being fitted; this page goes on when it is ready.")
        return
    if job is not None and job.status is Status.FAILED:
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


def compare(state: AppState, data: Dataset, base: Model) -> None:
    """Sliders on the left, what they change on the right."""
    bench_fitting.follow_rules(state)
    left, right = st.columns([1, 2], gap="large")
    with left:
        bench_sliders.show(state, data, base)
    with right:
        other = bench_models.choose_shown(state)
        if other is None and bench_fitting.must_ask(state, base) and not bench_models.refit(state):
            return
        try:
            other = other or bench_fitting.tuned(state, base)
        except HipadError as error:
            st.error(f"These rules cannot be used: {plain(error, 600)}", icon=":material/error:")
            st.page_link("pages/rules.py", label="Mend them", icon=":material/arrow_forward:")
            return
        changes(state, base, other)
    bench_models.kept(state)


def changes(state: AppState, base: Model, other: Model) -> None:
    """Everything that differs between two models."""
    found = bench_fitting.compared(state, base, other)
    bench_changes.figures(found, expert=state.expert)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        keeping.show(state, other, key="bench")
    chart, text = bench_changes.weights(found)
    charts.show(chart, key="bench_blocks", text=text)
    bench_changes.margins(found, bench_fitting.present_rules(state))
    bench_changes.features(found)
    bench_changes.patients(found)


state = app_state()
st.title("Workbench", anchor=False)
if need_data(state):
    assert state.data is not None
    base = bench_fitting.pinned(state)
    if base is None:
        first_model(state)
    else:
        compare(state, state.data, base)
