"""The Rules page."""

from __future__ import annotations

import streamlit as st

from workbench.parts.empty import need_data
from workbench.state import app_state

st.title("Rules")
state = app_state()
if need_data(state):
    st.info("This page is not there yet.", icon=":material/construction:")
