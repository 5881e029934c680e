"""Run, pause, stop, continue, and how fast."""

from __future__ import annotations

from typing import Final

import streamlit as st

from hipad.exceptions import RuleError
from hipad.utils import count
from ui.jobs import JobStatus
from ui.rules.checking import broken_rules
from ui.rules.editor.rule_editor import LINE
from ui.run import duel
from ui.state import AppState
from ui.words import plain

FULL: Final = "full speed"
SPEEDS: Final = {
    "0.2": 0.2,
    "1": 1.0,
    "2": 2.0,
    "5": 5.0,
    "10": 10.0,
    "20": 20.0,
    "50": 50.0,
    FULL: None,
}


def show(state: AppState) -> None:
    """Draw the buttons that can be pressed now, and do what they say."""
    job = state.job
    if job is None or not job.is_active:
        _start(state)
    if job is not None and job.status is JobStatus.RUNNING:
        _button("Pause", ":material/pause:", state, "pause", "Hold the run after this step.")
    if job is not None and job.status in (JobStatus.PAUSED, JobStatus.STOPPED):
        _button("Continue", ":material/resume:", state, "go_on", "Go on from where the run was.")
    if job is not None and job.is_active:
        text = "End the run; the model so far can be looked at, and continued."
        _button("Stop", ":material/stop:", state, "stop", text)


def _start(state: AppState) -> None:
    if st.button(
        "Run" if state.job is None else "Run again",
        type="primary",
        icon=":material/play_arrow:",
        help="Train with the data, rules and settings as they are now.",
        key="run",
    ):
        duel.leave_other(state)
        state.launch(speed=SPEEDS[state.speed])
        st.rerun()
    if st.button(
        "With and without rules",
        icon=":material/compare:",
        disabled=not state.rules.text.strip(),
        help="Run twice, with the rules and without them, and watch both side by side.",
        key="run_both",
    ):
        duel.launch_both(state, speed=SPEEDS[state.speed])
        st.rerun()


def speed(state: AppState) -> None:
    """How fast the run itself goes; a replay has a speed of its own."""
    state.speed = st.select_slider(
        "Speed of the run (steps per second)",
        list(SPEEDS),
        value=state.speed,
        key="speed",
        help="As fast as it goes, or slow enough to be paused on the way. A run that is done can "
        "be replayed at any pace.",
    )
    if state.job is not None:
        state.job.speed = SPEEDS[state.speed]


def _button(label: str, icon: str, state: AppState, what: str, text: str) -> None:
    if st.button(label, icon=icon, help=text, key=f"run_{what}"):
        job = state.job
        assert job is not None
        getattr(job, what)()
        job.wait(0.2)
        st.rerun()


def words(state: AppState) -> None:
    """What will be run, or why the last run ended as it did."""
    job = state.job
    broken = broken_rules(state)
    if broken:
        _broken(broken)
    if job is None:
        if not broken:
            st.caption(ready(state))
    elif job.status is JobStatus.FAILED:
        if not broken:
            st.error(f"The run could not be done: {plain(job.error, 600)}", icon=":material/error:")
    elif job.status is JobStatus.WAITING:
        st.info("Other runs are under way on this computer. This one starts when a place is free.")
    elif job.status is JobStatus.STOPPED:
        why = f" because {job.reason}" if job.reason else ""
        st.warning(
            f"Stopped before the end{why}. What is shown below is not final; **Continue** goes on.",
            icon=":material/pause_circle:",
        )
    elif state.model is not None and not job.is_active and not state.request().made(state.model):
        st.info(
            "Rules, blocks or settings have changed since this run: **Run again** to see what "
            "they do.",
            icon=":material/update:",
        )


def _broken(errors: tuple[RuleError, ...]) -> None:
    """The first broken rule in words, and the way to its line."""
    first, more = errors[0], len(errors) - 1
    others = f" And {count(more, 'more mistake')}." if more else ""
    st.error(
        f"The rules cannot be used as they are: {plain(first, 600)}{others}",
        icon=":material/error:",
    )
    where = f"line {first.line}" if first.line else "the rules"
    line = {LINE: str(first.line)} if first.line else None
    st.page_link(
        "pages/rules.py", label=f"Go to {where}", icon=":material/rule:", query_params=line
    )


def ready(state: AppState) -> str:
    """What the next run learns from."""
    asked = state.request()
    features = count(asked.data.n_features, "feature")
    return (
        f"Ready: {asked.data.whom('train')} with {features} and "
        f"{count(len(asked.rule_names()), 'rule')} to learn from. Press **Run**."
    )
