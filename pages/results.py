"""The Results page: how good the model is on rows it has not seen, and with which cut-off."""

from __future__ import annotations

import streamlit as st

from ui.page_frame import need_data
from ui.results import results_view
from ui.state import app_state

state = app_state()
st.title("Results", anchor=False)
if need_data(state):
    results_view.show(state)
