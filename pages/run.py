"""The Run page: press Run and watch; then the result, explained."""

from __future__ import annotations

import streamlit as st

from ui.needs import need_data
from ui.run import controls, live, outcome, steering
from ui.state import app_state

state = app_state()
st.title("Run", anchor=False)
if need_data(state):
    controls.show(state)
    steering.show(state)
    outcome.show(state)
    live.show(state)
