"""The Patients page: each patient's answer and why, and answers for patients of another file."""

from __future__ import annotations

import streamlit as st

from ui.page_frame import need_data
from ui.patients import patients_view
from ui.state import app_state

state = app_state()
st.title("Patients", anchor=False)
if need_data(state):
    patients_view.show(state)
