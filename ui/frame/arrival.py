"""Data on their way to a session: every page waits for them, so that none shows older ones."""

from __future__ import annotations

from typing import Final

import streamlit as st

from ui.attempts import attempt
from ui.data.loading import Loading
from ui.state import AppState
from ui.turns import TURNS
from ui.words import plain

LOOK: Final = (0.1, 0.5)  # seconds between two looks, at first and later


def show(state: AppState, here: str) -> None:
    """Wait for the newest load and take it; whoever asked for a run on the Data page sees it.

    Looking in again and again lets a newer click, or the way to another page, end this wait at
    once; the load itself goes on.
    """
    loading = state.loading
    if loading is None:
        return
    with st.spinner(f"Loading {plain(loading.name)}"):
        pulse = st.empty()
        pause, longest = LOOK
        while not _arrived(loading, pause):
            pause = min(1.2 * pause, longest)
            pulse.empty()
    done = attempt(state, lambda: state.take(loading))
    pulse.empty()  # a run of the script that was ended meanwhile goes no further
    if done and loading.runs and here == "Data":
        st.switch_page("pages/run.py")
    if state.error and here != "Data":
        st.error(plain(state.error, 600), icon=":material/error:")


def _arrived(loading: Loading, seconds: float) -> bool:
    """Wait a moment for data; others are drawn meanwhile."""
    with TURNS.resting():
        return loading.wait(seconds)
