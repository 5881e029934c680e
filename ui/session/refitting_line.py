"""How far the models of a reopened session are, beside every page."""

from __future__ import annotations

from typing import Final

import streamlit as st

from ui.state import AppState
from ui.words import plain

EVERY: Final = 1.0  # seconds between two looks
MOST_SHOWN: Final = 3


def show(state: AppState) -> None:
    """A line and a button while models are fitted again; looking at them keeps the job alive."""
    refitting = state.refitting
    if refitting is None:
        return
    drawn = refitting.job.is_active

    def look() -> None:
        refitting.job.seen()
        state.take_refitted()
        if drawn and not refitting.job.is_active:
            st.rerun()
        _line(state)

    st.fragment(look, run_every=EVERY if drawn else None)()


def _line(state: AppState) -> None:
    refitting = state.refitting
    if refitting is None:
        return
    left, total = len(refitting.fits.left), refitting.total
    for name, why in list(refitting.fits.failed.items())[:MOST_SHOWN]:
        st.caption(f"{plain(name)} could not be fitted again: {plain(why, 300)}")
    if not left:
        return
    st.caption(f"Models of the session: {total - left} of {total} fitted again")
    if refitting.job.is_active:
        text = "Go on later; models not fitted yet stay in the session."
        st.button("Stop fitting", key="refit_stop", on_click=refitting.job.stop, help=text)
    else:
        if refitting.job.error:
            st.caption(plain(refitting.job.error, 300))
        text = "Fit the models that are left."
        if st.button("Fit the others", key="refit_go_on", on_click=refitting.go_on, help=text):
            st.rerun()
