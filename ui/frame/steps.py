"""The way through the app in one line, on every page: what is done, and what comes next."""

from __future__ import annotations

from typing import Final

import streamlit as st

from hipad.rules import read_rules
from ui.frame import glossary
from ui.rules.checking import broken_rules
from ui.state import AppState

PAGES: Final = {
    "Data": "pages/data.py",
    "Rules": "pages/rules.py",
    "Run": "pages/run.py",
    "Workbench": "pages/workbench.py",
}


def show(state: AppState, here: str) -> None:
    """The four pages with marks, and a sentence for what is missing."""
    done = done_steps(state)
    with st.container(horizontal=True, vertical_alignment="center", key="steps", gap="small"):
        for number, (name, path) in enumerate(PAGES.items(), start=1):
            mark = "check_circle" if name in done else "radio_button_unchecked"
            st.page_link(
                path,
                label=f"**{number} {name}**" if name == here else f"{number} {name}",
                icon=f":material/{mark}:",
                help="Done" if name in done else "Not done yet",
            )
        glossary.show()
        st.caption(next_step(state))


def done_steps(state: AppState) -> set[str]:
    """The steps that have something to show."""
    done = {"Data"} if state.data is not None else set()
    done |= {"Rules"} if done and state.rules.text.strip() and not broken(state) else set()
    done |= {"Run"} if state.model is not None else set()
    return done | ({"Workbench"} if state.models else set())


def next_step(state: AppState) -> str:
    """What to do next, in a sentence."""
    job = state.job
    if state.data is None:
        return "Next: choose data, a sample or a file of your own."
    if broken(state):
        return "Next: mend the rules; a line of them cannot be used."
    if job is not None and job.is_active:
        return "The run is under way."
    if state.model is None:
        known = state.rules.text.strip()
        return "Next: run." if known else "Next: write what you know as a rule, or run without."
    if not state.request().made(state.model):
        return "Next: run again; rules or settings have changed since."
    if not state.models:
        return "Next: keep this model, and move its thresholds in the Workbench."
    return "Everything is there: compare, tune, take the model away."


def broken(state: AppState) -> bool:
    """Whether a line of the rules cannot be used."""
    if state.data is not None:
        return bool(broken_rules(state))
    text = state.rules.text
    return state.remember("rules read", text, lambda: bool(read_rules(text).errors))
