"""The Rules page: write what you know, as text or in a form, and see at once what it does."""

from __future__ import annotations

from itertools import count as count_from
from typing import Final

import streamlit as st

from hipad.evaluation.rule_study import Study
from hipad.exceptions import HipadError
from hipad.utils import count
from ui.data import preparation
from ui.dataset import Dataset
from ui.jobs import BackgroundJob
from ui.page_frame import need_data
from ui.rules import checks, form_view, matrix_view, rule_editor, rule_table, text_view
from ui.rules.checks import checked_rules, checking
from ui.state import AppState, app_state
from ui.text import plain

PATIENCE: Final = 0.4  # seconds in which most checks are done: the page waits so long for them
EVERY: Final = 0.5  # seconds between two looks at one that takes longer


def follow(job: BackgroundJob[Study], drawn: Study) -> None:
    """Look in on a check that is at work, and draw the page anew when it has more to say.

    Not while the page is being drawn: asking to draw it anew would take the place of a visitor's
    wish to leave it.
    """
    looks = count_from(0)

    def look() -> None:
        job.seen()
        is_better = job.outcome is not None and job.outcome is not drawn
        if next(looks) and not drawn.is_final and (not job.is_active or is_better):
            st.rerun()

    st.fragment(look, run_every=None if drawn.is_final else EVERY)()


def edit(state: AppState, data: Dataset) -> None:
    """The two views of the same rules."""
    with st.container(horizontal=True, vertical_alignment="center"):
        view = st.segmented_control(
            "View",
            ["Text", "Form"],
            default="Text",
            required=True,
            key="rules_view",
            label_visibility="collapsed",
            help="The same rules as text, or one at a time in a form.",
        )
        if view != "Form":
            rule_editor.switch(state)
    job = checking(state)
    try:
        checked = checked_rules(state, PATIENCE)
    except HipadError as error:
        text_view.show(state, data)
        st.error(f"The rules could not be checked: {plain(error, 400)}", icon=":material/error:")
        return
    follow(job, drawn=checked)
    if view == "Form":
        form_view.show(state, data, checked)
    else:
        text_view.show(state, data, checked)
    is_brief = view != "Form" and not rule_editor.is_plain(state)
    text_view.errors(state, checked, brief=is_brief)
    preparation.beside_rules(state, checked.errors)
    if not checked.checks:
        if not checked.is_final and checked.rules:
            st.caption(f"Checking {count(len(checked.rules), 'rule')} on the data ...")
        elif not checked.errors:
            st.info(
                "No rule yet. Write one above (try the first example), or choose **Form**.",
                icon=":material/edit_note:",
            )
        return
    rule_table.show(state, checked, data)
    st.caption(rule_table.words(checked, data.line_word(1)))
    left, right = st.columns(2, gap="large")
    with left:
        checks.show_findings(state, checked, data)
        checks.suggestions(state, checked)
    with right:
        matrix_view.show(state, checked, data)
        checks.overlaps(checked, data)
    st.page_link("pages/run.py", label="Next: fit the model", icon=":material/arrow_forward:")


state = app_state()
st.title("Rules", anchor=False)
if need_data(state):
    assert state.data is not None
    text_view.show_toolbar(state)
    edit(state, state.data)
