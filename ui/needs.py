"""Empty states: what to do when a page has nothing to show yet."""

from __future__ import annotations

import streamlit as st

from hipad.rules import read_rules
from ui.session import offering
from ui.state import AppState
from ui.words import plain


def need_data(state: AppState) -> bool:
    """True when there are data; otherwise say where to get some."""
    if state.data is not None:
        return True
    st.info(
        "No data yet. Go to **Data** and click a sample, or upload a table.",
        icon=":material/table_chart:",
    )
    offering.show(state)
    st.page_link("pages/data.py", label="Go to Data", icon=":material/arrow_forward:")
    return False


def need_rules(state: AppState) -> bool:
    """True when there is a rule; otherwise say where to write one."""
    if read_rules(state.rules.text).rules:
        return True
    st.info("No rule yet. Write what you know on the **Rules** page.", icon=":material/edit_note:")
    st.page_link("pages/rules.py", label="Go to Rules", icon=":material/arrow_forward:")
    return False


def problem(state: AppState) -> None:
    """Why the last thing the user asked for could not be done, and what else there is to know."""
    if state.awaiting is not None:
        st.info(
            f"The session was made with {plain(state.awaiting.data_name)}. Upload this file again "
            "to take it up: data are not part of a session file.",
            icon=":material/upload_file:",
        )
    if state.notice:
        st.info(plain(state.notice, 300))
        state.notice = ""
    if not state.error:
        return
    stays = " What was there before is still there." if state.data is not None else ""
    st.error(plain(state.error, 1_000) + stays, icon=":material/error:")
