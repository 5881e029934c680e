"""The sealed test set: opened by one deliberate act, every opening counted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import streamlit as st

from hipad.evaluation.sealed_test import SealedTest, data_digest
from ui.state import AppState
from ui.text import plain

REASON: Final = (
    "A test set gives an honest figure once. Whoever looks at it and then goes on tuning chooses "
    "what happens to fit these rows, and the figure becomes too good. Until you open it, every "
    "figure here comes from training rows by cross-validation that repeats the whole fit."
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
    """Whether figures on the test rows may be shown."""
    seal = seal_of(state)
    return seal is not None and seal.is_open


def show(state: AppState) -> None:
    """Say whether the test set is sealed, and offer to open it."""
    seal = seal_of(state)
    if seal is None:
        st.caption(
            "There is no test set: every figure comes from training rows by cross-validation."
        )
        return
    if seal.is_open:
        st.caption(f":material/lock_open: Test set: {plain(seal.words, 200)}.")
        if seal.demonstration:
            return
    else:
        st.caption(f":material/lock: The test set is sealed. {REASON}")
    label = "Judge the present model on it again" if seal.is_open else "Open the test set"
    if st.button(label, icon=":material/lock_open:", key="results_open"):
        _confirm(state, seal)


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
        now = datetime.now(UTC).isoformat(timespec="seconds")
        opened = seal.opened(why.strip() or "no reason given", state.edits, now)
        state.add_seals([opened])
        st.rerun()
