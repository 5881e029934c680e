"""The Data page: choose data, the column to predict and the blocks; look at the features."""

from __future__ import annotations

import streamlit as st

from ui import page_frame, tour
from ui.data import data_source, features, file_format_view, preparation
from ui.run import draw_controls
from ui.session import restore_prompt
from ui.state import AppState, app_state


def first_visit(state: AppState) -> None:
    """What a new user sees: what this is, what it gains, and where to begin."""
    was_here = restore_prompt.show(state)
    data_source.show_welcome(state, primary=not was_here)
    data_source.show(state)


def look_around(state: AppState) -> None:
    """The data that are there, from the whole to single features."""
    assert state.loaded is not None
    assert state.data is not None
    features.overview(state.loaded, state.data)
    file_format_view.show(state, state.loaded)
    asked = state.pending is not None or tour.at() == tour.OWN
    key = f"load_other_{state.arrivals}"  # folded again as soon as other data are there
    with st.expander("Load other data", asked, key=key, icon=":material/folder_open:"):
        data_source.show(state)
    st.subheader("Roles of columns", anchor=False)
    preparation.show_column_roles(state)
    st.subheader("Preparation", anchor=False)
    preparation.show(state)
    st.subheader("Blocks", anchor=False)
    features.show_blocks(state)
    st.subheader("Features", anchor=False)
    features.table(state.loaded, state.data)
    with st.container(horizontal=True):
        st.page_link("pages/rules.py", label="Next: write rules", icon=":material/arrow_forward:")
        st.page_link("pages/run.py", label="Or fit a model at once", icon=":material/play_arrow:")


state = app_state()
draw_controls.take_link(state)
st.title("Data" if state.data is not None else "HIPAD Workbench", anchor=False)
problem = st.container()  # stands above, is filled when all is known
if state.data is None:
    first_visit(state)
else:
    look_around(state)
with problem:
    page_frame.show_problem(state)
