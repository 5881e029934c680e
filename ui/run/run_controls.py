"""Run, pause, stop, continue, and how fast."""

from __future__ import annotations

from typing import Final

import streamlit as st

from hipad.exceptions import RuleError
from hipad.utils import count
from ui.jobs import BackgroundJob, JobStatus
from ui.rules.checks import broken_rules
from ui.rules.rule_editor import LINE
from ui.state import AppState
from ui.text import plain

STEP_SECONDS: Final = 0.2  # for a button to show what it did
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


START: Final = {
    "run": ("Run", ":material/play_arrow:", "Train with the data, rules and settings as they are."),
}
STEER: Final = {
    "pause": ("Pause", ":material/pause:", "Hold the run after this step."),
    "go_on": ("Continue", ":material/resume:", "Go on from where the run was."),
    "stop": (
        "Stop",
        ":material/stop:",
        "End the run; the model so far can be looked at, and continued.",
    ),
}
KEYS: Final = {"run": "R", "pause": "space", "go_on": "space", "stop": "S"}


def possible(state: AppState) -> list[str]:
    """Return the names of the buttons that can be pressed now."""
    job = state.job
    if job is None or not job.is_active:
        stopped = job is not None and job.status is JobStatus.STOPPED
        return ["run", "go_on"] if stopped else ["run"]
    pause = {JobStatus.RUNNING: ["pause"], JobStatus.PAUSED: ["go_on"]}.get(job.status, [])
    return [*pause, "stop"]


def actions(state: AppState) -> list[tuple[str, str]]:
    """Return what a presenter can do, with the words on the buttons."""
    buttons = START | STEER
    return [(name, f"{buttons[name][0]} ({KEYS[name]})") for name in possible(state)]


def begin(state: AppState) -> None:
    """Start a run with what is asked for now."""
    state.launch(speed=SPEEDS[state.speed])


def act(state: AppState, what: str) -> None:
    """Press a button."""
    if what == "run":
        begin(state)
        return
    job = state.job
    if job is not None and what in STEER:
        getattr(job, what)()
        BackgroundJob.wait(job, STEP_SECONDS)


def show(state: AppState) -> None:
    """Draw the buttons that can be pressed now, and do what they say."""
    for name in possible(state):
        label, icon, text = (START | STEER)[name]
        again = name == "run" and state.job is not None
        if st.button(
            "Run again" if again else label,
            type="primary" if name == "run" else "secondary",
            icon=icon,
            help=text,
            key="run" if name == "run" else f"run_{name}",
        ):
            act(state, name)
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
