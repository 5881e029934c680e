"""The Rules page: write what you know, as text or in a form, and see at once what it does."""

from __future__ import annotations

import streamlit as st

from workbench.dataset import Dataset
from workbench.parts import (
    rules_findings,
    rules_form,
    rules_picture,
    rules_table,
    rules_text,
    rules_toolbar,
)
from workbench.parts.empty import need_data
from workbench.parts.rules_checking import checked_rules
from workbench.state import AppState, app_state


def edit(state: AppState, data: Dataset) -> None:
    """The two views of the same rules."""
    view = st.segmented_control(
        "View",
        ["Text", "Form"],
        default="Text",
        required=True,
        key="rules_view",
        label_visibility="collapsed",
        help="The same rules as text, or one at a time in fields.",
    )
    checked = checked_rules(state)
    if view == "Form":
        rules_form.show(state, data, checked)
    else:
        rules_text.show(state, data)
    rules_text.errors(checked, state.rules.text)
    if not checked.checks:
        if not checked.errors:
            st.info(
                "No rule yet. Write one above, such as the first example, or choose **Form**.",
                icon=":material/edit_note:",
            )
        return
    rules_table.show(state, checked)
    st.caption(rules_table.words(checked))
    left, right = st.columns(2, gap="large")
    with left:
        rules_findings.show(state, checked, data)
        rules_findings.suggestions(state, checked)
    with right:
        rules_picture.show(state, checked, data)
        rules_findings.overlaps(checked, data)
    st.page_link("pages/run.py", label="Next: run", icon=":material/arrow_forward:")


state = app_state()
st.title("Rules", anchor=False)
if need_data(state):
    assert state.data is not None
    rules_toolbar.show(state)
    edit(state, state.data)
