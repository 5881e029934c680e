"""The Run page: press Run and watch; then the result, explained."""

from __future__ import annotations

import streamlit as st

from ui.data import preparation
from ui.page_frame import need_data
from ui.run import all_classes, controls, live, outcome, steering
from ui.state import app_state

state = app_state()
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    st.title("Run", anchor=False, width="content")
    buttons = st.container(
        horizontal=True, vertical_alignment="center", gap="small", width="content"
    )
    place = st.container(width="content")
    choice = st.container(width="content")
has_data = need_data(state)
if has_data and state.data is not None and state.data.every_label is not None:
    with place, st.popover("Settings", icon=":material/tune:"):
        controls.show(state)
    with buttons:
        all_classes.steer(state)
    all_classes.show(state)
elif has_data:
    with place, st.popover("Settings", icon=":material/tune:"):
        steering.speed(state)
        controls.show(state)
    with buttons:
        steering.show(state)
    with choice:
        chosen = live.choose(state)
    preparation.before_run(state)
    steering.words(state)
    outcome.alarm(state)
    live.show(state, chosen)
    outcome.show(state)
