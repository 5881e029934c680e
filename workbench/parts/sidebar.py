"""The sidebar: what is loaded, what is running, and the session as a file."""

from __future__ import annotations

import streamlit as st

from workbench.state import AppState, app_state
from workbench.words import count, plain

EVERY: float = 0.5  # seconds between two looks at a running job


def show(*, watch: bool) -> None:
    """Draw it; `watch` is False on the page that looks at the job itself."""
    state = app_state()
    with st.sidebar:
        _data(state)
        running = state.job is not None and state.job.is_active
        if watch:
            st.fragment(_job, run_every=EVERY if running else None)()


def _data(state: AppState) -> None:
    if state.data is None:
        st.caption("No data loaded")
        return
    rows, columns = state.data.X_train.shape
    st.caption(f"{plain(state.data.name)}: {count(rows, 'patient')}, {count(columns, 'feature')}")


def _job() -> None:
    """The state of the job in a line; looking at it keeps it alive."""
    state = app_state()
    job = state.job
    if job is None:
        return
    was_active = job.is_active
    job.seen()
    st.caption(f"Run: {job.status}, {count(len(job.history), 'step')}")
    if st.session_state.get("job_was_active", False) and not was_active:
        st.session_state["job_was_active"] = False
        st.rerun()
    st.session_state["job_was_active"] = was_active
