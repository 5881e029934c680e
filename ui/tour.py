"""A guided tour for talks: eight scenes of the live app, by the right arrow alone.

`?tour` in the address begins it. A scene is a page and what has to be there before it is shown; a
strip at the top of every page says what to see. *Reset for the next talk* begins with new work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st

from ui.data.loading import LoadingJob
from ui.data.samples import CARDS
from ui.experiments import learning_curve_view
from ui.run import lie_detector
from ui.state import KEY, AppState

SAMPLE: Final = "all-bcrabl"
SCENE, LEAVES = "tour scene", "tour page"  # in the session: the scene, and the page to go to
KEYS: Final = st.components.v2.component(
    "hipad_tour", js=(Path(__file__).parent / "assets" / "tour.js").read_text("utf-8")
)


def _load(state: AppState) -> None:
    """Have the sample, as it comes."""
    is_there = state.loaded is not None and state.loaded.sample == SAMPLE
    if state.loading is None and not is_there:
        card = next(card for card in CARDS if card.key == SAMPLE)
        state.begin_load(LoadingJob(card.title, card.load))


def _fit(state: AppState) -> None:
    """Have a run of the rules as they were written, or one under way."""
    if state.data is None:
        return
    if lie_detector.flipped(state) is not None:
        lie_detector.heal(state)
        return
    job = state.job
    if job is None or job.request.rules != state.rules.text or job.was_stopped:
        state.launch()


def _read(state: AppState) -> None:
    """Have the sample, and begin to find what its rules are worth: it is told some scenes later."""
    _load(state)
    if state.data is not None:
        learning_curve_view.begin(state)


def _flip(state: AppState) -> None:
    """Turn the first rule into its opposite, and run."""
    if state.data is None or lie_detector.flipped(state) is not None:
        return
    if lie_detector.rules_of(state):
        lie_detector.flip(state, 0)


@dataclass(frozen=True)
class Scene:
    """One page of the tour: what to say, and what has to be there."""

    title: str
    words: str
    page: str
    enter: Callable[[AppState], None]


SCENES: Final = (
    Scene(
        "The problem",
        "15 leukaemia patients to learn from, 12,625 gene probes. Which leukaemias carry the "
        "BCR/ABL fusion gene? With so few patients, chance finds many wrong genes.",
        "pages/data.py",
        _load,
    ),
    Scene(
        "What an expert knows",
        "ABL1 is one half of the fusion gene. Two lines say so: three of its probes are high in "
        "BCR/ABL and low otherwise.",
        "pages/rules.py",
        _read,
    ),
    Scene(
        "The run",
        "Hundreds of features melt to a few. The green line counts right answers for 64 patients "
        "that the model has not seen.",
        "pages/run.py",
        _fit,
    ),
    Scene(
        "Without the rules",
        "The same patients on the same clock, with the rules on the left and without them on the "
        "right. Compare the right answers at the end.",
        "pages/run.py",
        _fit,
    ),
    Scene(
        "A wrong rule",
        "Now the first rule says the opposite. Right answers fall, and the app names the culprit "
        "by itself. Press H to heal the rule.",
        "pages/run.py",
        _flip,
    ),
    Scene(
        "What the rules are worth",
        "How many more labelled patients would do as much as the two rules? The answer grows more "
        "certain with every repeat.",
        "pages/experiments.py",
        _fit,
    ),
    Scene(
        "One patient",
        "Why does this patient get this answer? Every feature adds its part, and the sum is the "
        "score.",
        "pages/patients.py",
        _fit,
    ),
    Scene(
        "Your own data",
        "A table with one row per patient is all it takes. It stays on this computer.",
        "pages/data.py",
        _load,
    ),
)
RUN, APART, WRONG, WORTH, PATIENT, OWN = 2, 3, 4, 5, 6, 7


def at() -> int | None:
    """Return the scene that is shown; None where there is no tour."""
    found: int | None = st.session_state.get(SCENE)
    return found


def go(state: AppState, scene: int) -> None:
    """Show another scene."""
    scene = min(max(scene, 0), len(SCENES) - 1)
    SCENES[scene].enter(state)
    st.session_state[SCENE] = scene
    st.session_state[LEAVES] = SCENES[scene].page


def leave() -> None:
    """End the tour, and keep what it made."""
    st.session_state.pop(SCENE, None)
    st.query_params.clear()


def reset(state: AppState) -> None:
    """Put everything away, and begin at the first scene."""
    state.stop_work()
    # widgets must not take up what they showed before
    st.session_state[KEY] = AppState(arrivals=state.arrivals + 1, version=state.version + 1)
    go(st.session_state[KEY], 0)


def begin(state: AppState) -> None:
    """Begin the tour where the address asks for it, and go to the page of a new scene."""
    if "tour" in st.query_params and at() is None:
        go(state, 0)
    page = st.session_state.pop(LEAVES, None)
    if page is not None:
        st.switch_page(page)


def show(state: AppState) -> None:
    """Draw the strip with the scene, its words and the way on; nothing without a tour."""
    scene = at()
    if scene is None:
        return
    shown = SCENES[scene]
    for work in state.lab.at.values():  # it goes on behind the other scenes
        work.job.seen()

    def pressed() -> None:
        go(state, scene + (1 if st.session_state["tour_keys"].get("step", "on") == "on" else -1))

    last = scene + 1 == len(SCENES)
    with st.container(key="tour_strip", gap=None):
        words, buttons = st.columns([5, 4], vertical_alignment="center")
        words.markdown(f"**{scene + 1} of {len(SCENES)}: {shown.title}.** {shown.words}")
        with buttons.container(horizontal=True, horizontal_alignment="right", gap="small"):
            st.button("Back (←)", key="tour_back", disabled=not scene, on_click=go,
                      args=(state, scene - 1))  # fmt: skip
            st.button("Next (→)", key="tour_next", type="primary", disabled=last, on_click=go,
                      args=(state, scene + 1))  # fmt: skip
            st.button("Reset for the next talk", key="tour_reset", icon=":material/restart_alt:",
                      on_click=reset, args=(state,),
                      help="Puts all work away and begins at the first scene.")  # fmt: skip
            st.button("", key="tour_leave", type="tertiary", icon=":material/close:",
                      on_click=leave, help="Leave the tour.")  # fmt: skip
        KEYS(key="tour_keys", data={"scene": scene}, on_step_change=pressed)
