"""The Report page: data, rules, model and figures in one file to hand on."""

from __future__ import annotations

import streamlit as st

from ui.page_frame import need_data
from ui.report import report_view
from ui.state import app_state

state = app_state()
st.title("Report", anchor=False)
if need_data(state):
    report_view.show(state)
