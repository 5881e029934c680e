"""The Run page: press Run and watch; the result first, and how it was found beside it."""

from __future__ import annotations

import streamlit as st

from ui import feature_sheet
from ui.data import preparation
from ui.experiments import experiment_panel, learning_curve_view
from ui.page_frame import need_data, need_rules
from ui.run import (
    all_classes,
    draw_controls,
    lie_detector,
    result,
    run_controls,
    run_settings,
    run_view,
)
from ui.state import app_state

state = app_state()
draw_controls.take_link(state)
asked = feature_sheet.taken(state)
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
        run_settings.show(state)
    with buttons:
        all_classes.steer(state)
    all_classes.show(state)
elif has_data:
    with place, st.popover("Settings", icon=":material/tune:"):
        run_controls.speed(state)
        run_settings.show(state)
    with buttons:
        run_controls.show(state)
        lie_detector.show(state)
        draw_controls.dice(state)
    with choice:
        chosen = run_view.choose(state)
    with st.container():  # always there: the player below keeps its place, and with it its screen
        draw_controls.show(state)
        preparation.before_run(state)
        run_controls.words(state)
        lie_detector.alarm(state)
        result.headline(state)
    if chosen == run_view.WORTH:
        if need_rules(state):
            learning_curve_view.show(state, experiment_panel.everybody(state), begins=True)
    else:
        run_view.watch(state, chosen, lambda: run_view.show(state, chosen))
    result.details(state)
    if state.data is not None:
        opened = feature_sheet.taken(state) if asked is None else asked
        feature_sheet.show(state.data, state.model, state.rules.text, opened)
