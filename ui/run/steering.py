"""Run, pause, stop, continue, and how fast."""

from __future__ import annotations

from typing import Final

import streamlit as st

from hipad.wording import count
from ui.jobs import JobStatus
from ui.state import AppState
from ui.words import plain

FULL: Final = "full speed"
SPEEDS: Final = {
    "0.2": 0.2,
    "1": 1.0,
    "2": 2.0,
    "5": 5.0,
    "10": 10.0,
    "20": 20.0,
    "50": 50.0,
    FULL: None,
}


def show(state: AppState) -> None:
    """Draw the buttons and do what they say."""
    job = state.job
    status = job.status if job is not None else None
    active = job is not None and job.is_active
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.button(
            "Run" if job is None else "Run again",
            type="primary",
            icon=":material/play_arrow:",
            disabled=active,
            help="Train with the data, rules and settings as they are now.",
            key="run",
        ):
            state.launch(speed=SPEEDS[state.speed])
            st.rerun()
        _button("Pause", ":material/pause:", status is JobStatus.RUNNING, state, "pause",
                "Hold the run after the present step.")  # fmt: skip
        going_on = status in (JobStatus.PAUSED, JobStatus.STOPPED)
        _button("Continue", ":material/resume:", going_on, state, "go_on",
                "Go on from where the run was.")  # fmt: skip
        _button("Stop", ":material/stop:", active, state, "stop",
                "End the run; the model so far can be looked at, and continued.")  # fmt: skip
        state.speed = st.select_slider(
            "Speed (steps per second)",
            list(SPEEDS),
            value=state.speed,
            key="speed",
            help="Slow motion for a demonstration, or as fast as it goes.",
            width=280,
        )
    if job is not None:
        job.speed = SPEEDS[state.speed]
    _words(state)


def _button(label: str, icon: str, enabled: bool, state: AppState, what: str, text: str) -> None:
    if st.button(label, icon=icon, disabled=not enabled, help=text, key=f"run_{what}"):
        job = state.job
        assert job is not None
        getattr(job, what)()
        job.wait(0.2)
        st.rerun()


def _words(state: AppState) -> None:
    """What will be run, or why the last run ended as it did."""
    job = state.job
    if job is None:
        _ready(state)
    elif job.status is JobStatus.FAILED:
        st.error(f"The run could not be done: {plain(job.error, 600)}", icon=":material/error:")
        st.page_link("pages/rules.py", label="Look at the rules", icon=":material/rule:")
    elif job.status is JobStatus.WAITING:
        st.info("Other runs are under way on this computer. This one starts when a place is free.")
    elif job.status is JobStatus.STOPPED:
        why = f" because {job.reason}" if job.reason else ""
        st.warning(
            f"Stopped before the end{why}. What is shown below is not final; **Continue** goes on.",
            icon=":material/pause_circle:",
        )
    elif state.model is not None and not job.is_active and not state.request().made(state.model):
        st.info(
            "Rules, blocks or settings have changed since this run: **Run again** to see what "
            "they do.",
            icon=":material/update:",
        )


def _ready(state: AppState) -> None:
    asked = state.request()
    rows, columns = asked.data.X_train.shape
    st.info(
        f"Ready: {count(rows, 'patient')} with {count(columns, 'feature')} and "
        f"{count(len(asked.rule_names()), 'rule')} to learn from. Press **Run**.",
        icon=":material/play_arrow:",
    )
