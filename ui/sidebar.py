"""The sidebar: what is loaded, what is running, and the session as a file."""

from __future__ import annotations

import streamlit as st

from hipad.utils import count
from ui.data import uploading
from ui.exports import rules_file
from ui.jobs import Job
from ui.looking import keep_looking
from ui.models import TrainedModel
from ui.session import offering, refitting_line
from ui.session.reopening import reopen
from ui.session.saving import LARGEST, session_of
from ui.state import AppState, app_state
from ui.words import plain


def show(*, watch: bool) -> None:
    """Draw it; `watch` is False on the page that looks at the job itself."""
    state = app_state()
    with st.sidebar:
        _data(state)
        if watch:
            _job(state)
        refitting_line.show(state)
        with st.expander("Session", icon=":material/save:"):
            _session(state)


def _data(state: AppState) -> None:
    if state.data is None:
        st.caption("No data loaded")
        return
    features = count(state.data.n_features, "feature")
    st.caption(f"{plain(state.data.name)}: {state.data.whom('train')}, {features}")


def _job(state: AppState) -> None:
    """The state of the job in a line."""
    job = state.job
    if job is not None:
        keep_looking(job, lambda: _job_line(job))


def _job_line(job: Job[TrainedModel]) -> None:
    steps = sum(record.phase > 0 for record in job.history)
    st.caption(f"Run: {job.status}, {count(steps, 'step')}")


def _session(state: AppState) -> None:
    """Work that is kept by itself, and sessions as files."""
    offering.controls(state)
    if state.data is not None:
        st.download_button(
            "Save session",
            lambda: session_of(state).to_json(),
            "session.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
            width="stretch",
            help="Choices, blocks, rules, settings and models in one file. The data are not in it.",
        )
        st.download_button(
            "Share the rules",
            lambda: rules_file(state.rules.text, state.blocks),
            "shared.rules",
            "text/plain",
            icon=":material/share:",
            on_click="ignore",
            width="stretch",
            disabled=not state.rules.text.strip(),
            help="The rules and the blocks they speak of, as text, without patients.",
        )
    uploading.small_file(
        state,
        "Reopen a session",
        key="session_file",
        most_bytes=LARGEST,
        help="A file saved here before. Data of your own must be uploaded again.",
        take=lambda content, _: reopen(state, content),
        then="pages/data.py",
    )
