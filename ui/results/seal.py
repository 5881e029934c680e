"""The sealed test set: opened by one deliberate act, every opening counted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import streamlit as st

from hipad.evaluation.cross_validation import SealedTest, data_digest
from ui.state import AppState
from ui.text import plain

REASON: Final = (
    "A test set gives an honest figure once. Whoever looks at it and then goes on tuning chooses "
    "what happens to fit it, and the figure becomes too good. Until you open it, every "
    "figure here comes from training data by cross-validation that repeats the whole fit."
)


def seal_of(state: AppState) -> SealedTest | None:
    """Return the seal of the present test rows; None where there are none."""
    data = state.data
    if data is None or data.y_test is None or not len(data.y_test):
        return None
    X, y = data.X_test, data.y_test
    digest: str = state.remember("test_digest", (id(X), id(y)), lambda: data_digest(X, y))
    is_sample = state.loaded is not None and bool(state.loaded.sample)
    return state.seals.get(digest) or SealedTest(digest, demonstration=is_sample)


def is_open(state: AppState) -> bool:
    """Whether figures of the present model on the test rows may be shown.

    An opening is for the version of rules and settings that it was made for: whoever edits on is
    shown cross-validated figures again, until the next opening, which is counted too.
    """
    seal = seal_of(state)
    if seal is None:
        return False
    openings = [opening.edits for opening in seal.openings]
    return seal.demonstration or state.edits in openings


def show(state: AppState) -> None:
    """Say whether the test set is sealed, and offer to open it."""
    seal = seal_of(state)
    if seal is None:
        st.caption(
            "There is no test set: every figure comes from training data by cross-validation."
        )
        return
    if seal.demonstration:
        st.caption(":material/lock_open: Test set: open from the start, as a demonstration.")
        return
    text = plain(seal.words, 200)
    if is_open(state):
        st.caption(f":material/lock_open: Test set: {text}. {_reasons(seal)}")
        return
    if seal.openings:
        st.caption(
            f":material/lock: Test set: {text}. {_reasons(seal)} The present version has not been "
            "judged by it: the figures here come from training data by cross-validation."
        )
    else:
        st.caption(f":material/lock: The test set is sealed here. {REASON}")
    label = "Judge this version too" if seal.openings else "Open the test set"
    if st.button(label, icon=":material/lock_open:", key="results_open"):
        _confirm(state, seal)


def _reasons(seal: SealedTest) -> str:
    """Why it was opened, the last time."""
    reason = plain(seal.openings[-1].reason, 200)
    return f"Reason{' of the last opening' if len(seal.openings) > 1 else ''}: {reason}."


def open_for(state: AppState, reason: str) -> None:
    """Open the test set for the present version of rules and settings; this is counted."""
    seal = seal_of(state)
    assert seal is not None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    state.add_seals([seal.opened(reason.strip() or "no reason given", state.edits, now)])


@st.dialog("Open the test set?")
def _confirm(state: AppState, seal: SealedTest) -> None:
    st.markdown(REASON)
    st.markdown(
        "Each opening is counted and stands in every export. So far: "
        f"{plain(seal.words, 200) if seal.openings else 'never opened'}; rules or settings were "
        f"edited {state.edits:,} times."
    )
    why = st.text_input("Why now?", key="results_why", placeholder="the rules are final")
    if st.button("Open it", type="primary", key="results_confirm"):
        open_for(state, why)
        st.rerun()
