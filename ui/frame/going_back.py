"""The way back to a run and models that other data or other patients have taken the place of."""

from __future__ import annotations

import streamlit as st

from ui.state import AppState
from ui.words import plain


def show(state: AppState) -> None:
    """One line and two buttons while there is something to go back to."""
    if not state.pasts:
        return
    past = state.pasts[-1]
    with st.container(horizontal=True, vertical_alignment="center", key="going_back"):
        st.markdown(
            f":material/undo: Set aside, as {plain(past.why)}: **{plain(past.words, 120)}**"
        )
        st.button(
            "Undo: go back",
            key="go_back",
            on_click=state.go_back,
            help="Data, rules, run and models as they were. What is there now is set aside.",
        )
        st.button(
            "Let go",
            key="let_go",
            type="tertiary",
            on_click=state.let_go,
            help="Forget what was set aside.",
        )
